package cpu

import (
	"slices"
	"sync"

	"dtl/core/backend"
	"dtl/core/memory"
)

// matching matches what was sent to one rank with what it receives, both in order, as MPI's rules demand.
type matching struct {
	mu      sync.Mutex
	changed sync.Cond  // a message arrived or a receive completed
	arrived []message  // not received yet
	posted  []*request // receives under way; none matches a message in arrived
}

// message is a copy of what was sent.
type message struct {
	source, tag int
	data        []byte
}

func (m message) matches(source, tag int) bool {
	return (source == backend.AnySource || source == m.source) && (tag == backend.AnyTag || tag == m.tag)
}

func (m message) status() backend.Status {
	return backend.Status{Source: m.source, Tag: m.tag, Bytes: len(m.data)}
}

// deliver completes the first receive that waits for what data holds, or keeps a copy for a later one.
func (in *matching) deliver(data []byte, source, tag int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	m := message{source: source, tag: tag, data: data}
	waits := func(r *request) bool { return m.matches(r.source, r.tag) }
	if i := slices.IndexFunc(in.posted, waits); i >= 0 {
		in.posted[i].complete(m)
		in.posted = slices.Delete(in.posted, i, i+1)
	} else {
		m.data = slices.Clone(data)
		in.arrived = append(in.arrived, m)
	}
	in.changed.Broadcast()
}

// post starts a receive, which is complete at once if its message is there.
func (in *matching) post(buf memory.Span, source, tag int, alone bool) *request {
	in.mu.Lock()
	defer in.mu.Unlock()
	r := &request{in: in, buf: buf, source: source, tag: tag, alone: alone}
	if i := in.find(source, tag); i >= 0 {
		r.complete(in.arrived[i])
		in.arrived = slices.Delete(in.arrived, i, i+1)
	} else {
		in.posted = append(in.posted, r)
	}
	return r
}

// find returns the place of the first message that matches, or -1. The caller holds the lock.
func (in *matching) find(source, tag int) int {
	return slices.IndexFunc(in.arrived, func(m message) bool { return m.matches(source, tag) })
}

// try completes a receive whose message is there, and reports whether it is.
func (in *matching) try(r *request) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	i := in.find(r.source, r.tag)
	if i < 0 {
		return false
	}
	r.complete(in.arrived[i])
	in.arrived = slices.Delete(in.arrived, i, i+1)
	return true
}

// withdraw takes a receive back. The caller holds the lock.
func (in *matching) withdraw(r *request) {
	in.posted = slices.DeleteFunc(in.posted, func(p *request) bool { return p == r })
}
