package cpu

import (
	"bytes"
	"sync"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/kernel"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
)

var _ backend.WindowProvider = (*Comm)(nil)

// exposure is what the ranks of one window share.
type exposure struct {
	parts   []exposed // by rank
	leaving meeting
}

// exposed is one rank's memory. What is atomic has the lock.
type exposed struct {
	mu  sync.Mutex
	mem memory.Span
}

// window is one rank's side. All of a process's memory is within reach, so each call has happened when it returns.
type window struct {
	*exposure
	rank   int
	closed bool
}

// Expose opens mem to every rank. Collective.
func (c *Comm) Expose(mem memory.Span) (backend.Window, error) {
	err := c.collective(call{signature: signature{name: "Expose"}, send: mem}, func(calls []call) error {
		if c.rank == 0 {
			calls[0].exposed = newExposure(calls)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	shared := c.group.meeting.calls[0].exposed
	c.group.meeting.barrier() // before anybody lays down the next call
	return &window{exposure: shared, rank: c.rank}, nil
}

func newExposure(calls []call) *exposure {
	e := &exposure{parts: make([]exposed, len(calls))}
	e.leaving.open(len(calls))
	for rank := range calls {
		e.parts[rank].mem = calls[rank].send
	}
	return e
}

// at returns memory of the target, as long as like and of its type.
func (w *window) at(target int, offset int64, like memory.Span) memory.Span {
	return memory.Span{Addr: unsafe.Add(w.parts[target].mem.Addr, offset), Count: like.Count, Type: like.Type}
}

// Put writes from to the target.
func (w *window) Put(from memory.Span, target int, offset int64) error {
	if from.Count > 0 {
		memory.Copy(w.at(target, offset, from), from)
	}
	return nil
}

// Get reads into from the target.
func (w *window) Get(into memory.Span, target int, offset int64) error {
	if into.Count > 0 {
		memory.Copy(into, w.at(target, offset, into))
	}
	return nil
}

// Accumulate combines the target's elements with those of from.
func (w *window) Accumulate(from memory.Span, target int, offset int64, op kernel.Op) error {
	if from.Count == 0 {
		return nil
	}
	part := &w.parts[target]
	part.mu.Lock()
	defer part.mu.Unlock()
	return reduce.Update(w.at(target, offset, from), from, op)
}

// FetchAndOp is Accumulate that gives those elements that were there.
func (w *window) FetchAndOp(from, into memory.Span, target int, offset int64, op kernel.Op) error {
	if into.Count == 0 {
		return nil
	}
	part := &w.parts[target]
	part.mu.Lock()
	defer part.mu.Unlock()
	there := w.at(target, offset, into)
	memory.Copy(into, there)
	return reduce.Update(there, from, op)
}

// CompareAndSwap writes swap's element if the target's is that of compare.
func (w *window) CompareAndSwap(compare, swap, into memory.Span, target int, offset int64) error {
	part := &w.parts[target]
	part.mu.Lock()
	defer part.mu.Unlock()
	there := w.at(target, offset, into)
	memory.Copy(into, there)
	if bytes.Equal(memory.As[byte](into.Raw()), memory.As[byte](compare.Raw())) {
		memory.Copy(there, swap)
	}
	return nil
}

// FlushLocal does nothing: all that was begun has happened.
func (w *window) FlushLocal(int) error { return nil }

// Flush does nothing: all that was begun has happened.
func (w *window) Flush(int) error { return nil }

// Sync comes after what was atomic in this rank's part.
func (w *window) Sync() error {
	part := &w.parts[w.rank]
	part.mu.Lock()
	defer part.mu.Unlock()
	return nil
}

// Close waits for the other ranks, after which nobody reaches for this one's memory. A second Close does nothing.
// Collective.
func (w *window) Close() error {
	if !w.closed {
		w.closed = true
		w.leaving.barrier()
	}
	return nil
}
