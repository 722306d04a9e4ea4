package comm

import (
	"errors"
	"time"

	"dtl/core/backend"
	"dtl/core/comm/agreement"
	"dtl/core/progress"
)

// How requests of collectives that do not block heed what package agreement says of their start.

// pendingTask is a task that begins when its start may.
type pendingTask struct {
	task
	pending *agreement.Pending // nil: the task has begun
}

// A droppable task holds memory before it begins.
type droppable interface{ drop() }

func (t *pendingTask) begin() (backend.Request, error) {
	t.pending.BeginWith(t.task.begin)
	return t.pending, nil
}

func (t *pendingTask) next(st backend.Status, err error) (backend.Request, error) {
	if t.pending == nil {
		return t.task.next(st, err)
	}
	first, failed := t.pending.Begun()
	t.pending = nil
	if err = errorOr(err, failed); err == nil {
		return first, nil
	}
	var early ended
	if errors.As(err, &early) {
		return first, early.error
	}
	t.drop()
	return nil, err
}

func (t *pendingTask) drop() {
	if d, ok := t.task.(droppable); ok {
		d.drop()
	}
}

func (t *pendingTask) more() bool { return t.pending != nil || t.task.more() }

// checked is a request of the backend, which never completes where not all ranks begin the operation.
type checked struct {
	backend.Request
	start agreement.Start
}

// WaitFor waits for the backend's request, and returns an error where another rank does not begin the operation.
func (r checked) WaitFor(d time.Duration) (backend.Status, bool, error) {
	if err := r.start.Check(); err != nil {
		return backend.Status{}, false, err
	}
	return r.Request.WaitFor(d)
}

// comparesStarts reports whether this rank can compare starts by messages: it has to go on with that also where it waits in
// the backend.
func (c *Comm) comparesStarts() bool {
	_, ok := c.main.(backend.AsyncCommunicator)
	return ok && !progress.Limited()
}

// compareStarts has the ranks compare their starts by messages from now on. Collective.
func (c *Comm) compareStarts() error {
	on, err := c.main.Dup()
	if err != nil {
		return err
	}
	c.starts.CompareByMessages(on.(backend.AsyncCommunicator), c.memory, c.messages.Departure, c.amongNodes.Fast().Started())
	return nil
}

// drained reports whether nothing is in the line of starts any more, and no message is under way. The communicator is closed,
// so nobody waits for what begins only now, or cannot begin here any more.
func (c *Comm) drained() bool {
	empty, begun := c.starts.Drain()
	if begun {
		c.keepsPayload.Store(true)
	}
	return empty && c.silent()
}

// silent reports whether no message is under way, as far as that matters to the backend.
func (c *Comm) silent() bool {
	on, ok := c.main.(backend.Drainer)
	if !ok {
		return true
	}
	over, err := on.Drained(c.payload)
	return over && err == nil
}
