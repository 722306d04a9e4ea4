package comm

import (
	"errors"
	"slices"

	"dtl/core/backend"
	"dtl/core/comm/unexpected"
	"dtl/core/comm/wire"
	"dtl/core/memory"
	"dtl/core/status"
)

// Isend starts what Send does. value's elements stay as they are until the request is over.
func (c *Comm) Isend(value Array, dest, tag int64) (*Request, error) {
	return c.begin("isend", &sends{comm: c, value: value, dest: dest, tag: tag}, posted{})
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

func (s *sends) result() Result  { return Result{} }
func (s *sends) more() bool      { return false }
func (s *sends) awaits() awaited { return waiting("isend", "dest", s.dest, s.tag) }

// Irecv starts what Recv does. out, where it is given, belongs to the operation until the request is over.
func (c *Comm) Irecv(out *Array, want Want, source, tag int64) (*Request, error) {
	t, err := c.newReceiving(out, want, source, tag)
	if err != nil {
		return nil, status.In("irecv", err)
	}
	return c.begin("irecv", t, posted{})
}

// RecvInit makes a request that does what Irecv does each time it is started.
func (c *Comm) RecvInit(out *Array, want Want, source, tag int64) (*Request, error) {
	const name = "recv_init"
	t, err := c.newReceiving(out, want, source, tag)
	if err != nil {
		return nil, status.In(name, err)
	}
	return &Request{comm: c, name: name, task: t}, nil
}

// receiving is a receive as a task.
type receiving struct {
	comm        *Comm
	out         *Array
	want        Want
	source, tag int64
	buffer      *memory.Storage // of what comes first
	opened      bool            // what came first has come
	collects    bool            // the sender copies its share, and waits for this rank to look
	got         Result
}

func (c *Comm) newReceiving(out *Array, want Want, source, tag int64) (*receiving, error) {
	if err := c.checkReceive(want, source, tag); err != nil {
		return nil, err
	}
	t := &receiving{comm: c, want: want, source: source, tag: tag}
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
	r, h, err := t.comm.open(m, t.out, t.want)
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
	rest, err := t.comm.board.Collect(source, int(h.Number), t.got.Addr, t.got.Bytes())
	if rest == nil {
		if err != nil {
			t.got.release()
		}
		return nil, err
	}
	t.collects = true
	return t.comm.looking(rest.Test), nil
}

func (t *receiving) result() Result {
	r := t.got
	t.got = Result{}
	return r
}

func (t *receiving) more() bool { return !t.opened || t.collects }

func (t *receiving) awaits() awaited { return waiting("irecv", "source", t.source, t.tag) }
