package comm

import (
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"dtl/core/backend"
	"dtl/core/progress"
	"dtl/core/status"
)

// Program is what the program around the library knows and does, where somebody has said it: before any communication.
var Program struct {
	// Where returns the place in the program that the calling thread is at: "app.py:41"; "" if it does not know.
	Where func() string
	// WhereIs returns the place that a thread of the system is at; "" if it does not know.
	WhereIs func(thread int) string
	// Interrupted reports whether the user wants to end what the calling thread does.
	Interrupted func() bool
	// Report shows a text to the user.
	Report func(string)
	// End ends all ranks of the job.
	End func()
}

// Limits of waiting, in nanoseconds; 0: none.
var reportAfter, giveUpAfter atomic.Int64

// SetPatience says after how long in one call a report shows where the ranks are, and after how long the call fails;
// 0 is never.
func SetPatience(report, giveUp time.Duration) {
	reportAfter.Store(int64(report))
	giveUpAfter.Store(int64(giveUp))
}

const (
	// unnoticed is how long a wait is nothing to tell of.
	unnoticed = 50 * time.Millisecond
	// answering is how long ranks get to say where they are.
	answering = 1200 * time.Millisecond
)

// vigil is one call's wait for other ranks.
type vigil struct {
	comm    *Comm
	call    string // which waits
	what    awaited
	on      int  // the rank that it waits for in a meeting; -1: none
	last    bool // the call closes the communicator
	started time.Time
	looked  time.Time
	reports time.Duration // when the next report is due
	told    bool          // the boards say that this rank waits
	absence absence
}

func (c *Comm) vigil(call string) vigil {
	program.waits.Add(1)
	now := time.Now()
	return vigil{comm: c, call: call, what: awaited{peer: nobody}, on: -1, started: now, looked: now,
		reports: time.Duration(reportAfter.Load())}
}

// look is called again and again by who waits. An error says that it is in vain, or that this rank waits no longer.
func (v *vigil) look() error {
	now := time.Now()
	if now.Sub(v.looked) < unnoticed {
		return nil
	}
	v.looked = now
	program.stay()
	if !v.told {
		v.told = true
		v.call += place()
		v.tell()
	}
	v.comm.notices.goOn()
	if err := errorOr(v.interrupted(), v.vain()); err != nil {
		return err
	}
	waited := now.Sub(v.started)
	if limit := time.Duration(giveUpAfter.Load()); limit > 0 && waited > limit {
		return status.New(status.Communication, "no end after %v: %s", limit, v.comm.whereabouts())
	}
	if v.reports > 0 && waited > v.reports {
		if v.comm.claim(v.reports) {
			report(v.comm.headline(waited) + v.comm.whereabouts())
		}
		v.reports *= 2
	}
	return nil
}

// interrupted is the error of a call that the user, or another thread, wants to end.
func (v *vigil) interrupted() error {
	if err := v.closing(); err != nil {
		return err
	}
	if Program.Interrupted == nil || !handlers.run(Program.Interrupted) {
		return nil
	}
	if v.comm.claim(answering) {
		report(v.comm.headline(time.Since(v.started)) + v.comm.whereabouts())
	}
	return status.New(status.Communication, "interrupted")
}

// vain reports that what this rank waits for will not come.
func (v *vigil) vain() error {
	if p := v.comm.serves.Load(); p != nil {
		if err := p.inVain(); err != nil {
			return err
		}
	}
	if v.on >= 0 {
		return v.comm.meetsInVain(v.on, v.call)
	}
	if v.absence.due() {
		if err := v.absence.of(v.comm, v.what, v.call); err != nil {
			return err
		}
	}
	return v.what.posted.crossed()
}

// end is called when the wait is over.
func (v *vigil) end() {
	program.waits.Add(-1)
	if v.told {
		v.goOn()
	}
}

// linger waits until every rank has come to the meeting that this one is in. call says to which.
func (c *Comm) linger(call string) (err error) {
	v := c.vigil(call)
	defer v.end()
	if c.board == nil {
		err = v.gather()
	} else {
		err = v.meet()
	}
	if err != nil {
		return c.giveUp(v.call, err)
	}
	return nil
}

// meet is linger on a board.
func (v *vigil) meet() error {
	c, turn := v.comm, 0
	for v.on = range c.size {
		for !c.board.Arrived(v.on) {
			turn++
			c.idle(turn)
			if turn%64 != 0 {
				continue
			}
			if err := v.look(); err != nil && !c.board.Arrived(v.on) { // else this rank makes the call with all others, and is interrupted after it
				return err
			}
		}
	}
	return nil
}

// gather is linger by messages.
func (v *vigil) gather() error {
	g := &v.comm.gathering
	for v.on = 0; ; {
		slice := unnoticed
		if progress.RunQueue() {
			slice = progress.QueuePause
		}
		if done, err := g.goOn(slice); done || err != nil {
			return err
		}
		if err := v.look(); err != nil {
			if done, _ := g.goOn(0); done {
				return nil
			}
			g.leave()
			return err
		}
	}
}

// giveUp ends a meeting for all ranks of the communicator, which is of no use from then on, unless others have.
func (c *Comm) giveUp(call string, why error) error {
	if isVain(why) {
		return why
	}
	if why := call + ": " + why.Error(); c.board != nil {
		c.board.Break(why)
	} else {
		c.notices.giveUp(why)
	}
	return why
}

// meetsInVain says why a rank will not come to the meeting.
func (c *Comm) meetsInVain(rank int, call string) error {
	if err := c.broken(); err != nil {
		return err
	}
	if c.board == nil {
		return c.notices.meetsInVain(c.gathering.number.Load(), call)
	}
	if why := c.board.Left(rank); why != "" {
		return vain{status.New(status.Communication, "rank %d %s, and does not come to %s", rank, why, call)}
	}
	return c.overtaken(rank, call)
}

// broken is the error of a communicator on which a rank gave up.
func (c *Comm) broken() error {
	var rank int
	var why string
	switch {
	case c.board == nil:
		rank, why = c.notices.broken()
	case c.board.Whole():
		rank = -1
	default:
		rank, why = c.board.Broken()
	}
	if rank < 0 {
		return nil
	}
	return vain{status.New(status.Communication, "rank %d gave up in %s", rank, why)}
}

// idle passes a moment, and lets the backend go on with what is under way: others may wait for that before they come.
func (c *Comm) idle(turn int) {
	if turn%8 == 0 {
		progress.RunQueue()
		c.progress()
	}
	c.yield()
}

// await waits for a request, as all who wait for another rank do.
func (c *Comm) await(r backend.Request, what awaited) (backend.Status, error) {
	v := c.vigil(what.call())
	v.what = what
	defer v.end()
	for {
		slice := unnoticed
		if progress.RunQueue() {
			slice = progress.QueuePause
		}
		if st, done, err := r.WaitFor(slice); done || err != nil {
			return st, err
		}
		if err := v.look(); err != nil {
			return backend.Status{}, err
		}
	}
}

// place is where the program is, to append to what it does there.
func place() string {
	if Program.Where == nil {
		return ""
	}
	if at := Program.Where(); at != "" {
		return " at " + at
	}
	return ""
}

// report shows a text to the user.
func report(text string) {
	if Program.Report != nil {
		Program.Report("dtl: " + text)
	} else {
		os.Stderr.WriteString("dtl: " + text + "\n")
	}
}

// yield lets another process have the processor.
func yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
