package transport

import (
	"time"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/status"
)

// Request is a send or receive under way. The engine's lock covers what changes.
type Request struct {
	engine      *Engine
	ranks       Ranks
	buf         memory.Span
	in          *matching // where it receives; nil: it sends
	source, tag int       // a process, or backend.AnySource
	filled      int       // bytes that came
	process     int       // of a long message, who sends it, under which number, and where it lies there
	id, address uint64
	done        bool
	status      backend.Status
	err         error
}

var _ backend.Request = (*Request)(nil)

// append takes the next bytes of the message. What the buffer has no room for is lost, which is an error.
func (r *Request) append(data unsafe.Pointer, n int) {
	if room := min(n, r.buf.Bytes()-r.filled); room > 0 {
		memory.Move(unsafe.Add(r.buf.Addr, r.filled), data, room)
	}
	r.filled += n
	if r.filled == r.status.Bytes {
		r.finish()
	}
}

// finish completes a receive of which all has come.
func (r *Request) finish() {
	r.done = true
	if r.filled > r.buf.Bytes() {
		r.err = status.New(status.Communication, "message of %d bytes from rank %d with tag %d truncated: the buffer has %d",
			r.filled, r.status.Source, r.status.Tag, r.buf.Bytes())
	}
}

// Wait blocks until the operation is complete.
func (r *Request) Wait() (backend.Status, error) {
	for {
		if s, done, err := r.WaitFor(time.Hour); done {
			return s, err
		}
	}
}

// WaitFor is Wait that gives up after d.
func (r *Request) WaitFor(d time.Duration) (backend.Status, bool, error) {
	var began time.Time
	for look := 0; ; look++ {
		if s, done, err := r.Test(); done {
			return s, true, err
		}
		switch {
		case look == 0:
			began = time.Now()
		case look%8 == 0 && time.Since(began) >= d:
			return backend.Status{}, false, nil
		}
		r.engine.Pause(look)
	}
}

// Test moves what can be moved, and reports whether the operation is complete.
func (r *Request) Test() (backend.Status, bool, error) {
	e := r.engine
	e.Lock()
	defer e.Unlock()
	if !r.done {
		e.Progress()
	}
	if !r.done {
		return backend.Status{}, false, nil
	}
	return r.status, true, r.err
}

// Cancel takes a receive back that no message has come to.
func (r *Request) Cancel() error {
	e := r.engine
	e.Lock()
	defer e.Unlock()
	if r.done {
		return nil
	}
	if r.in == nil {
		return status.New(status.Unsupported, "only a receive can be cancelled")
	}
	if r.in.withdraw(r) {
		r.done, r.status = true, backend.Status{Tag: r.tag, Cancelled: true}
	}
	return nil
}
