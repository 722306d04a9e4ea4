package rma

import (
	"time"

	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/memory"
)

// Rput is Put that returns a request: when it is over, the elements may be used again. With an epoch.
func (w *Window) Rput(from memory.Span, target, offset int64) (*comm.Request, error) {
	return w.request("rma_rput", target, func(op string) error { return w.put(op, from, target, offset) })
}

// Rget is Get that returns a request: when it is over, the elements are there. With an epoch.
func (w *Window) Rget(into memory.Span, target, offset int64) (*comm.Request, error) {
	return w.request("rma_rget", target, func(op string) error { return w.get(op, into, target, offset) })
}

func (w *Window) request(name string, target int64, access func(op string) error) (*comm.Request, error) {
	return w.comm.Started(name, func() (backend.Request, error) {
		if err := access(name); err != nil || w.Near() {
			return nil, err
		}
		w.requests.Add(1)
		return &flushing{window: w, target: int(target)}, nil
	})
}

// flushing is the wait for what was begun towards a target, in the manner of a request of the backend.
type flushing struct {
	window *Window
	target int
	over   bool
	err    error
}

var _ backend.Request = (*flushing)(nil)

// Test ends what was begun: the target need not take part.
func (f *flushing) Test() (backend.Status, bool, error) {
	if !f.over {
		f.over = true
		f.err = f.window.using("flush", func() error { return f.window.reach.FlushLocal(f.target) })
		f.window.requests.Add(-1)
	}
	return backend.Status{}, true, f.err
}

// Wait is Test.
func (f *flushing) Wait() (backend.Status, error) {
	st, _, err := f.Test()
	return st, err
}

// WaitFor is Test.
func (f *flushing) WaitFor(time.Duration) (backend.Status, bool, error) { return f.Test() }

// Cancel does nothing: only a receive is taken back.
func (f *flushing) Cancel() error { return nil }
