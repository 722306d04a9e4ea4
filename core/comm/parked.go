package comm

import (
	"slices"
	"sync"
	"sync/atomic"

	"dtl/core/backend"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// Want is what a receiver states of the message: its type, unless Invalid, its number of elements, unless zero, and
// whether it is an object.
type Want struct {
	Type   dtype.Type
	Count  int64
	Object bool
}

// check says whether the message that h describes is what was stated.
func (w Want) check(h wire.Header, out *Array) error {
	if err := w.checkKind(h); err != nil {
		return err
	}
	if out != nil {
		if err := h.Fits(out.Span); err != nil {
			return err
		}
	}
	if w.Type.Valid() && w.Type != h.Type {
		return status.New(status.InvalidArgument, "dtype %s was asked for, but the message has %d elements of %s",
			w.Type, h.Count(), h.Type)
	}
	if w.Count != 0 && w.Count != int64(h.Count()) {
		return status.New(status.InvalidArgument, "%d elements were asked for, but the message has %d of %s",
			w.Count, h.Count(), h.Type)
	}
	return nil
}

// envelope is what was received first: the header, and the elements unless they travel by themselves.
type envelope struct {
	buffer *memory.Storage
	status backend.Status
	order  int // among those that were parked
}

// parked keeps envelopes that a receiver refused, in the order they came, for the next that asks.
type parked struct {
	n    atomic.Int32 // so that the usual case takes no lock
	mu   sync.Mutex
	last int // the order given last
	list []envelope
}

// put parks an envelope behind those that came before it.
func (p *parked) put(m envelope) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.order == 0 {
		p.last++
		m.order = p.last
	}
	at, _ := slices.BinarySearchFunc(p.list, m, func(a, b envelope) int { return a.order - b.order })
	p.list = slices.Insert(p.list, at, m)
	p.n.Store(int32(len(p.list)))
}

// take returns the first envelope that matches, which is gone from then on.
func (p *parked) take(source, tag int) (envelope, bool) {
	if p.n.Load() == 0 {
		return envelope{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.find(source, tag)
	if i < 0 {
		return envelope{}, false
	}
	m := p.list[i]
	p.list = slices.Delete(p.list, i, i+1)
	p.n.Store(int32(len(p.list)))
	return m, true
}

// peek has look look at the first envelope that matches, and reports whether there is one.
func (p *parked) peek(source, tag int, look func(m envelope)) bool {
	if p.n.Load() == 0 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.find(source, tag)
	if i >= 0 {
		look(p.list[i])
	}
	return i >= 0
}

// find returns the place of the first envelope that matches, or -1. The caller holds the lock.
func (p *parked) find(source, tag int) int {
	return slices.IndexFunc(p.list, func(m envelope) bool {
		return (source == backend.AnySource || source == m.status.Source) && (tag == backend.AnyTag || tag == m.status.Tag)
	})
}

func (p *parked) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.list {
		m.buffer.Release()
	}
	p.list = nil
	p.n.Store(0)
}
