package comm

import (
	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/status"
)

// Send sends value with its shape, type and kind to dest. Short messages are one message of the backend;
// longer ones are a header, and the elements by themselves without a copy. It returns when value may be
// used again, which for long ones is when dest receives it. ProcNull sends to nobody.
func (c *Comm) Send(value Array, dest, tag int64) error {
	return status.In("send", c.send(value, dest, tag))
}

func (c *Comm) send(value Array, dest, tag int64) error {
	if err := c.checkPeer("dest", dest, tag); err != nil {
		return err
	}
	if err := checkArray("value", &value); err != nil {
		return err
	}
	if dest == backend.ProcNull {
		return nil
	}
	b, err := c.scratch.get()
	if err != nil {
		return err
	}
	defer c.scratch.put(b)
	h, first := c.pack(b, value)
	if err := c.main.Send(first, int(dest), int(tag)); err != nil || !h.apart {
		return err
	}
	return c.payload.Send(value.Raw(), int(dest), c.payloadTag(h))
}

// pack puts value's header in b, and its elements where they fit, and returns what is to be sent first.
func (c *Comm) pack(b *memory.Storage, value Array) (header, memory.Span) {
	h := headerOf(value)
	raw := bytesAt(b.Addr(), eager)
	n := h.size() + value.Bytes()
	if n > eager {
		h.apart, h.seq, n = true, c.seq.Add(1), h.size()
	}
	h.put(raw)
	if !h.apart {
		copy(raw[h.size():], bytesAt(value.Addr, value.Bytes()))
	}
	return h, span(b, n)
}

// payloadTag pairs a payload with its header: the backend keeps order only among messages of one tag, and
// two threads may receive at once.
func (c *Comm) payloadTag(h header) int { return int(h.seq) % (c.payload.TagBound() - lanes) }

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

// checkSource is checkPeer with the wildcards allowed.
func (c *Comm) checkSource(source, tag int64) error {
	if source == backend.AnySource {
		source = backend.ProcNull
	}
	if tag == backend.AnyTag {
		tag = 0
	}
	return c.checkPeer("source", source, tag)
}

// Recv receives a message from source with the given tag, either of which may be a wildcard. It goes to
// out where that is given, else to the result. A message that does not fit what the caller stated, in out
// or want, is an error that says both, and stays there to be received. From ProcNull comes nothing.
func (c *Comm) Recv(out *Array, want Want, source, tag int64) (Result, error) {
	r, err := c.recv(out, want, source, tag)
	return r, status.In("recv", err)
}

func (c *Comm) recv(out *Array, want Want, source, tag int64) (Result, error) {
	if err := c.checkSource(source, tag); err != nil {
		return Result{}, err
	}
	if want.Count < 0 {
		return Result{}, status.New(status.InvalidArgument, "count %d is negative", want.Count)
	}
	if source == backend.ProcNull {
		return Result{}, nil
	}
	m, err := c.first(int(source), int(tag))
	if err != nil {
		return Result{}, err
	}
	return c.unpack(m, out, want)
}

// first returns the first message that matches: one that was parked, else one from the backend.
func (c *Comm) first(source, tag int) (envelope, error) {
	if m, ok := c.parked.take(source, tag); ok {
		return m, nil
	}
	b, err := c.scratch.get()
	if err != nil {
		return envelope{}, err
	}
	st, err := c.main.Recv(span(b, eager), source, tag)
	if err != nil {
		c.scratch.put(b)
		return envelope{}, err
	}
	return envelope{buffer: b, status: st}, nil
}

// unpack takes the message out of its envelope, or parks the envelope where the message does not fit.
func (c *Comm) unpack(m envelope, out *Array, want Want) (Result, error) {
	raw := bytesAt(m.buffer.Addr(), m.status.Bytes)
	h, err := parseHeader(raw)
	if err != nil {
		c.scratch.put(m.buffer)
		return Result{}, err
	}
	if err := want.check(h, out); err != nil {
		c.parked.put(m)
		return Result{}, err
	}
	r, err := c.room(h, out)
	if err != nil {
		c.parked.put(m)
		return Result{}, err
	}
	defer c.scratch.put(m.buffer)
	if !h.apart {
		copy(bytesAt(r.Addr, h.bytes()), raw[h.size():])
		return r, nil
	}
	if _, err := c.payload.Recv(r.Raw(), m.status.Source, c.payloadTag(h)); err != nil {
		r.release()
		return Result{}, err
	}
	return r, nil
}
