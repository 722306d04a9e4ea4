package symmetric

import (
	"dtl/backends/internal/symmetric/transport"
	"dtl/core/kernel"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
)

// few is up to how many bytes a reduction goes up a tree, in which each rank sends once; of more, each rank combines one
// block, in rank order.
const few = 8 << 10

// reduceTree combines every rank's elements in rank 0's recv, up a binomial tree: always in the same order, lower ranks first.
func (l channel) reduceTree(recv memory.Span, op kernel.Op) error {
	other := l.room(0, recv)
	for mask := 1; mask < l.Size(); mask *= 2 {
		if l.rank&mask != 0 {
			return all(l.to(l.rank-mask, recv))
		}
		if l.rank+mask >= l.Size() {
			continue
		}
		if err := all(l.from(l.rank+mask, other)); err != nil {
			return err
		}
		if err := reduce.Accumulate(recv, other, op); err != nil {
			return err
		}
	}
	return nil
}

// combineBlock combines in recv, in rank order, what each rank has for this one: rank r's part(r) goes to rank r.
func (l channel) combineBlock(recv memory.Span, part func(rank int) memory.Span, op kernel.Op) error {
	n := l.Size()
	var sent []*transport.Request
	for step := 1; step < n; step++ {
		to := (l.rank + step) % n
		sent = append(sent, l.to(to, part(to)))
	}
	var failed error
	other := l.room(0, recv)
	for rank := range n {
		from := other
		if rank == 0 {
			from = recv
		}
		if rank == l.rank {
			memory.Copy(from, part(rank))
		} else if err := all(l.from(rank, from)); err != nil && failed == nil {
			failed = err
		}
		if rank > 0 && failed == nil {
			failed = reduce.Accumulate(recv, other, op)
		}
	}
	if err := all(sent...); failed == nil {
		failed = err
	}
	return failed
}

func (l channel) allreduce(send, recv memory.Span, op kernel.Op) error {
	if l.Size() == 1 {
		memory.Copy(recv, send)
		return reduce.Settle(recv, op)
	}
	if send.Bytes() <= few {
		memory.Copy(recv, send)
		if err := l.reduceTree(recv, op); err != nil {
			return err
		}
		return l.broadcast(recv, 0)
	}
	n := l.Size()
	err := l.combineBlock(block(recv, l.rank, n), func(rank int) memory.Span { return block(send, rank, n) }, op)
	if err != nil {
		return err
	}
	return l.circulate(func(rank int) memory.Span { return block(recv, rank, n) })
}

func (l channel) reduce(send, recv memory.Span, op kernel.Op, root int) error {
	n := l.Size()
	if n == 1 {
		memory.Copy(recv, send)
		return reduce.Settle(recv, op)
	}
	mine := l.room(1, block(send, l.rank, n))
	if err := l.combineBlock(mine, func(rank int) memory.Span { return block(send, rank, n) }, op); err != nil {
		return err
	}
	if l.rank != root {
		return all(l.to(root, mine))
	}
	pending := make([]*transport.Request, n)
	for rank := range n {
		if rank != root {
			pending[rank] = l.from(rank, block(recv, rank, n))
		}
	}
	memory.Copy(block(recv, root, n), mine)
	return all(pending...)
}

// prefix combines the sends of the ranks before this one in before, and with its own in through, each rank after the one
// before it. Either may have no room: then it is not wanted.
func (l channel) prefix(send, before, through memory.Span, op kernel.Op) error {
	memory.Copy(through, send)
	if l.rank == 0 {
		if err := reduce.Settle(through, op); err != nil {
			return err
		}
	} else {
		if err := all(l.from(l.rank-1, before)); err != nil {
			return err
		}
		memory.Copy(through, before)
		if err := reduce.Accumulate(through, send, op); err != nil {
			return err
		}
	}
	if l.rank+1 == l.Size() {
		return nil
	}
	return all(l.to(l.rank+1, through))
}

// Reduce combines every rank's send in root's recv, in rank order.
func (c *Comm) Reduce(send, recv memory.Span, op kernel.Op, root int) error {
	if err := op.Check(send.Type); err != nil {
		return err // the same on every rank
	}
	return c.blocking().reduce(send, recv, op, root)
}

// Allreduce combines every rank's send in every rank's recv, in the same order for all of them.
func (c *Comm) Allreduce(send, recv memory.Span, op kernel.Op) error {
	if err := op.Check(send.Type); err != nil {
		return err // the same on every rank
	}
	return c.blocking().allreduce(send, recv, op)
}

// Scan combines the sends of the ranks up to this one, in rank order.
func (c *Comm) Scan(send, recv memory.Span, op kernel.Op) error {
	if err := op.Check(send.Type); err != nil {
		return err // the same on every rank
	}
	l := c.blocking()
	return l.prefix(send, l.room(0, send), recv, op)
}

// Exscan combines the sends of the ranks before this one, in rank order; rank 0's recv stays as it is.
func (c *Comm) Exscan(send, recv memory.Span, op kernel.Op) error {
	if err := op.Check(send.Type); err != nil {
		return err // the same on every rank
	}
	l := c.blocking()
	if c.rank > 0 {
		return l.prefix(send, recv, l.room(0, send), op)
	}
	return l.prefix(send, memory.Span{}, l.room(0, send), op)
}

// ReduceScatter combines the r-th equal part of every rank's send in rank r's recv, in rank order.
func (c *Comm) ReduceScatter(send, recv memory.Span, op kernel.Op) error {
	if err := op.Check(send.Type); err != nil {
		return err // the same on every rank
	}
	if c.Size() == 1 {
		memory.Copy(recv, send)
		return reduce.Settle(recv, op)
	}
	return c.blocking().combineBlock(recv, func(rank int) memory.Span { return partOf(send, rank, recv.Count) }, op)
}
