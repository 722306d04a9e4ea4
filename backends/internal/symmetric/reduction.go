package symmetric

import (
	"math/bits"

	"dtl/core/kernel"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
)

// Elements are combined in an order that depends on the number of ranks alone. Of two operands the order does not matter where
// one rank has the result, so what comes first comes into the result, and this rank's own are combined into it.

const (
	// few is up to how many bytes each rank combines all elements; of more, each rank combines one block.
	few = 8 << 10
	// piece is how many bytes are combined while they are in the cache, where they come from other ranks.
	piece = 256 << 10
)

// pieces calls f for each piece of some elements, from one up to another.
func pieces(s memory.Span, f func(from, to int)) {
	each := max(piece/s.Type.Size(), 1)
	for from := 0; from < s.Count || from == 0; from += each {
		f(from, min(from+each, s.Count))
	}
}

// sendPieces sends what a rank receives piece by piece.
func (l *collective) sendPieces(s memory.Span, to int) {
	pieces(s, func(lo, hi int) { l.Send(s.Slice(lo, hi), to) })
}

// receiveCombined receives another rank's elements into recv, and combines own into them.
func (l *collective) receiveCombined(recv, own memory.Span, from int, op kernel.Op) {
	pieces(recv, func(lo, hi int) {
		l.Receive(recv.Slice(lo, hi), from)
		l.Await()
		l.Combine(recv.Slice(lo, hi), own.Slice(lo, hi), op)
	})
}

// combineReceived receives another rank's elements, and combines them into recv.
func (l *collective) combineReceived(recv memory.Span, from int, op kernel.Op) {
	other := l.room(0, recv.Slice(0, min(recv.Count, max(piece/recv.Type.Size(), 1))))
	pieces(recv, func(lo, hi int) {
		l.Receive(other.Slice(0, hi-lo), from)
		l.Await()
		l.Combine(recv.Slice(lo, hi), other.Slice(0, hi-lo), op)
	})
}

// reduceTree combines every rank's elements in rank 0's recv, up a binomial tree: always in the same order, lower ranks first.
func (l *collective) reduceTree(recv memory.Span, op kernel.Op) {
	for mask := 1; mask < l.Size(); mask *= 2 {
		if l.rank&mask != 0 {
			l.sendPieces(recv, l.rank-mask)
			return
		}
		if l.rank+mask < l.Size() {
			l.combineReceived(recv, l.rank+mask, op)
		}
	}
}

// double combines a few elements of 2^k ranks, of which each exchanges what it has with one of the other half of twice as many
// in each round. The lower half's come first.
func (l *collective) double(send, recv memory.Span, op kernel.Op) {
	rounds, count := bits.Len(uint(l.Size()))-1, send.Count
	rooms := l.room(0, memory.Span{Type: send.Type, Count: 2 * rounds * count})
	for round := range rounds {
		other, next := partOf(rooms, 2*round, count), partOf(rooms, 2*round+1, count)
		if round == rounds-1 {
			next = recv
		}
		peer := l.rank ^ 1<<round
		l.Send(send, peer)
		if peer < l.rank {
			l.receiveCombined(next, send, peer, op)
		} else {
			l.Receive(other, peer)
			l.Copy(next, send)
			l.Await()
			l.Combine(next, other, op)
		}
		send = next
	}
}

// combineBlock combines in recv, in rank order, what each rank has for this one: rank r's part(r) goes to rank r.
func (l *collective) combineBlock(recv memory.Span, part func(rank int) memory.Span, op kernel.Op) {
	n := l.Size()
	for step := 1; step < n; step++ {
		to := (l.rank + step) % n
		l.sendPieces(part(to), to)
	}
	own := part(l.rank)
	next := 2 // of the ranks whose elements are not in recv
	switch {
	case l.rank == 0:
		l.receiveCombined(recv, own, 1, op)
	case l.rank == 1:
		l.receiveCombined(recv, own, 0, op)
	default:
		pieces(recv, func(lo, hi int) { l.Receive(recv.Slice(lo, hi), 0) })
		l.Await()
		next = 1
	}
	for rank := next; rank < n; rank++ {
		if rank == l.rank {
			l.Combine(recv, own, op)
		} else {
			l.combineReceived(recv, rank, op)
		}
	}
}

// allreduce is of several ranks.
func (l *collective) allreduce(send, recv memory.Span, op kernel.Op) *collective {
	n := l.Size()
	switch {
	case send.Bytes() <= few && n&(n-1) == 0:
		l.double(send, recv, op)
	case send.Bytes() <= few:
		l.Copy(recv, send)
		l.reduceTree(recv, op)
		l.broadcast(recv, 0)
	default:
		l.combineBlock(block(recv, l.rank, n), func(rank int) memory.Span { return block(send, rank, n) }, op)
		l.circulate(func(rank int) memory.Span { return block(recv, rank, n) })
	}
	return l
}

