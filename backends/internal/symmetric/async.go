package symmetric

import (
	"dtl/backends/internal/requests"
	"dtl/core/backend"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// The collectives that do not block take the steps of those that do, on a channel of their own.

// start takes the steps as far as they go now.
func (l *collective) start() (backend.Request, error) { return l.run(begin).Keep(), nil }

// Ibarrier starts a barrier.
func (c *Comm) Ibarrier() (backend.Request, error) {
	return c.nonblocking(memory.Span{}, memory.Span{}).barrier().start()
}

// Ibroadcast starts a broadcast.
func (c *Comm) Ibroadcast(buf memory.Span, root int) (backend.Request, error) {
	return c.nonblocking(buf, memory.Span{}).broadcast(buf, root).start()
}

// Igather starts a gather.
func (c *Comm) Igather(send, recv memory.Span, root int) (backend.Request, error) {
	return c.nonblocking(send, recv).gather(send, recv, root).start()
}

// Iallgather starts an allgather.
func (c *Comm) Iallgather(send, recv memory.Span) (backend.Request, error) {
	return c.nonblocking(send, recv).allgather(send, recv).start()
}

// Iallreduce starts an allreduce.
func (c *Comm) Iallreduce(send, recv memory.Span, op kernel.Op) (backend.Request, error) {
	if err := op.Check(send.Type); err != nil {
		return nil, err // the same on every rank
	}
	if c.Size() == 1 {
		return requests.Finished{}, alone(send, recv, op)
	}
	return c.nonblocking(send, recv).allreduce(send, recv, op).start()
}
