package comm

import (
	"dtl/core/backend"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/watchdog"
)

// exposed is a window of the backend, for which somebody goes on beside the program, and whose calls may wait there.
type exposed struct {
	backend.Window
	comm *Comm
	what string // each rank has in it
	over bool
}

func (e *exposed) call(op string, target int) *watchdog.BackendCall {
	return &watchdog.BackendCall{Group: e.comm.group, Op: op, Of: e.what, Target: target}
}

func (e *exposed) Put(from memory.Span, target int, offset int64) error {
	return e.call("put", target).Run(func() error { return e.Window.Put(from, target, offset) })
}

func (e *exposed) Get(into memory.Span, target int, offset int64) error {
	return e.call("get", target).Run(func() error { return e.Window.Get(into, target, offset) })
}

func (e *exposed) Accumulate(from memory.Span, target int, offset int64, op kernel.Op) error {
	return e.call("accumulate", target).Run(func() error { return e.Window.Accumulate(from, target, offset, op) })
}

func (e *exposed) FetchAndOp(from, into memory.Span, target int, offset int64, op kernel.Op) error {
	return e.call("fetch", target).Run(func() error { return e.Window.FetchAndOp(from, into, target, offset, op) })
}

func (e *exposed) CompareAndSwap(compare, swap, into memory.Span, target int, offset int64) error {
	return e.call("swap", target).Run(func() error {
		return e.Window.CompareAndSwap(compare, swap, into, target, offset)
	})
}

func (e *exposed) FlushLocal(target int) error {
	return e.call("flush_local", target).Run(func() error { return e.Window.FlushLocal(target) })
}

func (e *exposed) Flush(target int) error {
	return e.call("flush", target).Run(func() error { return e.Window.Flush(target) })
}

// Close closes the window. Collective.
func (e *exposed) Close() error {
	if !e.over {
		e.over = true
		defer e.comm.engine.Shut()
	}
	return e.call("close", backend.Every).Run(e.Window.Close)
}
