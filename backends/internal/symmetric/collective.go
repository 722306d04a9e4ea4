package symmetric

import (
	"errors"

	"dtl/backends/internal/symmetric/transport"
	"dtl/core/memory"
)

// The library's own collectives want symmetric buffers and a set of processes with a stride, and would wait inside the
// library, where nobody moves the messages that others wait for. So these are made of messages.

// barrier is by dissemination: after round k each rank knows of the 2^k before it.
func (l *collective) barrier() *collective {
	n, none := l.Size(), memory.Span{}
	for distance := 1; distance < n; distance *= 2 {
		l.Send(none, (l.rank+distance)%n)
		l.Receive(none, (l.rank+n-distance)%n)
		l.Await()
	}
	return l
}

// broadcast goes down a binomial tree whose ranks count from root.
func (l *collective) broadcast(buf memory.Span, root int) *collective {
	n := l.Size()
	place := (l.rank + n - root) % n
	mask := 1
	for ; mask < n && place&mask == 0; mask *= 2 {
	}
	if place != 0 {
		l.Receive(buf, (place-mask+root)%n)
		l.Await()
	}
	for mask /= 2; mask > 0; mask /= 2 {
		if place+mask < n {
			l.Send(buf, (place+mask+root)%n)
		}
	}
	return l
}

func (l *collective) gather(send, recv memory.Span, root int) *collective {
	if l.rank != root {
		l.Send(send, root)
		return l
	}
	for rank := range l.Size() {
		if rank != root {
			l.Receive(partOf(recv, rank, send.Count), rank)
		}
	}
	l.Copy(partOf(recv, root, send.Count), send)
	return l
}

func (l *collective) scatter(send, recv memory.Span, root int) *collective {
	if l.rank != root {
		l.Receive(recv, root)
		return l
	}
	for rank := range l.Size() {
		if rank != root {
			l.Send(partOf(send, rank, recv.Count), rank)
		}
	}
	l.Copy(recv, partOf(send, root, recv.Count))
	return l
}

func (l *collective) allgather(send, recv memory.Span) *collective {
	mine := partOf(recv, l.rank, send.Count)
	if l.Size() == 2 { // which sends from where the elements are, and copies them meanwhile
		l.Send(send, 1-l.rank)
		l.Receive(partOf(recv, 1-l.rank, send.Count), 1-l.rank)
		l.Copy(mine, send)
		return l
	}
	l.Copy(mine, send)
	return l.circulate(func(rank int) memory.Span { return partOf(recv, rank, send.Count) })
}

// circulate sends each rank's part round a ring until all have all.
func (l *collective) circulate(part func(rank int) memory.Span) *collective {
	n := l.Size()
	for step := range n - 1 {
		l.Send(part((l.rank+n-step)%n), (l.rank+1)%n)
		l.Receive(part((l.rank+n-step-1)%n), (l.rank+n-1)%n)
		l.Await()
	}
	return l
}

func (l *collective) alltoall(send, recv memory.Span) *collective {
	n, count := l.Size(), send.Count/l.Size()
	for step := 1; step < n; step++ {
		to, from := (l.rank+step)%n, (l.rank+n-step)%n
		l.Send(partOf(send, to, count), to)
		l.Receive(partOf(recv, from, count), from)
	}
	l.Copy(partOf(recv, l.rank, count), partOf(send, l.rank, count))
	return l
}

// Barrier returns when every rank has called it.
func (c *Comm) Barrier() error { return c.blocking(memory.Span{}, memory.Span{}).barrier().all() }

// Broadcast copies root's buf to every other rank's.
func (c *Comm) Broadcast(buf memory.Span, root int) error {
	return c.blocking(buf, memory.Span{}).broadcast(buf, root).all()
}

// Gather concatenates every rank's send in root's recv.
func (c *Comm) Gather(send, recv memory.Span, root int) error {
	return c.blocking(send, recv).gather(send, recv, root).all()
}

// Scatter gives rank r the r-th equal part of root's send.
func (c *Comm) Scatter(send, recv memory.Span, root int) error {
	return c.blocking(send, recv).scatter(send, recv, root).all()
}

// Allgather concatenates every rank's send in every rank's recv.
func (c *Comm) Allgather(send, recv memory.Span) error {
	return c.blocking(send, recv).allgather(send, recv).all()
}

// Alltoall sends the r-th equal part of send to rank r.
func (c *Comm) Alltoall(send, recv memory.Span) error {
	return c.blocking(send, recv).alltoall(send, recv).all()
}

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
	var failed error
	for _, r := range pending {
		_, err := r.Wait()
		failed = errors.Join(failed, err)
	}
	return failed
}
