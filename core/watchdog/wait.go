package watchdog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"dtl/core/status"
)

// Wait is one call's wait for other ranks of a group.
type Wait struct {
	group   *Group
	call    string // which waits
	started time.Time
	checked time.Time
	reports time.Duration // when the next report is due
	told    bool          // the other ranks know that this one waits
}

// A Waiter knows what a call waits for.
type Waiter interface {
	// Closed is the error of a call that is to wait no longer, for another thread closes the communicator; nil: it may wait.
	Closed() error
	// InVain is the error of a wait for what will not come; nil: it may come.
	InVain() error
}

// Begin begins a wait of a call, which End ends. The caller looks for what it waits for, and calls Check in between.
func (g *Group) Begin(call string) Wait {
	program.waits.Add(1)
	now := time.Now()
	return Wait{group: g, call: call, started: now, checked: now, reports: time.Duration(reportAfter.Load())}
}

// Call says which call waits, and where, once others have been told.
func (w *Wait) Call() string { return w.call }

// Waited returns how long the call has waited.
func (w *Wait) Waited() time.Duration { return time.Since(w.started) }

// Check does what is due: every Interval it runs signal handlers and asks whether the wait is in vain, and after longer
// times it reports, or gives up. An error ends the wait. It may be called as often as the caller likes.
func (w *Wait) Check(by Waiter) error {
	now := time.Now()
	if now.Sub(w.checked) < Interval {
		return nil
	}
	w.checked = now
	program.stay()
	if !w.told {
		w.tell()
	}
	w.group.Listen()
	if err := by.Closed(); err != nil {
		return err
	}
	if err := w.interrupted(); err != nil {
		return err
	}
	if err := by.InVain(); err != nil {
		return err
	}
	waited := now.Sub(w.started)
	if limit := time.Duration(giveUpAfter.Load()); limit > 0 && waited > limit {
		return status.New(status.Communication, "no end after %v: %s", limit, w.group.places(""))
	}
	if w.reports > 0 && waited > w.reports {
		w.group.report(waited, w.reports)
		w.reports *= 2
	}
	return nil
}

// interrupted is the error of a call that the user wants to end.
func (w *Wait) interrupted() error {
	if Program.Interrupted == nil || !handlers.run(Program.Interrupted) {
		return nil
	}
	if w.reports > 0 {
		w.group.report(w.Waited(), answering)
	}
	return status.New(status.Communication, "interrupted")
}

// report shows the user who has waited for how long, and where the ranks are, unless another rank has done so in the last
// so long.
func (g *Group) report(waited, since time.Duration) {
	if g.channel == nil || g.channel.Claim(since) {
		report(g.headline(waited) + g.places(""))
	}
}

// headline says who waits for how long.
func (g *Group) headline(waited time.Duration) string {
	return fmt.Sprintf("rank %d of %d waits for %v: ", g.rank, g.size, waited.Round(time.Second/10))
}

// waits has the waits of this process of which others have been told. Threads may wait in several calls.
var waits struct {
	mu  sync.Mutex
	now []*Wait
}

// tell lets the other ranks know in which call this process waits.
func (w *Wait) tell() {
	w.told = true
	at := Place()
	waits.mu.Lock()
	defer waits.mu.Unlock()
	w.call += at
	waits.now = append(waits.now, w)
	w.group.tellWaits()
}

// Say changes what the call says of itself, which others may read where they have been told.
func (w *Wait) Say(call string) {
	if !w.told {
		w.call = call
		return
	}
	call += Place()
	waits.mu.Lock()
	defer waits.mu.Unlock()
	w.call = call
	w.group.tellWaits()
}

// End ends the wait, and lets the other ranks know.
func (w *Wait) End() {
	program.waits.Add(-1)
	if !w.told {
		return
	}
	waits.mu.Lock()
	defer waits.mu.Unlock()
	waits.now = slices.DeleteFunc(waits.now, func(o *Wait) bool { return o == w })
	w.group.tellWaits()
}

// tellWaits tells on all channels of the process that calls on changed have begun or ended their wait. The caller holds
// the lock of waits.
func (changed *Group) tellWaits() {
	for _, g := range joined() {
		if g.concerns(changed) {
			g.channel.Tell(g.waitingIn())
		}
	}
}

// concerns reports whether g's ranks are told of waits on another group. Ranks that are goroutines of one process speak for
// themselves only.
func (g *Group) concerns(other *Group) bool { return g == other || !g.oneProcess && !other.oneProcess }

// waitingIn returns the calls in which this process waits, as far as g's ranks are told of them; "" where there are none.
// The caller holds the lock of waits.
func (g *Group) waitingIn() string {
	var calls []string
	for _, w := range waits.now {
		if g.concerns(w.group) {
			calls = append(calls, w.call)
		}
	}
	return strings.Join(calls, " and in ")
}

// inVain is the error of a wait for what will never come, whatever this rank does.
type inVain struct{ error }

// Unwrap returns what it wraps.
func (v inVain) Unwrap() error { return v.error }

// InVain marks the error of a wait for what will never come, whatever this rank does. An error that is nil stays nil.
func InVain(err error) error {
	if err == nil {
		return nil
	}
	return inVain{err}
}

// IsInVain reports whether an error is one that InVain has marked.
func IsInVain(err error) bool {
	var v inVain
	return errors.As(err, &v)
}
