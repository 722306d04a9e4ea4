package cpu

import (
	"time"

	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/status"
)

// request is a receive; a send is complete when it starts.
type request struct {
	in          *matching
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
	for !r.ended() {
		r.in.changed.Wait()
	}
	return r.status, r.err
}

// WaitFor is Wait that gives up after d.
func (r *request) WaitFor(d time.Duration) (backend.Status, bool, error) {
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	if r.ended() {
		return r.status, true, r.err
	}
	late := false
	defer time.AfterFunc(d, func() {
		r.in.mu.Lock()
		defer r.in.mu.Unlock()
		late = true
		r.in.changed.Broadcast()
	}).Stop()
	for !r.ended() && !late {
		r.in.changed.Wait()
	}
	return r.status, r.done, r.err
}

// ended reports whether there is nothing to wait for any more. The caller holds the lock.
func (r *request) ended() bool {
	if !r.done && r.alone {
		r.done, r.err = true, nobodySends(r.source, r.tag)
		r.in.withdraw(r)
	}
	return r.done
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

// Cancel takes the receive back if it waits.
func (r *request) Cancel() error {
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	if !r.done {
		r.done, r.status = true, backend.Status{Source: r.source, Tag: r.tag, Cancelled: true}
		r.in.withdraw(r)
	}
	return nil
}

// nobodySends is the error of waiting on a communicator of one rank.
func nobodySends(source, tag int) error {
	return status.New(status.Communication,
		"no message from rank %s with tag %s is pending, and this communicator has one rank: waiting would never end",
		wildcard(source, backend.AnySource), wildcard(tag, backend.AnyTag))
}
