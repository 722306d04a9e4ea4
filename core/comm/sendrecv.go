package comm

import (
	"errors"

	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/status"
)

// Sendrecv sends value to dest and receives from source at once, so that ranks may exchange without a
// deadlock whatever the lengths. Either peer may be ProcNull. The rest is as for Send and Recv.
func (c *Comm) Sendrecv(value Array, dest, sendTag int64, out *Array, source, recvTag int64) (Result, error) {
	r, err := c.sendrecv(value, dest, sendTag, out, source, recvTag)
	return r, status.In("sendrecv", err)
}

func (c *Comm) sendrecv(value Array, dest, sendTag int64, out *Array, source, recvTag int64) (Result, error) {
	if err := c.checkSource(source, recvTag); err != nil {
		return Result{}, err
	}
	s, err := c.startSend(value, dest, sendTag)
	if err != nil {
		return Result{}, err
	}
	r, err := c.recv(out, Want{}, source, recvTag)
	if e := s.wait(); e != nil && err == nil {
		r.release()
		return Result{}, e
	}
	return r, err
}

// sending is a send under way.
type sending struct {
	comm     *Comm
	buffer   *memory.Storage // of the header
	requests [2]backend.Request
	dest     int64
	tag      int64
}

// startSend starts what send does, without waiting for the receiver.
func (c *Comm) startSend(value Array, dest, tag int64) (sending, error) {
	if err := c.checkSend(&value, dest, tag); err != nil || dest == backend.ProcNull {
		return sending{}, err
	}
	b, err := c.scratch.get()
	if err != nil {
		return sending{}, err
	}
	s := sending{comm: c, buffer: b, dest: dest, tag: tag}
	h, first := c.pack(b, value, dest)
	if s.requests[0], err = c.main.Isend(first, int(dest), int(tag)); err != nil {
		c.scratch.put(b)
		if h.Offer {
			c.offering(h, value.Span).withdraw()
		}
		return sending{}, err
	}
	switch {
	case h.Offer:
		s.requests[1] = c.offering(h, value.Span)
	case h.Apart:
		if s.requests[1], err = c.payload.Isend(value.Raw(), int(dest), c.payloadTag(h)); err != nil {
			return sending{}, errors.Join(err, s.wait())
		}
	}
	return s, nil
}

// wait returns when value may be used again.
func (s *sending) wait() error {
	var first error
	for _, r := range s.requests {
		if r == nil {
			continue
		}
		_, err := s.comm.await(r, waiting("sendrecv", "dest", s.dest, s.tag))
		if o, ok := r.(*offering); ok && err != nil {
			o.withdraw()
		}
		if first == nil {
			first = err
		}
	}
	if s.buffer != nil && first == nil { // else it stays with the operation
		s.comm.scratch.put(s.buffer)
	}
	return first
}
