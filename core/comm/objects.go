package comm

import (
	"dtl/core/backend"
	"dtl/core/comm/wire"
	"dtl/core/memory"
	"dtl/core/status"
)

// Objects travel as bytes that the caller makes and understands: first those that describe the object, in a message of
// their own kind, then parts of any length, each by itself and without a copy. A ticket, which the first bytes carry,
// tells the parts of one object from those of another.

// SendObject sends the bytes that describe an object, as Send does.
func (c *Comm) SendObject(value Array, dest, tag int64) error {
	value.Kind = wire.Object
	return status.In("send_object", c.send(value, dest, tag))
}

// RecvObject receives the bytes that describe an object, as Recv does. A message that is no object is an error, and
// stays there to be received.
func (c *Comm) RecvObject(source, tag int64) (Result, error) {
	r, err := c.recv(nil, Expected{Object: true}, source, tag)
	r.Kind = wire.NDArray
	return r, status.In("recv_object", err)
}

// Ticket returns a number that no other payload from this rank has.
func (c *Comm) Ticket() int64 { return int64(c.seq.Add(1)) }

// SendPart sends a part of an object. It returns when the part may be used again.
func (c *Comm) SendPart(part memory.Span, dest, ticket int64) error {
	if err := c.checkRank("dest", dest); err != nil {
		return status.In("send_object", err)
	}
	return status.In("send_object", c.sendApart(part.Raw(), int(dest), c.ticketTag(ticket), 0))
}

// ticketTag is the payload's tag of all parts of an object.
func (c *Comm) ticketTag(ticket int64) int { return c.payloadTag(wire.Header{Number: uint32(ticket)}) }

// RecvPart fills a part of an object from the rank that gave the ticket.
func (c *Comm) RecvPart(part memory.Span, source, ticket int64) error {
	if err := c.checkRank("source", source); err != nil {
		return status.In("recv_object", err)
	}
	to := Result{Array: Array{Span: part}}
	return status.In("recv_object", c.recvApart(&to, backend.Status{Source: int(source)}, c.ticketTag(ticket)))
}
