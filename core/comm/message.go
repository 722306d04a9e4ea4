package comm

import (
	"fmt"
	"strconv"

	"dtl/core/backend"
	"dtl/core/comm/unexpected"
	"dtl/core/comm/wire"
	"dtl/core/memory"
	"dtl/core/status"
)

// Send sends value with its shape, type and kind to dest. Short messages are one message of the backend;
// longer ones are a header, and the elements by themselves, which dest copies from where they lie. It returns when value may be
// used again, which for long ones is when dest receives it. ProcNull sends to nobody.
func (c *Comm) Send(value Array, dest, tag int64) error {
	return status.In("send", c.send(value, dest, tag))
}

func (c *Comm) send(value Array, dest, tag int64) error {
	if err := c.checkSend(&value, dest, tag); err != nil || dest == backend.ProcNull {
		return err
	}
	b, err := c.scratch.get()
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

// waiting says what a message's rank waits for.
func waiting(op, name string, peer, tag int64) awaited {
	return awaited{peer: peer, call: func() string {
		return fmt.Sprintf("%s(%s %s, tag %s)", op, name, wildcard(peer, backend.AnySource), wildcard(tag, backend.AnyTag))
	}}
}

func wildcard(n, anyOf int64) string {
	if n == anyOf {
		return "any"
	}
	return strconv.FormatInt(n, 10)
}

// pack puts value's header in b, and its elements where they fit, and returns what is to be sent first. Where they do not
// fit they are offered to dest, if it can copy them.
func (c *Comm) pack(b *memory.Storage, value Array, dest int64) (wire.Header, memory.Span) {
	h := headerOf(value)
	raw := bytesAt(b.Addr(), eager)
	n := h.Size() + value.Bytes()
	if n > eager {
		h.Apart, n = true, h.Size()
		if h.Number, h.Offer = c.offer(value.Span, dest); !h.Offer {
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
func (c *Comm) payloadTag(h wire.Header) int { return int(h.Number) % (c.payload.TagBound() - lanes) }

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

// checkReceive refuses what no message can be.
func (c *Comm) checkReceive(want Want, source, tag int64) error {
	if want.Count < 0 {
		return status.New(status.InvalidArgument, "count %d is negative", want.Count)
	}
	return c.checkSource(source, tag)
}

// Recv receives a message from source with the given tag, either of which may be a wildcard. It goes to
// out where that is given, else to the result. A message that does not fit what the caller stated, in out
// or want, is an error that says both, and stays there to be received. From ProcNull comes nothing.
func (c *Comm) Recv(out *Array, want Want, source, tag int64) (Result, error) {
	r, err := c.recv(out, want, source, tag)
	return r, status.In("recv", err)
}

func (c *Comm) recv(out *Array, want Want, source, tag int64) (Result, error) {
	if err := c.checkReceive(want, source, tag); err != nil || source == backend.ProcNull {
		return Result{}, err
	}
	m, err := c.first("recv", source, tag)
	if err != nil {
		return Result{}, err
	}
	return c.unpack(m, out, want)
}

// first returns the first message that matches: one from the unexpected-message queue, else one from the backend.
func (c *Comm) first(op string, source, tag int64) (unexpected.Message, error) {
	if m, ok := c.unexpected.Take(int(source), int(tag)); ok {
		return m, nil
	}
	b, err := c.scratch.get()
	if err != nil {
		return unexpected.Message{}, err
	}
	st, r, err := c.main.RecvFor(span(b, eager), int(source), int(tag), begun())
	if r != nil {
		if st, err = c.await(r, waiting(op, "source", source, tag)); err != nil {
			return unexpected.Message{}, c.withdraw(r, b, err)
		}
	}
	if err != nil {
		c.scratch.put(b)
		return unexpected.Message{}, err
	}
	return unexpected.Message{Buffer: b, Status: st}, nil
}

// withdraw takes a receive into b back whose wait failed, and returns why. A message that comes in between is queued; a
// buffer that cannot be had back stays with the operation.
func (c *Comm) withdraw(r backend.Request, b *memory.Storage, why error) error {
	switch st, over := takeBack(r); {
	case over && st.Cancelled:
		c.scratch.put(b)
	case over:
		c.unexpected.Put(unexpected.Message{Buffer: b, Status: st})
	}
	return why
}

// takeBack cancels a receive whose wait failed, and reports whether it is over.
func takeBack(r backend.Request) (backend.Status, bool) {
	if r.Cancel() != nil {
		return backend.Status{}, false
	}
	st, done, err := r.WaitFor(patience)
	return st, done && err == nil
}

// unpack takes a message out of its buffer, or puts it in the unexpected-message queue where it does not fit.
func (c *Comm) unpack(m unexpected.Message, out *Array, want Want) (Result, error) {
	r, h, err := c.open(m, out, want)
	switch {
	case err != nil:
	case h.Offer:
		err = c.collectOffer(&r, m.Status.Source, h, waiting("recv", "source", int64(m.Status.Source), int64(m.Status.Tag)))
	case h.Apart:
		err = c.recvApart(&r, m.Status, c.payloadTag(h))
	}
	return r, err
}

// open is unpack without the elements that travel apart.
func (c *Comm) open(m unexpected.Message, out *Array, want Want) (Result, wire.Header, error) {
	raw := bytesAt(m.Buffer.Addr(), m.Status.Bytes)
	h, _, err := wire.ParseFixed(raw)
	if err != nil {
		c.scratch.put(m.Buffer)
		return Result{}, h, err
	}
	var r Result
	if out != nil && want == (Want{}) && h.Kind != wire.Object && out.Type == h.Type && out.Count == wire.CountIn(raw) {
		r.Span = out.Span // as most receives go: nobody asks for the shape
	} else if r, err = c.accept(raw, out, want); err != nil {
		c.unexpected.Put(m)
		return Result{}, h, err
	}
	if !h.Apart {
		copy(bytesAt(r.Addr, r.Bytes()), raw[wire.HeaderBytes(int(raw[2])):])
	}
	c.scratch.put(m.Buffer)
	return r, h, nil
}

// accept returns memory for the message whose header is at the front of raw, if it is what was stated.
func (c *Comm) accept(raw []byte, out *Array, want Want) (Result, error) {
	h, err := wire.ParseHeader(raw)
	if err != nil {
		return Result{}, err
	}
	if err := want.check(h, out); err != nil {
		return Result{}, err
	}
	return c.room(h, out)
}

// recvApart receives the elements of a message whose header has the given status.
func (c *Comm) recvApart(to *Result, head backend.Status, payloadTag int) error {
	st, r, err := c.payload.RecvFor(to.Raw(), head.Source, payloadTag, begun())
	if r != nil {
		if st, err = c.await(r, waiting("recv", "source", int64(head.Source), int64(head.Tag))); err != nil {
			if _, over := takeBack(r); !over {
				to.Storage = nil // the memory stays with the operation
			}
		}
	}
	if err == nil && st.Bytes != to.Bytes() {
		err = status.New(status.Communication, "a part of %d bytes came where %d were announced", st.Bytes, to.Bytes())
	}
	if err != nil {
		to.release()
		*to = Result{}
	}
	return err
}
