package symmetric

import (
	"dtl/backends/internal/symmetric/transport"
	"dtl/core/memory"
)

// The library's own collectives want symmetric buffers and a set of processes with a stride, and would wait inside the
// library, where nobody moves the messages that others wait for. So these are made of messages.

// barrier is by dissemination: after round k each rank knows of the 2^k before it.
func (l channel) barrier() error {
	n, none := l.Size(), memory.Span{}
	for distance := 1; distance < n; distance *= 2 {
		sent := l.to((l.rank+distance)%n, none)
		if err := all(l.from((l.rank+n-distance)%n, none), sent); err != nil {
			return err
		}
	}
	return nil
}

// broadcast goes down a binomial tree whose ranks count from root.
func (l channel) broadcast(buf memory.Span, root int) error {
	n := l.Size()
	place := (l.rank + n - root) % n
	mask := 1
	for ; mask < n && place&mask == 0; mask *= 2 {
	}
	if place != 0 {
		if err := all(l.from((place-mask+root)%n, buf)); err != nil {
			return err
		}
	}
	var sent []*transport.Request
	for mask /= 2; mask > 0; mask /= 2 {
		if place+mask < n {
			sent = append(sent, l.to((place+mask+root)%n, buf))
		}
	}
	return all(sent...)
}

func (l channel) gather(send, recv memory.Span, root int) error {
	if l.rank != root {
		return all(l.to(root, send))
	}
	pending := make([]*transport.Request, l.Size())
	for rank := range pending {
		if rank != root {
			pending[rank] = l.from(rank, partOf(recv, rank, send.Count))
		}
	}
	memory.Copy(partOf(recv, root, send.Count), send)
	return all(pending...)
}

func (l channel) scatter(send, recv memory.Span, root int) error {
	if l.rank != root {
		return all(l.from(root, recv))
	}
	pending := make([]*transport.Request, l.Size())
	for rank := range pending {
		if rank != root {
			pending[rank] = l.to(rank, partOf(send, rank, recv.Count))
		}
	}
	memory.Copy(recv, partOf(send, root, recv.Count))
	return all(pending...)
}

func (l channel) allgather(send, recv memory.Span) error {
	memory.Copy(partOf(recv, l.rank, send.Count), send)
	return l.circulate(func(rank int) memory.Span { return partOf(recv, rank, send.Count) })
}

// circulate sends each rank's part round a ring until all have all.
func (l channel) circulate(part func(rank int) memory.Span) error {
	n := l.Size()
	for step := range n - 1 {
		sent := l.to((l.rank+1)%n, part((l.rank+n-step)%n))
		if err := all(l.from((l.rank+n-1)%n, part((l.rank+n-step-1)%n)), sent); err != nil {
			return err
		}
	}
	return nil
}

func (l channel) alltoall(send, recv memory.Span) error {
	n, count := l.Size(), send.Count/l.Size()
	var pending []*transport.Request
	for step := 1; step < n; step++ {
		from := (l.rank + n - step) % n
		pending = append(pending, l.from(from, partOf(recv, from, count)))
	}
	for step := 1; step < n; step++ {
		to := (l.rank + step) % n
		pending = append(pending, l.to(to, partOf(send, to, count)))
	}
	memory.Copy(partOf(recv, l.rank, count), partOf(send, l.rank, count))
	return all(pending...)
}

// Barrier returns when every rank has called it.
func (c *Comm) Barrier() error { return c.blocking().barrier() }

// Broadcast copies root's buf to every other rank's.
func (c *Comm) Broadcast(buf memory.Span, root int) error { return c.blocking().broadcast(buf, root) }

// Gather concatenates every rank's send in root's recv.
func (c *Comm) Gather(send, recv memory.Span, root int) error {
	return c.blocking().gather(send, recv, root)
}

// Scatter gives rank r the r-th equal part of root's send.
func (c *Comm) Scatter(send, recv memory.Span, root int) error {
	return c.blocking().scatter(send, recv, root)
}

// Allgather concatenates every rank's send in every rank's recv.
func (c *Comm) Allgather(send, recv memory.Span) error { return c.blocking().allgather(send, recv) }

// Alltoall sends the r-th equal part of send to rank r.
func (c *Comm) Alltoall(send, recv memory.Span) error { return c.blocking().alltoall(send, recv) }

// Exchange sends send[r] to each rank r and fills recv[r] with what r sends here. Each rank starts with the one after it.
func (c *Comm) Exchange(send, recv []memory.Span, tag int) error {
	n, me := c.Size(), c.rank
	var pending []*transport.Request
	for step := 1; step < n; step++ {
		if from := (me + n - step) % n; recv[from].Bytes() > 0 {
			pending = append(pending, c.group.Receive(transport.Messages, recv[from], from, tag, begin))
		}
	}
	for step := 1; step < n; step++ {
		if to := (me + step) % n; send[to].Bytes() > 0 {
			pending = append(pending, c.group.Send(transport.Messages, send[to], to, tag, begin))
		}
	}
	memory.Copy(recv[me], send[me])
	return all(pending...)
}
