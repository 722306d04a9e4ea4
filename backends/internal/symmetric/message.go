package symmetric

import (
	"time"

	"dtl/backends/internal/requests"
	"dtl/backends/internal/symmetric/transport"
	"dtl/core/backend"
	"dtl/core/memory"
)

// begin is the patience of what is only started.
const begin = time.Duration(-1)

// SendFor sends, and waits at most about patience until buf may be used again.
func (c *Comm) SendFor(buf memory.Span, dest, tag int, patience time.Duration) (backend.Request, error) {
	if dest == backend.ProcNull {
		return nil, nil
	}
	r := c.group.Send(transport.Messages, buf, dest, tag, patience)
	if _, done, err := r.Done(); done {
		return nil, err
	}
	return r.Keep(), nil
}

// RecvFor fills the front of buf with a message, and waits for one at most about patience.
func (c *Comm) RecvFor(buf memory.Span, source, tag int, patience time.Duration) (backend.Status, backend.Request, error) {
	if source == backend.ProcNull {
		return requests.FromNobody.Status, nil, nil
	}
	r := c.group.Receive(transport.Messages, buf, source, tag, patience)
	if s, done, err := r.Done(); done {
		return s, nil, err
	}
	return backend.Status{}, r.Keep(), nil
}

// Isend starts a send.
func (c *Comm) Isend(buf memory.Span, dest, tag int) (backend.Request, error) {
	if dest == backend.ProcNull {
		return requests.Finished{}, nil
	}
	return c.group.Send(transport.Messages, buf, dest, tag, begin).Keep(), nil
}

// Irecv starts a receive.
func (c *Comm) Irecv(buf memory.Span, source, tag int) (backend.Request, error) {
	if source == backend.ProcNull {
		return requests.FromNobody, nil
	}
	return c.group.Receive(transport.Messages, buf, source, tag, begin).Keep(), nil
}

// TryRecv receives a message that is there already. For the elements of a long one it waits until the sender, who has
// announced it, sends them.
func (c *Comm) TryRecv(buf memory.Span, source, tag int) (backend.Status, bool, error) {
	if source == backend.ProcNull {
		return requests.FromNobody.Status, true, nil
	}
	r, found := c.group.TryReceive(buf, source, tag)
	if !found {
		return backend.Status{}, false, nil
	}
	s, err := r.Wait()
	return s, true, err
}

// Direct returns the functions of short messages.
func (c *Comm) Direct() backend.Direct { return c.group.Direct() }

// Adopt returns the request of a send that was started by Direct's SendFor.
func (c *Comm) Adopt(native uint64) backend.Request { return c.group.Adopt(native) }

// Failure returns the error of Direct's SendFor.
func (c *Comm) Failure(rc int) error { return c.group.Failure(rc) }
