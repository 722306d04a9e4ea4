package cpu

import (
	"slices"
	"sync"

	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/status"
)

// inbox matches what was sent to one rank with what it receives, both in order, as MPI's rules demand.
type inbox struct {
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
func (in *inbox) deliver(data []byte, source, tag int) {
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
func (in *inbox) post(buf memory.Span, source, tag int, alone bool) *request {
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
func (in *inbox) find(source, tag int) int {
	return slices.IndexFunc(in.arrived, func(m message) bool { return m.matches(source, tag) })
}

// request is a receive; a send is complete when it starts.
type request struct {
	in          *inbox
	buf         memory.Span
	source, tag int
	alone       bool // no other rank exists that could still send
	done        bool
	status      backend.Status
	err         error
}

var _ backend.Request = (*request)(nil)

// complete takes the message. A message that is too long is gone, too, as in MPI. The caller holds the lock.
func (r *request) complete(m message) {
	r.done, r.status = true, m.status()
	if len(m.data) > r.buf.Bytes() {
		r.err = status.New(status.Communication, "message of %d bytes from rank %d with tag %d truncated: the buffer has %d",
			len(m.data), m.source, m.tag, r.buf.Bytes())
		return
	}
	copy(memory.As[byte](r.buf.Raw()), m.data)
}

// Wait blocks until the receive is complete. On a communicator of one rank it returns an error instead, and
// takes the receive back.
func (r *request) Wait() (backend.Status, error) {
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	for !r.done {
		if r.alone {
			r.done, r.err = true, nobodySends(r.source, r.tag)
			r.in.posted = slices.DeleteFunc(r.in.posted, func(p *request) bool { return p == r })
			break
		}
		r.in.changed.Wait()
	}
	return r.status, r.err
}

// Test reports whether the receive is complete.
func (r *request) Test() (backend.Status, bool, error) {
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	if !r.done {
		return backend.Status{}, false, nil
	}
	return r.status, true, r.err
}

// nobodySends is the error of waiting on a communicator of one rank.
func nobodySends(source, tag int) error {
	return status.New(status.Communication,
		"no message from rank %s with tag %s is pending, and this communicator has one rank: waiting would never end",
		wildcard(source, backend.AnySource), wildcard(tag, backend.AnyTag))
}
