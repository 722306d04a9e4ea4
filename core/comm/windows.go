package comm

import (
	"golang.org/x/sys/unix"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/comm/agreement"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// What windows need of a communicator.

// Board returns where the ranks meet; nil where they do by messages, or where there is one alone.
func (c *Comm) Board() *board.Board { return c.board }

// Left says how a rank has left, "has ended its program"; "" if it has not, or that is unknown.
func (c *Comm) Left(rank int) string { return c.group.Left(rank) }

// OneProcess reports whether all ranks are goroutines of one process, and share memory.
func (c *Comm) OneProcess() bool { return c.oneProcess && c.board != nil || c.size == 1 }

// Segment returns zeroed memory of so many bytes, at least one, that all ranks have in common, to be unmapped by each.
// All ask for equally many, and share a board or are one. Collective.
func (c *Comm) Segment(op string, bytes int) (mapped []byte, err error) {
	err = c.inTurn(op, func() (err error) {
		if c.size == 1 {
			mapped, err = board.PrivateSegment(bytes)
			return err
		}
		mapped, err = c.segment(wire.Signature{Op: op, Count: bytes}, bytes)
		return err
	})
	return mapped, err
}

func (c *Comm) segment(f wire.Signature, bytes int) (mapped []byte, err error) {
	name, mine := make([]uint8, board.NameBytes), error(nil)
	if c.rank == 0 {
		var made *board.Segment
		if made, mine = board.CreateSegment(bytes); mine == nil {
			defer made.Close()
			copy(name, made.Name())
			if c.byPath {
				mine = made.Link()
			}
		}
	}
	if err := c.meetWith(f, mine, agreement.Elements{Span: memory.Of(dtype.Uint8, name), Way: agreement.FromRoot}); err != nil {
		return nil, err
	}
	from, n := c.meeter.Payload(0)
	mapped, mine = board.OpenSegment(string(bytesAt(from, n)), bytes)
	if err := c.meet(f, mine); err != nil {
		if mine == nil {
			_ = unix.Munmap(mapped) // of no use alone
		}
		return nil, err
	}
	return mapped, nil
}

// Expose opens memory to all ranks by the backend's own means. what says what is each rank's there, for reports of ranks
// that wait for it: "part". Collective.
func (c *Comm) Expose(op, what string, mem memory.Span) (backend.Window, error) {
	return c.expose(op, what, func(p backend.WindowProvider) (backend.Window, error) { return p.Expose(mem) })
}

// ExposeWord opens a uint64 of each rank, which is 0 at first, and which only the window reaches: in mem, unless the backend
// has memory of its own for it. Collective.
func (c *Comm) ExposeWord(op, what string, mem memory.Span) (backend.Window, error) {
	return c.expose(op, what, func(p backend.WindowProvider) (w backend.Window, err error) {
		if own, ok := p.(backend.AllocatingProvider); ok {
			w, _, err = own.Allocate(8, true)
			return w, err
		}
		return p.Expose(mem)
	})
}

// Allocates reports whether the backend has memory of its own for windows.
func (c *Comm) Allocates() bool {
	_, ok := c.main.(backend.AllocatingProvider)
	return ok
}

// Allocate opens so many bytes of the backend's own memory to all ranks, where it Allocates, and returns this rank's. They are 0
// at first, and gone when the window is closed. Collective.
func (c *Comm) Allocate(op, what string, bytes int) (w backend.Window, mine memory.Span, err error) {
	w, err = c.expose(op, what, func(p backend.WindowProvider) (w backend.Window, err error) {
		w, mine, err = p.(backend.AllocatingProvider).Allocate(bytes, false)
		return w, err
	})
	return w, mine, err
}

func (c *Comm) expose(
	op, what string, open func(backend.WindowProvider) (backend.Window, error),
) (w backend.Window, err error) {
	err = c.inTurn(op, func() (err error) {
		p, ok := c.main.(backend.WindowProvider)
		if !ok {
			err = status.New(status.BackendUnavailable, "the ranks cannot reach this memory: they do not share it, and the "+
				"backend that connects them has no one-sided access")
		}
		if err := c.meet(wire.Signature{Op: op}, err); err != nil {
			return err
		}
		return c.blocking(func() (err error) {
			if w, err = open(p); err == nil {
				c.engine.Open()
				w = &exposed{Window: w, comm: c, what: what}
			}
			return err
		})
	})
	return w, err
}

// Advance goes on with what other ranks ask of this one, if the backend does so in its calls only.
func (c *Comm) Advance() error {
	if a, ok := c.main.(backend.Advancer); ok {
		return a.Advance()
	}
	return nil
}

// Started returns the request of what begin starts, which is over at once where there is nothing to wait for.
func (c *Comm) Started(name string, begin func() (backend.Request, error)) (*Request, error) {
	return c.begin(name, &backendTask{name: name, start: begin}, agreement.Start{})
}

// exposed is a window of the backend, for which somebody goes on beside the program, and whose calls may wait there.
type exposed struct {
	backend.Window
	comm *Comm
	what string // each rank has in it
	over bool
}

var _ backend.LockingWindow = (*exposed)(nil)

// CombinesUnderLock reports whether the backend's window does.
func (e *exposed) CombinesUnderLock() bool {
	w, ok := e.Window.(backend.LockingWindow)
	return ok && w.CombinesUnderLock()
}

// PutsBesideSwaps reports whether the backend's window does.
func (e *exposed) PutsBesideSwaps() bool {
	w, ok := e.Window.(backend.LockingWindow)
	return ok && w.PutsBesideSwaps()
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
