package cpu

import (
	"dtl/core/kernel"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
)

// Reduce combines every rank's send in root's recv, in rank order.
func (c *Comm) Reduce(send, recv memory.Span, op kernel.Op, root int) error {
	if err := op.Check(send.Type); err != nil {
		return err // the same on every rank
	}
	if c.alone(send, recv) {
		return reduce.Settle(recv, op)
	}
	f := signature{name: "Reduce", op: op, root: root, count: send.Count, typ: send.Type}
	return c.collective(call{signature: f, send: send}, func(calls []call) error {
		if c.rank != root {
			return nil
		}
		return combine(recv, calls, op, 0, 1)
	})
}

// Allreduce combines every rank's send in every rank's recv, in rank order. Each rank combines one block of
// the elements and takes the others from the other ranks, so that all have the same bits.
func (c *Comm) Allreduce(send, recv memory.Span, op kernel.Op) error {
	if err := op.Check(send.Type); err != nil {
		return err // the same on every rank
	}
	if c.alone(send, recv) {
		return reduce.Settle(recv, op)
	}
	f := signature{name: "Allreduce", op: op, count: send.Count, typ: send.Type}
	return c.collective(call{signature: f, send: send, recv: recv}, func(calls []call) error {
		n := len(calls)
		err := combine(block(recv, c.rank, n), calls, op, c.rank, n)
		c.group.meeting.barrier()
		for rank := range calls {
			if rank != c.rank {
				memory.Copy(block(recv, rank, n), block(calls[rank].recv, rank, n))
			}
		}
		return err
	})
}

// Scan combines the sends of the ranks up to this one, in rank order.
func (c *Comm) Scan(send, recv memory.Span, op kernel.Op) error {
	return c.fold("Scan", send, recv, op, c.rank+1)
}

// Exscan combines the sends of the ranks before this one, in rank order; rank 0's recv stays as it is.
func (c *Comm) Exscan(send, recv memory.Span, op kernel.Op) error {
	return c.fold("Exscan", send, recv, op, c.rank)
}

// fold combines the sends of the first n ranks in recv.
func (c *Comm) fold(name string, send, recv memory.Span, op kernel.Op, n int) error {
	if err := op.Check(send.Type); err != nil {
		return err // the same on every rank
	}
	if n == 0 && c.Size() == 1 {
		return nil
	}
	if c.alone(send, recv) {
		return reduce.Settle(recv, op)
	}
	f := signature{name: name, op: op, count: send.Count, typ: send.Type}
	return c.collective(call{signature: f, send: send}, func(calls []call) error {
		if n == 0 {
			return nil
		}
		return combine(recv, calls[:n], op, 0, 1)
	})
}

// ReduceScatter combines the r-th equal part of every rank's send in rank r's recv, in rank order.
func (c *Comm) ReduceScatter(send, recv memory.Span, op kernel.Op) error {
	if err := op.Check(send.Type); err != nil {
		return err // the same on every rank
	}
	if c.alone(send, recv) {
		return reduce.Settle(recv, op)
	}
	f := signature{name: "ReduceScatter", op: op, count: recv.Count, typ: send.Type}
	return c.collective(call{signature: f, send: send}, func(calls []call) error {
		return combine(recv, calls, op, c.rank, len(calls))
	})
}

// block returns the i-th of n nearly equal parts.
func block(s memory.Span, i, n int) memory.Span { return s.Slice(s.Count*i/n, s.Count*(i+1)/n) }

// combine accumulates the i-th of n parts of every rank's send into recv.
func combine(recv memory.Span, calls []call, op kernel.Op, i, n int) error {
	memory.Copy(recv, block(calls[0].send, i, n))
	if len(calls) == 1 {
		return reduce.Settle(recv, op)
	}
	for rank := 1; rank < len(calls); rank++ {
		if err := reduce.Accumulate(recv, block(calls[rank].send, i, n), op); err != nil {
			return err
		}
	}
	return nil
}
