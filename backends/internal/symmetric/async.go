package symmetric

import (
	"dtl/core/backend"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// The collectives that do not block are those that do, on a channel of their own, made by a goroutine.

func (c *Comm) start(call func(l channel) error) (backend.Request, error) {
	return c.line.Start(func() error { return call(c.nonblocking()) }), nil
}

// Ibarrier starts a barrier.
func (c *Comm) Ibarrier() (backend.Request, error) { return c.start(channel.barrier) }

// Ibroadcast starts a broadcast.
func (c *Comm) Ibroadcast(buf memory.Span, root int) (backend.Request, error) {
	return c.start(func(l channel) error { return l.broadcast(buf, root) })
}

// Igather starts a gather.
func (c *Comm) Igather(send, recv memory.Span, root int) (backend.Request, error) {
	return c.start(func(l channel) error { return l.gather(send, recv, root) })
}

// Iallgather starts an allgather.
func (c *Comm) Iallgather(send, recv memory.Span) (backend.Request, error) {
	return c.start(func(l channel) error { return l.allgather(send, recv) })
}

// Iallreduce starts an allreduce.
func (c *Comm) Iallreduce(send, recv memory.Span, op kernel.Op) (backend.Request, error) {
	if err := op.Check(send.Type); err != nil {
		return nil, err // the same on every rank
	}
	return c.start(func(l channel) error { return l.allreduce(send, recv, op) })
}
