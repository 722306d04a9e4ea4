package cpu

import (
	"strconv"

	"dtl/core/backend"
	"dtl/core/memory"
)

// Send copies buf and returns.
func (c *Comm) Send(buf memory.Span, dest, tag int) error {
	if dest != backend.ProcNull {
		c.group.inboxes[dest].deliver(memory.As[byte](buf.Raw()), c.rank, tag)
	}
	return nil
}

// Isend is Send: the request is complete.
func (c *Comm) Isend(buf memory.Span, dest, tag int) (backend.Request, error) {
	return finished{}, c.Send(buf, dest, tag)
}

// Recv fills the front of buf with a message.
func (c *Comm) Recv(buf memory.Span, source, tag int) (backend.Status, error) {
	r, err := c.Irecv(buf, source, tag)
	if err != nil {
		return backend.Status{}, err
	}
	return r.Wait()
}

// Irecv starts a receive.
func (c *Comm) Irecv(buf memory.Span, source, tag int) (backend.Request, error) {
	if source == backend.ProcNull {
		return finished{fromNobody}, nil
	}
	return c.group.inboxes[c.rank].post(buf, source, tag, c.Size() == 1), nil
}

// Probe waits for a message without receiving it.
func (c *Comm) Probe(source, tag int) (backend.Status, error) {
	if source == backend.ProcNull {
		return fromNobody, nil
	}
	in := &c.group.inboxes[c.rank]
	in.mu.Lock()
	defer in.mu.Unlock()
	for {
		if i := in.find(source, tag); i >= 0 {
			return in.arrived[i].status(), nil
		}
		if c.Size() == 1 {
			return backend.Status{}, nobodySends(source, tag)
		}
		in.changed.Wait()
	}
}

// Iprobe reports whether such a message is there.
func (c *Comm) Iprobe(source, tag int) (backend.Status, bool, error) {
	if source == backend.ProcNull {
		return fromNobody, true, nil
	}
	in := &c.group.inboxes[c.rank]
	in.mu.Lock()
	defer in.mu.Unlock()
	if i := in.find(source, tag); i >= 0 {
		return in.arrived[i].status(), true, nil
	}
	return backend.Status{}, false, nil
}

// fromNobody is the status of a receive from the null process.
var fromNobody = backend.Status{Source: backend.ProcNull, Tag: backend.AnyTag}

// finished is an operation that was complete when it started.
type finished struct{ status backend.Status }

var _ backend.Request = finished{}

// Wait returns at once.
func (f finished) Wait() (backend.Status, error) { return f.status, nil }

// Test returns true.
func (f finished) Test() (backend.Status, bool, error) { return f.status, true, nil }

// wildcard spells a source or tag for a message.
func wildcard(n, anyOf int) string {
	if n == anyOf {
		return "any"
	}
	return strconv.Itoa(n)
}