// reduce is of several ranks.
func (l *collective) reduce(send, recv memory.Span, op kernel.Op, root int) *collective {
	n := l.Size()
	if n == 2 { // if each combined one half, root would still copy all of the other's from its memory
		if l.rank == root {
			l.receiveCombined(recv, send, 1-root, op)
		} else {
			l.sendPieces(send, root)
		}
		return l
	}
	mine := func(rank int) memory.Span { return block(send, rank, n) }
	if l.rank != root {
		combined := l.room(1, mine(l.rank))
		l.combineBlock(combined, mine, op)
		l.Send(combined, root)
		return l
	}
	l.combineBlock(block(recv, root, n), mine, op)
	for rank := range n {
		if rank != root {
			l.Receive(block(recv, rank, n), rank)
		}
	}
	return l
}

// scan combines the sends of the ranks up to this one in recv, each rank after the one before it.
func (l *collective) scan(send, recv memory.Span, op kernel.Op) *collective {
	last := l.rank+1 == l.Size()
	if l.rank == 0 {
		if !last {
			l.sendPieces(send, 1)
		}
		l.Copy(recv, send)
		return l
	}
	pieces(recv, func(lo, hi int) {
		l.Receive(recv.Slice(lo, hi), l.rank-1)
		l.Await()
		l.Combine(recv.Slice(lo, hi), send.Slice(lo, hi), op)
		if !last {
			l.Send(recv.Slice(lo, hi), l.rank+1)
		}
	})
	return l
}

// exscan combines the sends of the ranks before this one in recv, which rank 0 lets be.
func (l *collective) exscan(send, recv memory.Span, op kernel.Op) *collective {
	last, through := l.rank+1 == l.Size(), send
	if l.rank > 0 {
		through = l.room(0, send)
	}
	pieces(send, func(lo, hi int) {
		if l.rank > 0 {
			l.Receive(recv.Slice(lo, hi), l.rank-1)
			l.Await()
		}
		if last {
			return
		}
		if l.rank > 0 {
			l.Copy(through.Slice(lo, hi), recv.Slice(lo, hi))
			l.Combine(through.Slice(lo, hi), send.Slice(lo, hi), op)
		}
		l.Send(through.Slice(lo, hi), l.rank+1)
	})
	return l
}

// alone is a reduction of one rank.
func alone(send, recv memory.Span, op kernel.Op) error {
	memory.Copy(recv, send)
	return reduce.Settle(recv, op)
}

// Reduce combines every rank's send in root's recv, in rank order.
func (c *Comm) Reduce(send, recv memory.Span, op kernel.Op, root int) error {
	if err := op.Check(send.Type); err != nil {
		return err // the same on every rank
	}
	if c.Size() == 1 {
		return alone(send, recv, op)
	}
	return c.blocking(send, recv).reduce(send, recv, op, root).all()
}

// Allreduce combines every rank's send in every rank's recv, in the same order for all of them.
func (c *Comm) Allreduce(send, recv memory.Span, op kernel.Op) error {
	if err := op.Check(send.Type); err != nil {
		return err // the same on every rank
	}
	if c.Size() == 1 {
		return alone(send, recv, op)
	}
	return c.blocking(send, recv).allreduce(send, recv, op).all()
}

// Scan combines the sends of the ranks up to this one, in rank order.
func (c *Comm) Scan(send, recv memory.Span, op kernel.Op) error {
	if err := op.Check(send.Type); err != nil {
		return err // the same on every rank
	}
	if err := c.blocking(send, recv).scan(send, recv, op).all(); err != nil || c.rank > 0 {
		return err
	}
	return reduce.Settle(recv, op)
}

// Exscan combines the sends of the ranks before this one, in rank order; rank 0's recv stays as it is.
func (c *Comm) Exscan(send, recv memory.Span, op kernel.Op) error {
	if err := op.Check(send.Type); err != nil {
		return err // the same on every rank
	}
	if err := c.blocking(send, recv).exscan(send, recv, op).all(); err != nil || c.rank != 1 {
		return err
	}
	return reduce.Settle(recv, op) // which is rank 0's send
}

// ReduceScatter combines the r-th equal part of every rank's send in rank r's recv, in rank order.
func (c *Comm) ReduceScatter(send, recv memory.Span, op kernel.Op) error {
	if err := op.Check(send.Type); err != nil {
		return err // the same on every rank
	}
	if c.Size() == 1 {
		return alone(send, recv, op)
	}
	l := c.blocking(send, recv)
	l.combineBlock(recv, func(rank int) memory.Span { return partOf(send, rank, recv.Count) }, op)
	return l.all()
}
