package comm

import (
	"fmt"
	"strconv"
	"time"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/comm/agreement"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/progress"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// These are the loops in which a call waits for other ranks. Each looks for what it waits for. Meanwhile it runs the progress
// queue, lets the backend make progress, and lets the watchdog check now and then whether to go on waiting.

// patience is how long a call waits in the backend before it waits by await, which costs more.
const patience = time.Millisecond

// begun is patience, or less if the progress queue has to be run.
func begun() time.Duration {
	const queuePatience = 20 * time.Microsecond
	if progress.Queued().Load() > 0 {
		return queuePatience
	}
	return patience
}

// awaited says what a call waits for outside meetings.
type awaited struct {
	call   func() string
	peer   int64           // the rank that has to do something; backend.AnySource: one of the others; watchdog.NoPeer: unknown
	start  agreement.Start // a collective that all ranks have to start
	nobody func() error    // of a message: the error where there is one rank; else nil
}

// named returns what a call of this name waits for if it waits for no particular rank.
func named(call string) awaited {
	return awaited{peer: watchdog.NoPeer, call: func() string { return call }}
}

// waiting says what a message's rank waits for.
func waiting(op, name string, peer, tag int64) awaited {
	return awaited{peer: peer, call: func() string {
		return fmt.Sprintf("%s(%s %s, tag %s)", op, name, wildcard(peer, backend.AnySource), wildcard(tag, backend.AnyTag))
	}}
}

// awaitingMessage is waiting for a message, which nobody sends where there is one rank.
func awaitingMessage(op string, source, tag int64) awaited {
	what := waiting(op, "source", source, tag)
	what.nobody = func() error { return nobodySends(source, tag) }
	return what
}

// nobodySends is the error of a wait for a message on a communicator of one rank.
func nobodySends(source, tag int64) error {
	return status.New(status.Communication, "no message from rank %s with tag %s is pending, and this communicator has one rank: "+
		"waiting would never end", wildcard(source, backend.AnySource), wildcard(tag, backend.AnyTag))
}

func wildcard(n, anyOf int64) string {
	if n == anyOf {
		return "any"
	}
	return strconv.FormatInt(n, 10)
}

// absent says which of the ranks that have to do something have left, and how; "" if none has.
func (c *Comm) absent(what awaited) string {
	if what.start.Exists() {
		return c.group.AbsentFrom(what.start.StartedBy)
	}
	return c.group.Absent(int(what.peer))
}

// wait is one call's wait for other ranks.
type wait struct {
	watchdog.Wait
	comm    *Comm
	what    awaited
	meets   bool // it waits in a meeting
	last    bool // the call closes the communicator
	absence watchdog.Absence
}

func (c *Comm) beginWait(call string) *wait {
	return &wait{Wait: c.group.Begin(call), comm: c, what: awaited{peer: watchdog.NoPeer}}
}

// check is called repeatedly during a wait. An error says that the wait is in vain, or that this rank does not wait any longer.
func (w *wait) check() error { return w.Check(w) }

// Closed is the error of a call that waits on a communicator that is about to be closed.
func (w *wait) Closed() error {
	if w.last || w.comm.ending.Load() != decided {
		return nil
	}
	return status.New(status.InvalidHandle, "another thread has closed the context")
}

// InVain reports that what this rank waits for will not come.
func (w *wait) InVain() error {
	if p := w.comm.serves.Load(); p != nil {
		if err := p.InVain(); err != nil {
			return err
		}
	}
	if w.meets {
		if err := w.comm.broken(); err != nil {
			return err
		}
		return w.comm.meeter.InVain(w.Call())
	}
	if w.what.nobody != nil && w.comm.Size() == 1 {
		return watchdog.InVain(w.what.nobody())
	}
	if w.absence.Due() {
		if err := w.absence.Check(w.comm.absent(w.what), w.Call()); err != nil {
			return err
		}
	}
	return w.comm.deadlock(w.what.start)
}

// await waits for a request, in the same way as all waits for other ranks.
func (c *Comm) await(r backend.Request, what awaited) (backend.Status, error) {
	w := c.beginWait(c.inCall(what.call()))
	w.what = what
	defer w.End()
	for {
		slice := watchdog.Interval
		if progress.RunQueue() {
			slice = progress.QueuePause
		}
		if st, done, err := r.WaitFor(slice); done || err != nil {
			return st, err
		}
		if err := w.check(); err != nil {
			return backend.Status{}, err
		}
	}
}

// Until waits until ask returns true, in the same way as all waits for other ranks. call says for what, which may change. An
// error of ask ends the wait, too.
func (c *Comm) Until(call func() string, ask func() (bool, error)) error {
	const looksBeforeSleep, sleep = 256, 50 * time.Microsecond
	w := c.beginWait("")
	defer w.End()
	said := ""
	for turn := 1; ; turn++ {
		if done, err := ask(); done || err != nil {
			return err
		}
		c.pause(turn)
		if turn > looksBeforeSleep {
			time.Sleep(sleep)
		}
		if turn%64 != 0 {
			continue
		}
		if now := call(); now != said {
			said = now
			w.Say(now)
		}
		if err := w.check(); err != nil {
			return err
		}
	}
}

// pollRequest is a wait for what other ranks do in memory that they share, as a request of the backend.
type pollRequest struct {
	comm *Comm
	ask  func() (over bool, err error) // not called again when it is over
	over bool
	err  error
}

var _ backend.Request = (*pollRequest)(nil)

func (c *Comm) pollRequest(ask func() (bool, error)) *pollRequest {
	return &pollRequest{comm: c, ask: ask}
}

// Test looks once.
func (l *pollRequest) Test() (backend.Status, bool, error) {
	if !l.over {
		l.over, l.err = l.ask()
	}
	return backend.Status{}, l.over, l.err
}

// Wait looks until it is over.
func (l *pollRequest) Wait() (backend.Status, error) {
	for {
		if st, over, err := l.WaitFor(time.Second); over {
			return st, err
		}
	}
}

// WaitFor looks until it is over, or d has passed. Meanwhile the backend makes progress.
func (l *pollRequest) WaitFor(d time.Duration) (backend.Status, bool, error) {
	return l.comm.spin(d, l.Test)
}

// Cancel does nothing: only a receive can be cancelled.
func (l *pollRequest) Cancel() error { return nil }

// spin asks until the answer is yes, or d has passed.
func (c *Comm) spin(d time.Duration, ask func() (backend.Status, bool, error)) (backend.Status, bool, error) {
	const spinFor = 100 * time.Microsecond
	looks, start := max(c.spins/8, 1), time.Time{}
	for n := 1; ; n++ {
		if st, over, err := ask(); over {
			return st, over, err
		}
		if n%looks != 0 {
			board.Pause()
			continue
		}
		c.progress()
		if start.IsZero() {
			start = time.Now()
		}
		gone := time.Since(start)
		if gone >= d {
			return backend.Status{}, false, nil
		}
		if gone >= spinFor || c.spins < spinsBeforeYield {
			c.yield()
		}
	}
}

// pollFor asks until the answer is yes, or d has passed: at first as fast as it can, after a while now and then.
func pollFor(d time.Duration, ask func() (backend.Status, bool, error)) (backend.Status, bool, error) {
	const fast, looks = time.Millisecond, 32
	start := time.Now()
	for n := 1; ; n++ {
		if st, done, err := ask(); done {
			return st, true, err
		}
		if n%looks != 0 {
			continue
		}
		gone := time.Since(start)
		if gone >= d {
			return backend.Status{}, false, nil
		}
		if gone >= fast {
			time.Sleep(fast / 10)
		}
	}
}

// awaitMeeting waits until every rank has come to the meeting that this one is in. call describes it.
func (c *Comm) awaitMeeting(call string) error {
	w := c.beginWait(call)
	w.meets = true
	defer w.End()
	for {
		slice := watchdog.Interval
		if progress.RunQueue() {
			slice = progress.QueuePause
		}
		if all, err := c.meeter.Wait(slice); err != nil {
			return c.giveUp(w.Call(), err)
		} else if all {
			return nil
		}
		if err := w.check(); err != nil {
			if all, _ := c.meeter.Wait(0); all { // this rank makes the call with all others, and is interrupted after it
				return nil
			}
			c.meeter.Leave()
			return c.giveUp(w.Call(), err)
		}
	}
}

// giveUp ends a meeting for all ranks of the communicator, unless another rank has. The communicator cannot be used any more.
func (c *Comm) giveUp(call string, why error) error {
	c.hasHeard()
	if !watchdog.IsInVain(why) {
		c.group.GiveUp(call + ": " + why.Error())
	}
	return why
}

// broken is the error of a communicator on which a rank gave up.
func (c *Comm) broken() error {
	if c.board != nil && c.board.Whole() {
		return nil
	}
	rank, why := c.group.GaveUp()
	if rank < 0 {
		return nil
	}
	c.hasHeard()
	return watchdog.InVain(status.New(status.Communication, "rank %d gave up in %s", rank, why))
}

// pause passes a moment, and lets the backend make progress: others may need that before they come.
func (c *Comm) pause(turn int) {
	if c.board == nil && c.node.board == nil {
		progress.RunQueue()
		board.Yield()
		return
	}
	if turn%8 == 0 {
		progress.RunQueue()
		c.progress()
	}
	c.yield()
}

// progress lets the backend make progress.
func (c *Comm) progress() {
	_, _, _ = c.payload.TryRecv(memory.Span{Type: dtype.Uint8}, backend.AnySource, c.lane(idleLane))
}
