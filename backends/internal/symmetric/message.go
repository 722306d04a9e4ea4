package symmetric

import (
	"time"

	"dtl/backends/internal/requests"
	"dtl/backends/internal/symmetric/transport"
	"dtl/core/backend"
	"dtl/core/memory"
)

// isend starts a send on a channel.
func (c *Comm) isend(channel uint32, buf memory.Span, dest, tag int) *transport.Request {
	return c.world.engine.Send(channel, buf, c.members[dest], tag)
}

// irecv starts a receive on a channel.
func (c *Comm) irecv(channel uint32, buf memory.Span, source, tag int) *transport.Request {
	return c.world.engine.Receive(channel, c.ranks, buf, c.source(source), tag)
}

// source returns the process of a rank, or backend.AnySource.
func (c *Comm) source(rank int) int {
	if rank == backend.AnySource {
		return rank
	}
	return c.members[rank]
}

// SendFor sends, and waits at most about patience until buf may be used again.
func (c *Comm) SendFor(buf memory.Span, dest, tag int, patience time.Duration) (backend.Request, error) {
	if dest == backend.ProcNull {
		return nil, nil
	}
	r := c.isend(c.messages(), buf, dest, tag)
	if _, done, err := r.WaitFor(patience); done {
		return nil, err
	}
	return r, nil
}

// RecvFor fills the front of buf with a message, and waits for one at most about patience.
func (c *Comm) RecvFor(buf memory.Span, source, tag int, patience time.Duration) (backend.Status, backend.Request, error) {
	if source == backend.ProcNull {
		return requests.FromNobody.Status, nil, nil
	}
	r := c.irecv(c.messages(), buf, source, tag)
	if s, done, err := r.WaitFor(patience); done {
		return s, nil, err
	}
	return backend.Status{}, r, nil
}

// Isend starts a send.
func (c *Comm) Isend(buf memory.Span, dest, tag int) (backend.Request, error) {
	if dest == backend.ProcNull {
		return requests.Finished{}, nil
	}
	return c.isend(c.messages(), buf, dest, tag), nil
}

// Irecv starts a receive.
func (c *Comm) Irecv(buf memory.Span, source, tag int) (backend.Request, error) {
	if source == backend.ProcNull {
		return requests.FromNobody, nil
	}
	return c.irecv(c.messages(), buf, source, tag), nil
}

// TryRecv receives a message that is there already. For the elements of a long one it waits until the sender, who has
// announced it, sends them.
func (c *Comm) TryRecv(buf memory.Span, source, tag int) (backend.Status, bool, error) {
	if source == backend.ProcNull {
		return requests.FromNobody.Status, true, nil
	}
	r, found := c.world.engine.TryReceive(c.messages(), c.ranks, buf, c.source(source), tag)
	if !found {
		return backend.Status{}, false, nil
	}
	s, err := r.Wait()
	return s, true, err
}
