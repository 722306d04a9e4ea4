package comm

import (
	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/memory"
)

// lanes are the tags of the payload communicator that no message from Send uses: messages there have no header, for
// both sides know their length.
const lanes = 67

// The lanes on which nothing is sent, and on which ranks that share no memory meet, and tell each other what they do.
const (
	idleLane = lanes - 1 - iota
	meetingLane
	noticeLane
)

// lane returns the tag of a lane in [0, lanes).
func (c *Comm) lane(n int) int { return c.payload.TagBound() - 1 - n }

// Memory returns where results come from.
func (c *Comm) Memory() memory.Allocator { return c.memory }

// StartSend starts a bare message on a lane, which the receiver knows the length of. buf is no memory of the Go heap,
// and stays until the request is complete.
func (c *Comm) StartSend(buf memory.Span, dest, lane int) (backend.Request, error) {
	return c.payload.Isend(buf.Raw(), dest, c.lane(lane))
}

// StartRecv starts receiving a bare message on a lane.
func (c *Comm) StartRecv(buf memory.Span, source, lane int) (backend.Request, error) {
	return c.payload.Irecv(buf.Raw(), source, c.lane(lane))
}

// Counts tells rank r the r-th of send, and returns what each rank told this one. Collective.
func (c *Comm) Counts(send []int64) ([]int64, error) {
	n := c.Size()
	storage, err := memory.NewStorage(c.memory, 16*n, alignment)
	if err != nil {
		return nil, err
	}
	defer storage.Release()
	both := memory.Span{Addr: storage.Addr(), Count: 2 * n, Type: dtype.Int64}
	copy(memory.As[int64](both), send)
	if err := c.inTurn("alltoall", func() error {
		return c.alltoall(both.Slice(0, n), both.Slice(n, 2*n), nil)
	}); err != nil {
		return nil, err
	}
	recv := make([]int64, n)
	copy(recv, memory.As[int64](both)[n:])
	return recv, nil
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
