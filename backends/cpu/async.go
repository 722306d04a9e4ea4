package cpu

import (
	"dtl/backends/internal/requests"
	"dtl/core/backend"
	"dtl/core/kernel"
	"dtl/core/memory"
)

var _ backend.AsyncCommunicator = (*Comm)(nil)

// The collectives that do not block are those that do, made on a group of their own by a goroutine for each rank that
// has some to make.

// beside returns the group of the collectives that do not block.
func (g *group) beside() *group {
	g.once.Do(func() { g.async = newGroup(len(g.queues)) })
	return g.async
}

// start makes a call that waits for the other ranks, without waiting for it.
func (c *Comm) start(call func(c *Comm) error) (backend.Request, error) {
	if c.Size() == 1 {
		return requests.Finished{}, call(c)
	}
	on := &Comm{group: c.group.beside(), rank: c.rank}
	return c.group.lines[c.rank].Start(func() error { return call(on) }), nil
}

// Ibarrier starts a barrier.
func (c *Comm) Ibarrier() (backend.Request, error) { return c.start((*Comm).Barrier) }

// Ibroadcast starts a broadcast.
func (c *Comm) Ibroadcast(buf memory.Span, root int) (backend.Request, error) {
	return c.start(func(c *Comm) error { return c.Broadcast(buf, root) })
}

// Igather starts a gather.
func (c *Comm) Igather(send, recv memory.Span, root int) (backend.Request, error) {
	return c.start(func(c *Comm) error { return c.Gather(send, recv, root) })
}

// Iallgather starts an allgather.
func (c *Comm) Iallgather(send, recv memory.Span) (backend.Request, error) {
	return c.start(func(c *Comm) error { return c.Allgather(send, recv) })
}

// Iallreduce starts an allreduce.
func (c *Comm) Iallreduce(send, recv memory.Span, op kernel.Op) (backend.Request, error) {
	if err := op.Check(send.Type); err != nil {
		return nil, err // the same on every rank
	}
	return c.start(func(c *Comm) error { return c.Allreduce(send, recv, op) })
}
