package comm

import (
	"errors"
	"slices"

	"dtl/core/backend"
	"dtl/core/comm/agreement"
	"dtl/core/comm/wire"
	"dtl/core/memory"
	"dtl/core/status"
)

// Send sends value with its shape, type and kind to dest. Short messages are one message of the backend;
// longer ones are a header, and the elements by themselves, which dest copies from where they lie. It returns when value may be
// used again, which for long ones is when dest receives it. ProcNull sends to nobody. A long one may be in memory of a device that
// the backend's messages reach.
func (c *Comm) Send(value Array, dest, tag int64) error {
	return status.In("send", c.send(value, dest, tag))
}

func (c *Comm) send(value Array, dest, tag int64) error {
	if err := c.checkSend(&value, dest, tag); err != nil || dest == backend.ProcNull {
		return err
	}
	b, err := c.sendBuffer(dest)
	if err != nil {
		return err
	}
	h, first := c.pack(b, value, dest)
	within := begun()
	if h.Apart {
		within = 0 // both are to be under way
	}
	r, err := c.main.SendFor(first, int(dest), int(tag), within)
	switch {
	case h.Offer:
		err = c.endOffer(h, value.Span, err, dest, tag)
	case err == nil && h.Apart:
		err = c.sendApart(value.Raw(), int(dest), c.payloadTag(h), tag)
	}
	if r != nil && dest == int64(c.rank) && !h.Apart {
		c.leaveUnderWay(r, b)
		return err
	}
	if r != nil {
		if _, e := c.await(r, waiting("send", "dest", dest, tag)); e != nil {
			return e // the buffer stays with the operation
		}
	}
	c.scratch.put(b)
	return err
}

// sendApart sends the elements of a message with the given tag.
func (c *Comm) sendApart(raw memory.Span, dest, payloadTag int, tag int64) error {
	r, err := c.payload.SendFor(raw, dest, payloadTag, begun())
	if r != nil {
		_, e := c.await(r, waiting("send", "dest", int64(dest), tag))
		err = errorOr(err, e)
	}
	return err
}

// pack puts value's header in b, and its elements where they fit, and returns what is to be sent first. Where they do not
// fit they are offered to dest, if it can copy them.
func (c *Comm) pack(b *memory.Storage, value Array, dest int64) (wire.Header, memory.Span) {
	h := headerOf(value)
	raw := bytesAt(b.Addr(), eager)
	n := h.Size() + value.Bytes()
	if n > eager {
		h.Apart, n = true, h.Size()
		if value.Place == memory.Host {
			h.Number, h.Offer = c.offer(value.Span, dest)
		}
		if !h.Offer {
			h.Number = c.seq.Add(1)
		}
	}
	h.Put(raw)
	if !h.Apart {
		copy(raw[h.Size():], bytesAt(value.Addr, value.Bytes()))
	}
	return h, span(b, n)
}

// payloadTag pairs a payload with its header: the backend keeps order only among messages of one tag, and
// two threads may receive at once.
func (c *Comm) payloadTag(h wire.Header) int { return c.numberTag(h.Number) }

// numberTag returns the tag of a payload whose sender gave it a number. So a payload can only be taken for another if as many
// numbers lie between them as there are tags, which are 32768 or more.
func (c *Comm) numberTag(number uint32) int { return int(number) % (c.payload.TagBound() - lanes) }

// checkSend refuses what cannot be sent.
func (c *Comm) checkSend(value *Array, dest, tag int64) error {
	if err := c.checkPeer("dest", dest, tag); err != nil {
		return err
	}
	return checkArray("value", value)
}

// checkPeer refuses a rank or tag that no message can have. Wildcards are the receiver's to allow.
func (c *Comm) checkPeer(name string, rank, tag int64) error {
	if rank != backend.ProcNull {
		if err := c.checkRank(name, rank); err != nil {
			return err
		}
	}
	if tag < 0 || tag >= int64(c.main.TagBound()) {
		return status.New(status.OutOfBounds, "tag %d outside [0, %d)", tag, c.main.TagBound())
	}
	return nil
}

// Isend starts what Send does. value's elements stay as they are until the request is over.
func (c *Comm) Isend(value Array, dest, tag int64) (*Request, error) {
	return c.begin("isend", &sends{comm: c, value: value, dest: dest, tag: tag}, agreement.Start{})
}

// SendInit makes a request that does what Isend does each time it is started, with what value then holds.
func (c *Comm) SendInit(value Array, dest, tag int64) (*Request, error) {
	const name = "send_init"
	if err := c.checkSend(&value, dest, tag); err != nil {
		return nil, status.In(name, err)
	}
	value.Shape = slices.Clone(value.Shape)
	return &Request{comm: c, name: name, task: &sends{comm: c, value: value, dest: dest, tag: tag}}, nil
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
	b, err := c.sendBuffer(dest)
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

// sends is a send as a task.
type sends struct {
	comm      *Comm
	value     Array // whose shape is read only when it begins
	dest, tag int64
	sending
	at     int // in the operations of the backend
	failed error
}

func (s *sends) begin() (backend.Request, error) {
	var err error
	if s.sending, err = s.comm.startSend(s.value, s.dest, s.tag); err != nil {
		return nil, err
	}
	if s.dest == int64(s.comm.rank) && s.requests[0] != nil && s.requests[1] == nil {
		s.comm.leaveUnderWay(s.requests[0], s.buffer)
		s.requests[0], s.buffer = nil, nil
	}
	s.at, s.failed = 0, nil
	return s.next(backend.Status{}, nil)
}

func (s *sends) next(_ backend.Status, err error) (backend.Request, error) {
	s.failed = errors.Join(s.failed, err)
	for s.at < len(s.requests) {
		s.at++
		if r := s.requests[s.at-1]; r != nil {
			return r, nil
		}
	}
	if s.buffer != nil {
		s.comm.scratch.put(s.buffer)
		s.buffer = nil
	}
	return nil, s.failed
}

func (s *sends) result() Result { return Result{} }

func (s *sends) more() bool { return false }

func (s *sends) awaits() awaited { return waiting("isend", "dest", s.dest, s.tag) }
