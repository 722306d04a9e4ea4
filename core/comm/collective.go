package comm

import (
	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/comm/agreement"
	"dtl/core/comm/wire"
	"dtl/core/memory"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// start meets for a call that moves send to other ranks, and reports whether every rank has what it needs of it now: short
// elements go with the meeting, and a rank alone has its own.
func (c *Comm) start(f wire.Signature, mine error, send memory.Span) (short bool, err error) {
	return c.startWith(f, mine, agreement.Elements{Span: send, InExtension: true})
}

// startWith is start where elements may be combined on the way.
func (c *Comm) startWith(f wire.Signature, mine error, send agreement.Elements) (short bool, err error) {
	if c.size == 1 {
		c.single = send.Addr
		return true, mine
	}
	if c.skipsMeeting() {
		return false, mine
	}
	if c.goAlong(send, false) {
		return true, c.meetWith(f, mine, send)
	}
	if err = c.meet(f, mine); err == nil && send.InExtension {
		err = c.getExtension(send.Bytes())
	}
	return false, err
}

// startTo is startWith for a call whose result goes to root alone. The others wait for nobody where the elements go along.
func (c *Comm) startTo(root int, f wire.Signature, mine error, send agreement.Elements) (short bool, err error) {
	if c.size == 1 || c.inMemory == nil && !c.amongNodes.GoesOn() || !c.goAlong(send, true) {
		if c.amongNodes != nil {
			c.amongNodes.BeginRow(send.Way, send.Bytes())
		}
		return c.startWith(f, mine, send)
	}
	waits := board.WaitsForNone
	if root == c.rank {
		waits = board.WaitsForAll
	}
	return true, c.meetRooted(f, mine, send, waits, 0)
}

// goAlong reports whether a meeting has room for as many elements of each rank, which go to one rank or to all.
func (c *Comm) goAlong(e agreement.Elements, toOne bool) bool {
	if c.size == 1 || c.skipsMeeting() {
		return c.size == 1
	}
	if c.amongNodes != nil {
		room := c.amongNodes.RoomForAll
		if toOne {
			room = c.amongNodes.RoomToRoot
		}
		return e.Bytes() <= room(e.Way)
	}
	return e.Bytes() <= c.meeter.Room(e.Way) || e.InExtension && c.extensionHolds(e.Bytes())
}

// blocking calls f, which is the backend's part of the collective call in turn. All ranks have come to it, but one that is
// stopped meanwhile holds the others up there.
func (c *Comm) blocking(f func() error) error {
	b := watchdog.BackendCall{Group: c.group, Op: c.op}
	return b.Run(f)
}

// apart calls f, which is blocking, with send, or with a copy of it where it shares memory with recv, which no backend
// allows.
func (c *Comm) apart(send, recv memory.Span, f func(send memory.Span) error) error {
	if !overlap(send, recv) {
		return c.blocking(func() error { return f(send) })
	}
	duplicate, err := c.duplicate(send)
	if err != nil {
		return err
	}
	defer duplicate.release()
	return c.blocking(func() error { return f(duplicate.Span) })
}

// duplicate returns a copy of elements, which the caller releases.
func (c *Comm) duplicate(of memory.Span) (Result, error) {
	r, err := newResult(c.memory, wire.Header{Type: of.Type, Shape: []int64{int64(of.Count)}})
	if err == nil {
		memory.Copy(r.Span, of)
	}
	return r, err
}

// A collective that does not block is started, and a request returned. All ranks start such calls in the same order; they
// wait for them in any. They travel where only payloads do besides, so they may be under way beside every other call.

// async returns the communicator of collectives that do not block.
func (c *Comm) async() (backend.AsyncCommunicator, error) {
	a, ok := c.payload.(backend.AsyncCommunicator)
	if !ok {
		return nil, status.New(status.Unsupported, "the backend has no collectives that do not block")
	}
	return a, nil
}

// backendTask is a task of one operation of the backend.
type backendTask struct {
	name      string
	start     func() (backend.Request, error)
	duplicate *memory.Storage // of an input that shares memory with the output, or nil
}

func (t *backendTask) begin() (backend.Request, error) {
	r, err := t.start()
	if err != nil {
		t.drop()
	}
	return r, err
}

func (t *backendTask) next(_ backend.Status, err error) (backend.Request, error) {
	t.drop()
	return nil, err
}

func (t *backendTask) drop() {
	if t.duplicate != nil {
		t.duplicate.Release()
		t.duplicate = nil
	}
}

func (t *backendTask) result() Result { return Result{} }

func (t *backendTask) more() bool { return false }

func (t *backendTask) awaits() awaited { return named(t.name) }

// startCollective starts a collective that f describes, unless this rank's arguments are refused, mine.
func (c *Comm) startCollective(f wire.Signature, mine error, start func(a backend.AsyncCommunicator) (backend.Request, error)) (*Request, error) {
	return c.startCollectiveWith(f, nil, mine, start)
}

// startCollectiveWith is startCollective with memory that goes with the task.
func (c *Comm) startCollectiveWith(f wire.Signature, duplicate *memory.Storage, mine error,
	start func(a backend.AsyncCommunicator) (backend.Request, error)) (*Request, error) {
	a, err := c.async()
	if mine == nil {
		mine = err
	}
	t := &backendTask{name: f.Op, duplicate: duplicate, start: func() (backend.Request, error) { return start(a) }}
	p, err := c.starts.Begin(f, mine)
	if err != nil {
		t.drop()
		return nil, status.In(f.Op, err)
	}
	return c.begin(f.Op, t, p)
}

// withoutOverlap returns send, or a copy of it where it shares memory with recv, with the memory of the copy.
func (c *Comm) withoutOverlap(send, recv memory.Span) (memory.Span, *memory.Storage, error) {
	if !overlap(send, recv) {
		return send, nil, nil
	}
	duplicate, err := c.duplicate(send)
	return duplicate.Span, duplicate.Storage, err
}

// RefuseStart says in the place of a collective that does not block that this rank cannot start it, and why.
func (c *Comm) RefuseStart(op string, why error) {
	_, _ = c.starts.Begin(wire.Signature{Op: op}, why) // the caller has the error
}
