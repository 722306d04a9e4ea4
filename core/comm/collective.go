package comm

import (
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// Barrier returns when every rank has called it. Collective.
func (c *Comm) Barrier() error { return status.In("barrier", c.main.Barrier()) }

// Allreduce combines every rank's send elementwise in every rank's recv. recv may be send. Collective.
func (c *Comm) Allreduce(send, recv memory.Span, op kernel.Op) error {
	return status.In("allreduce", c.allreduce(send, recv, op))
}

func (c *Comm) allreduce(send, recv memory.Span, op kernel.Op) error {
	if err := checkReduction(send, recv, op); err != nil {
		return err
	}
	if !overlap(send, recv) {
		return c.main.Allreduce(send, recv, op)
	}
	return c.apart(send, recv, func(send memory.Span) error { return c.main.Allreduce(send, recv, op) })
}

// Reduce combines every rank's send elementwise in root's recv, which is ignored elsewhere. Collective.
func (c *Comm) Reduce(send, recv memory.Span, op kernel.Op, root int64) error {
	return status.In("reduce", c.reduce(send, recv, op, root))
}

func (c *Comm) reduce(send, recv memory.Span, op kernel.Op, root int64) error {
	if err := c.checkRank("root", root); err != nil {
		return err
	}
	if int(root) != c.Rank() {
		recv = memory.Span{Type: send.Type}
		if err := checkElements(send, op); err != nil {
			return err
		}
		return c.main.Reduce(send, recv, op, int(root))
	}
	if err := checkReduction(send, recv, op); err != nil {
		return err
	}
	return c.apart(send, recv, func(send memory.Span) error { return c.main.Reduce(send, recv, op, int(root)) })
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
	return status.In("gather", c.gather(send, recv, root))
}

func (c *Comm) gather(send, recv memory.Span, root int64) error {
	if err := c.checkRank("root", root); err != nil {
		return err
	}
	if err := checkType("value", send); err != nil {
		return err
	}
	if int(root) != c.Rank() {
		return c.main.Gather(send, memory.Span{Type: send.Type}, int(root))
	}
	if err := checkOutput(recv, send, send.Count*c.Size()); err != nil {
		return err
	}
	return c.apart(send, recv, func(send memory.Span) error { return c.main.Gather(send, recv, int(root)) })
}

// Allgather concatenates every rank's send, in rank order, in every rank's recv. Collective.
func (c *Comm) Allgather(send, recv memory.Span) error {
	return status.In("allgather", c.allgather(send, recv))
}

func (c *Comm) allgather(send, recv memory.Span) error {
	if err := checkType("value", send); err != nil {
		return err
	}
	if err := checkOutput(recv, send, send.Count*c.Size()); err != nil {
		return err
	}
	return c.apart(send, recv, func(send memory.Span) error { return c.main.Allgather(send, recv) })
}
