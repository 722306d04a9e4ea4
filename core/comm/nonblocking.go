package comm

import (
	"dtl/core/backend"
	"dtl/core/comm/wire"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// The calls of this file start a collective and return. All ranks start them in the same order; they wait for them in
// any. They travel where only payloads do besides, so they may be under way beside every other call.

// async returns the communicator of collectives that do not block.
func (c *Comm) async() (backend.AsyncCommunicator, error) {
	a, ok := c.payload.(backend.AsyncCommunicator)
	if !ok {
		return nil, status.New(status.Unsupported, "the backend has no collectives that do not block")
	}
	return a, nil
}

// single is a task of one operation of the backend.
type single struct {
	name  string
	start func() (backend.Request, error)
	twin  *memory.Storage // of an input that shares memory with the output, or nil
}

func (t *single) begin() (backend.Request, error) {
	r, err := t.start()
	if err != nil {
		t.drop()
	}
	return r, err
}

func (t *single) next(_ backend.Status, err error) (backend.Request, error) {
	t.drop()
	return nil, err
}

func (t *single) drop() {
	if t.twin != nil {
		t.twin.Release()
		t.twin = nil
	}
}

func (t *single) result() Result  { return Result{} }
func (t *single) more() bool      { return false }
func (t *single) awaits() awaited { return named(t.name) }

// collect starts a collective that form describes, unless this rank's arguments are refused, mine.
func (c *Comm) collect(f wire.Signature, mine error, start func(a backend.AsyncCommunicator) (backend.Request, error)) (*Request, error) {
	return c.collectFrom(f, nil, mine, start)
}

// collectFrom is collect with memory that goes with the task.
func (c *Comm) collectFrom(f wire.Signature, twin *memory.Storage, mine error,
	start func(a backend.AsyncCommunicator) (backend.Request, error)) (*Request, error) {
	a, err := c.async()
	if mine == nil {
		mine = err
	}
	t := &single{name: f.Op, twin: twin, start: func() (backend.Request, error) { return start(a) }}
	p, err := c.post(f, mine)
	if err != nil {
		t.drop()
		return nil, status.In(f.Op, err)
	}
	return c.begin(f.Op, t, p)
}

// Ibarrier starts what Barrier does. Collective.
func (c *Comm) Ibarrier() (*Request, error) {
	return c.collect(wire.Signature{Op: "ibarrier"}, nil, backend.AsyncCommunicator.Ibarrier)
}

// Iallreduce starts what Allreduce does. Collective.
func (c *Comm) Iallreduce(send, recv memory.Span, op kernel.Op) (*Request, error) {
	f := wire.Signature{Op: "iallreduce", Operator: op.String(), Type: send.Type, Count: send.Count}
	mine := checkReduction(send, recv, op)
	var twin *memory.Storage
	if mine == nil {
		send, twin, mine = c.separate(send, recv)
	}
	return c.collectFrom(f, twin, mine, func(a backend.AsyncCommunicator) (backend.Request, error) {
		return a.Iallreduce(send, recv, op)
	})
}

// Igather starts what Gather does. Collective.
func (c *Comm) Igather(send, recv memory.Span, root int64) (*Request, error) {
	f := wire.Signature{Op: "igather", Type: send.Type, Count: send.Count, Root: wire.Rooted(root)}
	mine := c.checkRank("root", root)
	if mine == nil {
		mine = checkType("value", send)
	}
	var twin *memory.Storage
	if mine == nil && int(root) == c.Rank() {
		if mine = checkOutput(recv, send, send.Count*c.Size()); mine == nil {
			send, twin, mine = c.separate(send, recv)
		}
	} else {
		recv = memory.Span{Type: send.Type}
	}
	return c.collectFrom(f, twin, mine, func(a backend.AsyncCommunicator) (backend.Request, error) {
		return a.Igather(send, recv, int(root))
	})
}

// Iallgather starts what Allgather does. Collective.
func (c *Comm) Iallgather(send, recv memory.Span) (*Request, error) {
	f := wire.Signature{Op: "iallgather", Type: send.Type, Count: send.Count}
	mine := checkType("value", send)
	if mine == nil {
		mine = checkOutput(recv, send, send.Count*c.Size())
	}
	var twin *memory.Storage
	if mine == nil {
		send, twin, mine = c.separate(send, recv)
	}
	return c.collectFrom(f, twin, mine, func(a backend.AsyncCommunicator) (backend.Request, error) {
		return a.Iallgather(send, recv)
	})
}

// separate returns send, or a copy of it where it shares memory with recv, with the memory of the copy.
func (c *Comm) separate(send, recv memory.Span) (memory.Span, *memory.Storage, error) {
	if !overlap(send, recv) {
		return send, nil, nil
	}
	twin, err := c.twin(send)
	return twin.Span, twin.Storage, err
}

// RefuseStart says in the place of a collective that does not block that this rank cannot start it, and why.
func (c *Comm) RefuseStart(op string, why error) {
	_, _ = c.post(wire.Signature{Op: op}, why) // the caller has the error
}
