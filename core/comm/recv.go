package comm

import (
	"dtl/core/backend"
	"dtl/core/comm/agreement"
	"dtl/core/comm/unexpected"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// Expected is what a receiver states of the message: its type, unless Invalid, its number of elements, unless zero, and
// whether it is an object.
type Expected struct {
	Type   dtype.Type
	Count  int64
	Object bool
}

// check says whether the message that h describes is what was stated.
func (e Expected) check(h wire.Header, out *Array) error {
	if err := e.checkKind(h); err != nil {
		return err
	}
	if out != nil {
		if err := h.Fits(out.Span); err != nil {
			return err
		}
	}
	if e.Type.Sent() && e.Type != h.Type {
		return status.New(status.InvalidArgument, "dtype %s was asked for, but the message has %d elements of %s",
			e.Type, h.Count(), h.Type)
	}
	if e.Count != 0 && e.Count != int64(h.Count()) {
		return status.New(status.InvalidArgument, "%d elements were asked for, but the message has %d of %s",
			e.Count, h.Count(), h.Type)
	}
	return nil
}

// checkKind says whether the message is an object where one is expected, and only there.
func (e Expected) checkKind(h wire.Header) error {
	if h.Kind == wire.Object && !e.Object {
		return status.New(status.InvalidArgument, "the message is a pickled object; recv_object receives it")
	}
	if h.Kind != wire.Object && e.Object {
		return status.New(status.InvalidArgument, "the message is no pickled object, but %d elements of %s; recv receives it",
			h.Count(), h.Type)
	}
	return nil
}

// Recv receives a message from source with the given tag, either of which may be a wildcard. It goes to
// out where that is given, else to the result. A message that does not fit what the caller stated, in out
// or expected, is an error that says both, and stays there to be received. From ProcNull comes nothing. out may be memory of a device that
// the backend's messages reach; what does not come as one goes to the result all the same.
func (c *Comm) Recv(out *Array, expected Expected, source, tag int64) (Result, error) {
	r, err := c.recv(out, expected, source, tag)
	return r, status.In("recv", err)
}

func (c *Comm) recv(out *Array, expected Expected, source, tag int64) (Result, error) {
	if err := c.checkReceive(expected, source, tag); err != nil || source == backend.ProcNull {
		return Result{}, err
	}
	m, err := c.first("recv", source, tag)
	if err != nil {
		return Result{}, err
	}
	return c.unpack(m, out, expected)
}

// checkReceive refuses what no message can be.
func (c *Comm) checkReceive(expected Expected, source, tag int64) error {
	if expected.Count < 0 {
		return status.New(status.InvalidArgument, "count %d is negative", expected.Count)
	}
	return c.checkSource(source, tag)
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
		if st, err = c.await(r, awaitingMessage(op, source, tag)); err != nil {
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
	switch st, over := backend.TakeBack(r); {
	case over && st.Cancelled:
		c.scratch.put(b)
	case over:
		c.unexpected.Put(unexpected.Message{Buffer: b, Status: st})
	}
	return why
}

// unpack takes a message out of its buffer, or puts it in the unexpected-message queue where it does not fit.
func (c *Comm) unpack(m unexpected.Message, out *Array, expected Expected) (Result, error) {
	r, h, err := c.open(m, out, expected)
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
func (c *Comm) open(m unexpected.Message, out *Array, expected Expected) (Result, wire.Header, error) {
	raw := bytesAt(m.Buffer.Addr(), m.Status.Bytes)
	h, _, err := wire.ParseFixed(raw)
	if err != nil {
		c.scratch.put(m.Buffer)
		return Result{}, h, err
	}
	var r Result
	if out != nil && out.Place == memory.Host && expected == (Expected{}) && h.Kind != wire.Object && out.Type == h.Type &&
		out.Count == wire.CountIn(raw) {
		r.Span = out.Span // as most receives go: nobody asks for the shape
	} else if r, err = c.accept(raw, out, expected); err != nil {
		c.unexpected.Put(m)
		return Result{}, h, err
	}
	if !h.Apart {
		copy(bytesAt(r.Addr, r.Bytes()), raw[wire.SizeIn(raw):])
	}
	c.scratch.put(m.Buffer)
	return r, h, nil
}

// accept returns memory for the message whose header is at the front of raw, if it is what was stated.
func (c *Comm) accept(raw []byte, out *Array, expected Expected) (Result, error) {
	h, err := wire.ParseHeader(raw)
	if err != nil {
		return Result{}, err
	}
	if err := expected.check(h, out); err != nil {
		return Result{}, err
	}
	if out != nil && out.Place > memory.Host && (!h.Apart || h.Offer) {
		out = nil
	}
	return c.room(h, out)
}

// recvApart receives the elements of a message whose header has the given status.
func (c *Comm) recvApart(to *Result, head backend.Status, payloadTag int) error {
	st, r, err := c.payload.RecvFor(to.Raw(), head.Source, payloadTag, begun())
	if r != nil {
		if st, err = c.await(r, waiting("recv", "source", int64(head.Source), int64(head.Tag))); err != nil {
			if _, over := backend.TakeBack(r); !over {
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

// Irecv starts what Recv does. out, where it is given, belongs to the operation until the request is over.
func (c *Comm) Irecv(out *Array, expected Expected, source, tag int64) (*Request, error) {
	t, err := c.newReceiving(out, expected, source, tag)
	if err != nil {
		return nil, status.In("irecv", err)
	}
	return c.begin("irecv", t, agreement.Start{})
}

// RecvInit makes a request that does what Irecv does each time it is started.
func (c *Comm) RecvInit(out *Array, expected Expected, source, tag int64) (*Request, error) {
	const name = "recv_init"
	t, err := c.newReceiving(out, expected, source, tag)
	if err != nil {
		return nil, status.In(name, err)
	}
	return &Request{comm: c, name: name, task: t}, nil
}

// receiving is a receive as a task.
type receiving struct {
	comm        *Comm
	out         *Array
	expected    Expected
	source, tag int64
	buffer      *memory.Storage // of what comes first
	opened      bool            // what came first has come
	collects    bool            // the sender copies its share, and waits for this rank to look
	got         Result
}

func (c *Comm) newReceiving(out *Array, expected Expected, source, tag int64) (*receiving, error) {
	if err := c.checkReceive(expected, source, tag); err != nil {
		return nil, err
	}
	t := &receiving{comm: c, expected: expected, source: source, tag: tag}
	if out != nil {
		t.out = &Array{Span: out.Span}
	}
	return t, nil
}

func (t *receiving) begin() (backend.Request, error) {
	t.opened, t.collects = false, false
	if t.source == backend.ProcNull {
		return nil, nil
	}
	if m, ok := t.comm.unexpected.Take(int(t.source), int(t.tag)); ok {
		t.opened = true
		rest, err := t.open(m)
		if err != nil {
			err = ended{err}
		}
		return rest, err
	}
	var err error
	if t.buffer, err = t.comm.scratch.get(); err != nil {
		return nil, err
	}
	r, err := t.comm.main.Irecv(span(t.buffer, eager), int(t.source), int(t.tag))
	if err != nil {
		t.comm.scratch.put(t.buffer)
		return nil, err
	}
	return r, nil
}

func (t *receiving) next(st backend.Status, err error) (backend.Request, error) {
	if t.opened { // now the elements have come, too
		if err != nil {
			t.got.release()
		}
		return nil, err
	}
	t.opened = true
	if err != nil || st.Cancelled {
		t.comm.scratch.put(t.buffer)
		return nil, err
	}
	return t.open(unexpected.Message{Buffer: t.buffer, Status: st})
}

// open takes what came first out of its buffer, and starts receiving the rest, if there is any.
func (t *receiving) open(m unexpected.Message) (backend.Request, error) {
	r, h, err := t.comm.open(m, t.out, t.expected)
	if err != nil {
		return nil, err
	}
	if t.got = r; !h.Apart {
		return nil, nil
	}
	if h.Offer {
		return t.collect(m.Status.Source, h)
	}
	rest, err := t.comm.payload.Irecv(r.Raw(), m.Status.Source, t.comm.payloadTag(h))
	if err != nil {
		t.got.release()
		return nil, err
	}
	return rest, nil
}

// collect copies what source offers, and returns the wait for its share where that takes long.
func (t *receiving) collect(source int, h wire.Header) (backend.Request, error) {
	rest, err := t.comm.collect(source, h, t.got.Span)
	if rest == nil {
		if err != nil {
			t.got.release()
		}
		return nil, err
	}
	t.collects = true
	return t.comm.pollRequest(rest.Test), nil
}

func (t *receiving) result() Result {
	r := t.got
	t.got = Result{}
	return r
}

func (t *receiving) more() bool { return !t.opened || t.collects }

func (t *receiving) awaits() awaited {
	if t.opened { // its elements are on the way
		return waiting("irecv", "source", t.source, t.tag)
	}
	return awaitingMessage("irecv", t.source, t.tag)
}
