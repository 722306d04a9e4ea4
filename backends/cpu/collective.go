package cpu

import "dtl/core/memory"

// Flat says so: no rank is on a node, unless that is pretended.
func (c *Comm) Flat() bool { return true }

// Barrier returns when every rank has called it.
func (c *Comm) Barrier() error {
	if c.Size() == 1 {
		return nil
	}
	return c.collective(call{signature: signature{name: "Barrier"}}, func([]call) error { return nil })
}

// alone does the work of every collective on one rank, a copy, and reports whether this is one. It is what
// a program without MPI runs, so it neither locks nor allocates.
func (c *Comm) alone(send, recv memory.Span) bool {
	if c.Size() > 1 {
		return false
	}
	memory.Copy(recv, send)
	return true
}

// Broadcast copies root's buf to every other rank's.
func (c *Comm) Broadcast(buf memory.Span, root int) error {
	if c.Size() == 1 {
		return nil
	}
	f := signature{name: "Broadcast", root: root, count: buf.Count, typ: buf.Type}
	return c.collective(call{signature: f, send: buf}, func(calls []call) error {
		if c.rank != root {
			memory.Copy(buf, calls[root].send)
		}
		return nil
	})
}

// Gather concatenates every rank's send in root's recv.
func (c *Comm) Gather(send, recv memory.Span, root int) error {
	if c.alone(send, recv) {
		return nil
	}
	f := signature{name: "Gather", root: root, count: send.Count, typ: send.Type}
	return c.collective(call{signature: f, send: send}, func(calls []call) error {
		if c.rank == root {
			concatenate(recv, calls)
		}
		return nil
	})
}

// Scatter gives rank r the r-th equal part of root's send.
func (c *Comm) Scatter(send, recv memory.Span, root int) error {
	if c.alone(send, recv) {
		return nil
	}
	f := signature{name: "Scatter", root: root, count: recv.Count, typ: recv.Type}
	return c.collective(call{signature: f, send: send}, func(calls []call) error {
		memory.Copy(recv, part(calls[root].send, c.rank, recv.Count))
		return nil
	})
}

// Allgather concatenates every rank's send in every rank's recv.
func (c *Comm) Allgather(send, recv memory.Span) error {
	if c.alone(send, recv) {
		return nil
	}
	f := signature{name: "Allgather", count: send.Count, typ: send.Type}
	return c.collective(call{signature: f, send: send}, func(calls []call) error {
		concatenate(recv, calls)
		return nil
	})
}

// Alltoall sends the r-th equal part of send to rank r.
func (c *Comm) Alltoall(send, recv memory.Span) error {
	if c.alone(send, recv) {
		return nil
	}
	n := send.Count / c.Size()
	f := signature{name: "Alltoall", count: n, typ: send.Type}
	return c.collective(call{signature: f, send: send}, func(calls []call) error {
		for rank := range calls {
			memory.Copy(part(recv, rank, n), part(calls[rank].send, c.rank, n))
		}
		return nil
	})
}

// concatenate writes every rank's send to recv.
func concatenate(recv memory.Span, calls []call) {
	for rank := range calls {
		n := calls[rank].count
		memory.Copy(part(recv, rank, n), calls[rank].send)
	}
}

// part returns the rank-th part of n elements.
func part(whole memory.Span, rank, n int) memory.Span { return whole.Slice(rank*n, (rank+1)*n) }
