package comm

import (
	"slices"

	"golang.org/x/sys/unix"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// What windows need of a communicator.

// Board returns where the ranks meet; nil where they do by messages, or where there is one alone.
func (c *Comm) Board() *board.Board { return c.board }

// Left says how a rank has left, "has ended its program"; "" if it has not, or that is unknown.
func (c *Comm) Left(rank int) string { return c.group.Left(rank) }

// OneProcess reports whether all ranks are goroutines of one process, and share memory.
func (c *Comm) OneProcess() bool { return c.alike && c.board != nil || c.size == 1 }

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
	if err := c.meetWith(f, mine, memory.Of(dtype.Uint8, name)); err != nil {
		return nil, err
	}
	from, n := c.board.Payload(0)
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
func (c *Comm) Expose(op, what string, mem memory.Span) (w backend.Window, err error) {
	err = c.inTurn(op, func() (err error) {
		p, ok := c.main.(backend.WindowProvider)
		if !ok {
			err = status.New(status.BackendUnavailable, "the ranks cannot reach this memory: they do not share it, and the "+
				"backend that connects them has no one-sided access")
		}
		if err := c.meet(wire.Signature{Op: op}, err); err != nil {
			return err
		}
		if w, err = p.Expose(mem); err == nil {
			c.engine.Open()
			w = &exposed{Window: w, comm: c, what: what}
		}
		return err
	})
	return w, err
}

// dependent is what ends with the communicator.
type dependent struct{ idle, end func() error }

// OnClose has end called when the communicator is closed, in the order in which ranks came here, unless the caller has
// called forget before. Until then, idle says why it cannot end now, if so. What depends on the communicator is made, and
// forgotten, by collective calls.
func (c *Comm) OnClose(idle, end func() error) (forget func()) {
	d := &dependent{idle, end}
	c.dependents.mu.Lock()
	defer c.dependents.mu.Unlock()
	c.dependents.list = append(c.dependents.list, d)
	return func() {
		c.dependents.mu.Lock()
		defer c.dependents.mu.Unlock()
		c.dependents.list = slices.DeleteFunc(c.dependents.list, func(o *dependent) bool { return o == d })
	}
}

// depending returns what ends with the communicator: as much on every rank.
func (c *Comm) depending() []*dependent {
	c.dependents.mu.Lock()
	defer c.dependents.mu.Unlock()
	return slices.Clone(c.dependents.list)
}

// Closable is nil unless requests are under way here, or what depends on the communicator cannot end. Where something
// depends on it, all ranks come here, and all get the error of one. Collective.
func (c *Comm) Closable() error {
	mine := c.Idle()
	list := c.depending()
	if len(list) == 0 {
		return mine
	}
	for _, d := range list {
		mine = errorOr(mine, d.idle())
	}
	return c.inTurn("close", func() error { return c.meet(wire.Signature{Op: "close"}, mine) })
}

// endDependents ends what depends on the communicator when all ranks have come to close it: until then, they may use it.
func (c *Comm) endDependents() error {
	list := c.depending()
	if len(list) == 0 {
		return nil
	}
	err := c.meet(wire.Signature{Op: "close"}, nil)
	if err != nil && c.board == nil {
		return err // without shared memory they end by collective calls, and some ranks do not come
	}
	for _, d := range list {
		if failed := d.end(); err == nil {
			err = failed
		}
	}
	return err
}

// Started returns the request of what begin starts, which is over at once where there is nothing to wait for.
func (c *Comm) Started(name string, begin func() (backend.Request, error)) (*Request, error) {
	return c.begin(name, &single{name: name, start: begin}, posted{})
}
