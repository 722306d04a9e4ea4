package shmem

import (
	"time"

	"dtl/backends/internal/requests"
	"dtl/core/backend"
	"dtl/core/memory"
)

// isend starts a send on a channel.
func (c *Comm) isend(channel uint32, buf memory.Span, dest, tag int) *request {
	w, to := c.world, c.members[dest]
	r := &request{comm: c, buf: buf}
	h := header{kind: message, channel: channel, tag: int32(tag), bytes: uint64(buf.Bytes())}
	w.lock()
	defer w.mu.Unlock()
	if buf.Bytes() <= w.mail.short() {
		h.size = uint32(buf.Bytes())
		w.send(to, &outgoing{header: h, data: buf.Addr, request: r})
		return r
	}
	h.kind, h.id = announce, w.number()
	w.sends[h.id] = r
	w.send(to, &outgoing{header: h})
	return r
}

// irecv starts a receive on a channel.
func (c *Comm) irecv(channel uint32, buf memory.Span, source, tag int) *request {
	w := c.world
	w.lock()
	defer w.mu.Unlock()
	r := c.receive(channel, buf, source, tag)
	if !r.in.take(w, r) {
		r.in.posted = append(r.in.posted, r)
	}
	return r
}

// receive returns a receive that nobody knows yet. The caller holds the lock.
func (c *Comm) receive(channel uint32, buf memory.Span, source, tag int) *request {
	from := backend.AnySource
	if source != backend.AnySource {
		from = c.members[source]
	}
	return &request{comm: c, buf: buf, in: c.world.inbox(channel), source: from, tag: tag}
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
	r, found := c.tryRecv(buf, source, tag)
	if !found {
		return backend.Status{}, false, nil
	}
	s, err := r.Wait()
	return s, true, err
}

func (c *Comm) tryRecv(buf memory.Span, source, tag int) (*request, bool) {
	w := c.world
	w.lock()
	defer w.mu.Unlock()
	w.turn()
	r := c.receive(c.messages(), buf, source, tag)
	return r, r.in.take(w, r)
}
