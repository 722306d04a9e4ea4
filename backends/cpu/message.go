package cpu

import (
	"strconv"
	"time"

	"dtl/backends/internal/requests"
	"dtl/core/backend"
	"dtl/core/memory"
)

// SendFor copies buf and returns.
func (c *Comm) SendFor(buf memory.Span, dest, tag int, _ time.Duration) (backend.Request, error) {
	if dest != backend.ProcNull {
		c.group.queues[dest].deliver(memory.As[byte](buf.Raw()), c.rank, tag)
	}
	return nil, nil
}

// Isend is SendFor: the request is complete.
func (c *Comm) Isend(buf memory.Span, dest, tag int) (backend.Request, error) {
	_, err := c.SendFor(buf, dest, tag, 0)
	return requests.Finished{}, err
}

// RecvFor fills the front of buf with a message.
func (c *Comm) RecvFor(buf memory.Span, source, tag int, patience time.Duration) (backend.Status, backend.Request, error) {
	r, err := c.Irecv(buf, source, tag)
	if err != nil {
		return backend.Status{}, nil, err
	}
	s, done, err := r.WaitFor(patience)
	if !done {
		return backend.Status{}, r, nil
	}
	return s, nil, err
}

// Irecv starts a receive.
func (c *Comm) Irecv(buf memory.Span, source, tag int) (backend.Request, error) {
	if source == backend.ProcNull {
		return requests.FromNobody, nil
	}
	return c.group.queues[c.rank].post(buf, source, tag, c.Size() == 1), nil
}

// TryRecv receives a message that is there already.
func (c *Comm) TryRecv(buf memory.Span, source, tag int) (backend.Status, bool, error) {
	if source == backend.ProcNull {
		return requests.FromNobody.Status, true, nil
	}
	in := &c.group.queues[c.rank]
	r := request{in: in, buf: buf, source: source, tag: tag}
	found := in.try(&r)
	return r.status, found, r.err
}

// wildcard spells a source or tag for a message.
func wildcard(n, anyOf int) string {
	if n == anyOf {
		return "any"
	}
	return strconv.Itoa(n)
}
