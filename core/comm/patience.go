package comm

import (
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"dtl/core/backend"
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
	on      int    // the rank that it waits for in a meeting; -1: none
	last    bool   // the call closes the communicator
	started time.Time
	looked  time.Time
	reports time.Duration // when the next report is due
	told    bool          // the boards say that this rank waits
}

func (c *Comm) vigil(call string) vigil {
	program.waits.Add(1)
	now := time.Now()
	return vigil{comm: c, call: call, on: -1, started: now, looked: now, reports: time.Duration(reportAfter.Load())}
}

// look is called again and again by who waits. An error says that it is in vain.
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
	if err := v.vain(); err != nil {
		return err
	}
	waited := now.Sub(v.started)
	if limit := time.Duration(giveUpAfter.Load()); limit > 0 && waited > limit {
		return v.giveUp(status.New(status.Communication, "no end after %v: %s", limit, v.comm.whereabouts()))
	}
	if v.reports > 0 && waited > v.reports {
		if v.comm.claim(v.reports) {
			report(v.comm.headline(waited) + v.comm.whereabouts())
		}
		v.reports *= 2
	}
	return nil
}

// vain reports that what this rank waits for will not come.
func (v *vigil) vain() error {
	if err := v.closing(); err != nil {
		return v.giveUp(err)
	}
	if Program.Interrupted != nil && handlers.run(Program.Interrupted) {
		if v.comm.claim(answering) {
			report(v.comm.headline(time.Since(v.started)) + v.comm.whereabouts())
		}
		return v.giveUp(status.New(status.Communication, "interrupted"))
	}
	if v.comm.board == nil {
		return nil
	}
	if p := v.comm.serves.Load(); p != nil {
		if err := p.inVain(); err != nil {
			return err
		}
	}
	if v.on < 0 {
		return nil
	}
	if !v.comm.board.Whole() {
		return v.comm.broken()
	}
	if why := v.comm.board.Left(v.on); why != "" {
		return status.New(status.Communication, "rank %d %s, and does not come to %s", v.on, why, v.call)
	}
	if err := v.comm.overtaken(v.on, v.call); err != nil {
		return v.giveUp(err)
	}
	return nil
}

// giveUp ends the wait. A meeting ends for all ranks of the communicator, which is of no use from then on.
func (v *vigil) giveUp(why error) error {
	if v.on >= 0 && v.comm.board != nil {
		v.comm.board.Break(v.call + ": " + why.Error())
	}
	return why
}

// end is called when the wait is over.
func (v *vigil) end() {
	program.waits.Add(-1)
	if v.told {
		v.goOn()
	}
}

// broken is the error of a communicator on which a rank gave up.
func (c *Comm) broken() error {
	rank, why := c.board.Broken()
	return status.New(status.Communication, "rank %d gave up in %s", rank, why)
}

// linger waits until every rank has come to the meeting that this one is in. call says to which.
func (c *Comm) linger(call string) error {
	v := c.vigil(call)
	defer v.end()
	turn := 0
	for v.on = range c.size {
		for !c.board.Arrived(v.on) {
			turn++
			c.idle(turn)
			if turn%64 != 0 {
				continue
			}
			if err := v.look(); err != nil && !c.board.Arrived(v.on) { // it may have come just before it left
				return err
			}
		}
	}
	return nil
}

// idle passes a moment, and lets the backend go on with what is under way: others may wait for that before they come.
func (c *Comm) idle(turn int) {
	if turn%8 == 0 {
		runErrands()
		c.progress()
	}
	c.yield()
}

// await waits for a request, as all who wait for another rank do. what says what is waited for.
func (c *Comm) await(r backend.Request, what func() string) (backend.Status, error) {
	v := c.vigil(what())
	defer v.end()
	for {
		slice := unnoticed
		if runErrands() {
			slice = errandPause
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
