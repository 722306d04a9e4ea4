package comm

import (
	"dtl/core/comm/wire"
	"dtl/core/kernel"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
	"dtl/core/watchdog"
)

// Barrier returns when every rank has called it. Collective.
func (c *Comm) Barrier() error {
	return c.inTurn("barrier", func() error {
		if c.apartAndTrusting() {
			return c.blocking(c.main.Barrier)
		}
		return c.meet(wire.Signature{Op: "barrier"}, nil)
	})
}

// Allreduce combines every rank's send elementwise in every rank's recv. recv may be send. Collective.
func (c *Comm) Allreduce(send, recv memory.Span, op kernel.Op) error {
	return c.inTurn("allreduce", func() error { return c.allreduce(send, recv, op) })
}

func (c *Comm) allreduce(send, recv memory.Span, op kernel.Op) error {
	f := wire.Signature{Op: "allreduce", Operator: op.String(), Type: send.Type, Count: send.Count}
	short, err := c.start(f, checkReduction(send, recv, op), send)
	if err != nil {
		return err
	}
	if short {
		return c.fold(recv, op, 0, c.size)
	}
	return c.apart(send, recv, func(send memory.Span) error { return c.main.Allreduce(send, recv, op) })
}

// Reduce combines every rank's send elementwise in root's recv, which is ignored elsewhere. Collective.
func (c *Comm) Reduce(send, recv memory.Span, op kernel.Op, root int64) error {
	return c.inTurn("reduce", func() error { return c.reduce(send, recv, op, root) })
}

func (c *Comm) reduce(send, recv memory.Span, op kernel.Op, root int64) error {
	mine := c.checkRank("root", root)
	here := int(root) == c.rank
	if mine == nil && here {
		mine = checkReduction(send, recv, op)
	} else if mine == nil {
		mine = checkElements(send, op)
	}
	f := wire.Signature{Op: "reduce", Operator: op.String(), Type: send.Type, Count: send.Count, Root: wire.Rooted(root)}
	short, err := c.start(f, mine, send)
	if err != nil || short && !here {
		return err
	}
	if short {
		return c.fold(recv, op, 0, c.size)
	}
	if !here {
		return c.blocking(func() error { return c.main.Reduce(send, memory.Span{Type: send.Type}, op, int(root)) })
	}
	return c.apart(send, recv, func(send memory.Span) error { return c.main.Reduce(send, recv, op, int(root)) })
}

// start meets for a call that moves send to other ranks, and reports whether every rank has it now: short ones are laid
// down on the board, and a rank alone has its own.
func (c *Comm) start(f wire.Signature, mine error, send memory.Span) (short bool, err error) {
	if c.size == 1 {
		c.single = send.Addr
		return true, mine
	}
	if c.apartAndTrusting() {
		return false, mine
	}
	if send.Bytes() > c.brief {
		return false, c.meet(f, mine)
	}
	return true, c.meetWith(f, mine, send)
}

// blocking calls f, which is the backend's part of the collective call in turn. All ranks have come to it, but one that is
// stopped meanwhile holds the others up there.
func (c *Comm) blocking(f func() error) error {
	b := watchdog.BackendCall{Group: c.group, Op: c.op}
	return b.Run(f)
}

// fold combines in recv what the first n ranks laid down, from an element on, in rank order, so that all ranks get the
// same bits.
func (c *Comm) fold(recv memory.Span, op kernel.Op, from, n int) error {
	memory.Copy(recv, c.part(0, recv.Type, from, recv.Count))
	for rank := 1; rank < n; rank++ {
		if err := reduce.Accumulate(recv, c.part(rank, recv.Type, from, recv.Count), op); err != nil {
			return err
		}
	}
	if n == 1 {
		return reduce.Settle(recv, op)
	}
	return nil
}

func checkElements(send memory.Span, op kernel.Op) error {
	if err := checkType("value", send); err != nil {
		return err
	}
	return op.Check(send.Type)
}

func checkReduction(send, recv memory.Span, op kernel.Op) error {
	if err := checkElements(send, op); err != nil {
		return err
	}
	return checkOutput(recv, send, send.Count)
}

// Gather concatenates every rank's send, in rank order, in root's recv, which is ignored elsewhere.
// Every rank sends the same number of elements. Collective.
func (c *Comm) Gather(send, recv memory.Span, root int64) error {
	return c.inTurn("gather", func() error { return c.gather(send, recv, root) })
}

func (c *Comm) gather(send, recv memory.Span, root int64) error {
	mine := c.checkRank("root", root)
	here := int(root) == c.rank
	if mine == nil {
		mine = checkType("value", send)
	}
	if mine == nil && here {
		mine = checkOutput(recv, send, send.Count*c.size)
	}
	f := wire.Signature{Op: "gather", Type: send.Type, Count: send.Count, Root: wire.Rooted(root)}
	short, err := c.start(f, mine, send)
	if err != nil || short && !here {
		return err
	}
	if short {
		c.concatenate(recv)
		return nil
	}
	if !here {
		return c.blocking(func() error { return c.main.Gather(send, memory.Span{Type: send.Type}, int(root)) })
	}
	return c.apart(send, recv, func(send memory.Span) error { return c.main.Gather(send, recv, int(root)) })
}

// concatenate copies to recv what every rank laid down in the meeting.
func (c *Comm) concatenate(recv memory.Span) {
	n := recv.Count / c.size
	for rank := range c.size {
		memory.Copy(recv.Slice(rank*n, (rank+1)*n), c.part(rank, recv.Type, 0, n))
	}
}

// Allgather concatenates every rank's send, in rank order, in every rank's recv. Collective.
func (c *Comm) Allgather(send, recv memory.Span) error {
	return c.inTurn("allgather", func() error { return c.allgather(send, recv) })
}

func (c *Comm) allgather(send, recv memory.Span) error {
	mine := checkType("value", send)
	if mine == nil {
		mine = checkOutput(recv, send, send.Count*c.size)
	}
	short, err := c.start(wire.Signature{Op: "allgather", Type: send.Type, Count: send.Count}, mine, send)
	if err != nil {
		return err
	}
	if short {
		c.concatenate(recv)
		return nil
	}
	return c.apart(send, recv, func(send memory.Span) error { return c.main.Allgather(send, recv) })
}

// alltoall sends the r-th equal part of send to rank r, and concatenates what arrives in rank order.
func (c *Comm) alltoall(send, recv memory.Span, mine error) error {
	short, err := c.start(wire.Signature{Op: "alltoall", Type: send.Type, Count: send.Count}, mine, send)
	if err != nil {
		return err
	}
	if !short {
		return c.apart(send, recv, func(send memory.Span) error { return c.main.Alltoall(send, recv) })
	}
	n := recv.Count / c.size
	for rank := range c.size {
		memory.Copy(recv.Slice(rank*n, (rank+1)*n), c.part(rank, recv.Type, c.rank*n, n))
	}
	return nil
}
