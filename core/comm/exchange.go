package comm

import (
	"errors"

	"dtl/core/backend"
	"dtl/core/memory"
)

// lanes are the tags of the payload communicator that no message from Send uses: messages there have no header, for
// both sides know their length. MPI has 32768 tags or more, of which most are left for payloads.
const lanes = 4200

// The lanes on which nothing is sent, and on which ranks that share no memory meet, and tell each other what they do.
const (
	idleLane = lanes - 1 - iota
	meetingLane
	explainLane
	treeLane
	recordLane
	noticeLane
)

// lane returns the tag of a lane in [0, lanes).
func (c *Comm) lane(n int) int { return c.payload.TagBound() - 1 - n }

// StartSend starts a bare message on a lane, which the receiver knows the length of. buf is no memory of the Go heap,
// and stays until the request is complete.
func (c *Comm) StartSend(buf memory.Span, dest, lane int) (backend.Request, error) {
	return c.payload.Isend(buf.Raw(), dest, c.lane(lane))
}

// StartRecv starts receiving a bare message on a lane.
func (c *Comm) StartRecv(buf memory.Span, source, lane int) (backend.Request, error) {
	return c.payload.Irecv(buf.Raw(), source, c.lane(lane))
}

// Exchange sends send[r] to each rank r, and fills recv[r] with what it sends here, whose length the caller knows.
// What is this rank's own is copied. Spans without elements are not sent. Collective among those that exchange.
func (c *Comm) Exchange(send, recv []memory.Span) error {
	return c.blocking(func() error { return c.payload.Exchange(send, recv, c.lane(0)) })
}

// Await waits for a request of StartSend or StartRecv.
func (c *Comm) Await(r backend.Request) (backend.Status, error) {
	return c.await(r, named("an exchange of elements"))
}

// Bundle is bare messages on lanes that are under way together.
type Bundle struct {
	comm    *Comm
	pending []backend.Request
	failed  error
}

// NewBundle returns one of no messages.
func (c *Comm) NewBundle() *Bundle { return &Bundle{comm: c} }

// Recv starts receiving into a span, as StartRecv does.
func (b *Bundle) Recv(into memory.Span, source, lane int) {
	b.add(b.comm.StartRecv(into, source, lane))
}

// Send starts sending a span, as StartSend does.
func (b *Bundle) Send(from memory.Span, dest, lane int) { b.add(b.comm.StartSend(from, dest, lane)) }

func (b *Bundle) add(r backend.Request, err error) {
	if err != nil {
		b.failed = errors.Join(b.failed, err)
	} else {
		b.pending = append(b.pending, r)
	}
}

// Wait waits for every message, and returns the errors of those that failed or have not started.
func (b *Bundle) Wait() error {
	for _, r := range b.pending {
		if _, err := b.comm.Await(r); err != nil {
			b.failed = errors.Join(b.failed, err)
		}
	}
	b.pending = nil
	return b.failed
}
