package watchdog

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"dtl/core/backend"
	"dtl/core/clock"
)

// BackendCall is a call that waits for other ranks inside the backend. It cannot look at the time by itself, and nobody can
// have it return. So another goroutine looks at all of them: it reports those that take long, and ends the job where one
// takes too long.
type BackendCall struct {
	Group  *Group
	Op     string
	Of     string // what of a rank's it reaches for; "": it is a collective call
	Target int    // that rank, or backend.Every

	thread  int // of the system
	began   int64
	reports time.Duration // when the next report is due
}

// backendCalls has the calls of the backend that are under way.
var backendCalls struct {
	mu      sync.Mutex
	now     []*BackendCall
	used    bool // since the goroutine has looked
	watched bool
}

const (
	// round is how long the goroutine sleeps between two looks, and idleRounds how often it looks when nothing is there any more.
	round, idleRounds = 50 * time.Millisecond, 20
	// nameable is how long a report waits for the place of the program, and lastWords the job's end for who takes the report.
	nameable, lastWords = time.Second, 300 * time.Millisecond
	// dying is how long the backend has to end the job.
	dying = 5 * time.Second
)

// Run calls f, which calls the backend once.
func (c *BackendCall) Run(f func() error) error {
	report := time.Duration(reportAfter.Load())
	if report == 0 && giveUpAfter.Load() == 0 {
		return f()
	}
	c.thread, c.began, c.reports = unix.Gettid(), clock.Now(), report
	backendCalls.mu.Lock()
	backendCalls.now, backendCalls.used = append(backendCalls.now, c), true
	if !backendCalls.watched {
		backendCalls.watched = true
		go watchBackendCalls()
	}
	backendCalls.mu.Unlock()
	defer func() {
		backendCalls.mu.Lock()
		defer backendCalls.mu.Unlock()
		backendCalls.now = slices.DeleteFunc(backendCalls.now, func(o *BackendCall) bool { return o == c })
	}()
	return f()
}

// watchBackendCalls looks until there has been nothing to look at for a while.
func watchBackendCalls() {
	for left := idleRounds; left > 0; left-- {
		time.Sleep(round)
		backendCalls.mu.Lock()
		if backendCalls.used || len(backendCalls.now) > 0 {
			left = idleRounds
		}
		backendCalls.used = false
		due, over := dueReports()
		backendCalls.watched = left > 1
		backendCalls.mu.Unlock()
		for _, text := range due {
			report(text())
		}
		if over != nil {
			over()
		}
	}
}

// dueReports returns the reports that are due, and what ends the job if it is to end. The caller holds the lock, and calls
// them without.
func dueReports() (due []func() string, over func()) {
	now, limit := clock.Now(), time.Duration(giveUpAfter.Load())
	for _, c := range backendCalls.now {
		waited, seen := time.Duration(now-c.began), *c
		if limit > 0 && waited > limit {
			return nil, func() { endJob(&seen, limit) }
		}
		if c.reports > 0 && waited > c.reports {
			c.reports *= 2
			due = append(due, func() string {
				return seen.Group.headline(waited) + "in " + seen.String() + "; " + seen.advice()
			})
		}
	}
	return due, nil
}

// String says which call it is, and where: "flush of rank 1's part at app.py:41".
func (c *BackendCall) String() string {
	text := c.Op
	switch {
	case c.Of == "":
	case c.Target == backend.Every:
		text += " of all " + c.Of + "s"
	default:
		text += fmt.Sprintf(" of rank %d's %s", c.Target, c.Of)
	}
	return text + threadPlace(c.thread)
}

// advice says what may be the matter.
func (c *BackendCall) advice() string {
	if c.Of == "" {
		return "all ranks have come to it; " + c.Group.places(c.String())
	}
	who := fmt.Sprintf("rank %d makes", c.Target)
	if c.Target == backend.Every {
		who = "the other ranks make"
	}
	return "the ranks share no memory, and the library may wait until " + who + ` a call, unless progress="thread" does there`
}

// endJob ends all ranks of the job, for this one cannot leave its call.
func endJob(c *BackendCall, limit time.Duration) {
	report(fmt.Sprintf("rank %d of %d ends the job: no end of %s after %v; %s", c.Group.rank, c.Group.size, c, limit, c.advice()))
	time.Sleep(lastWords)
	if Program.End != nil {
		go Program.End()
		time.Sleep(dying)
	}
	os.Exit(1)
}

// naming is true while a thread asks for a place.
var naming atomic.Bool

// threadPlace is Place of another thread of the system. Python's lock may be held for long, and the report does not depend on
// it. While one thread waits for the lock, no further one does, so that long waits do not add up threads.
func threadPlace(thread int) string {
	if Program.WhereIs == nil || !naming.CompareAndSwap(false, true) {
		return ""
	}
	answer := make(chan string, 1)
	go func() {
		defer naming.Store(false)
		answer <- Program.WhereIs(thread)
	}()
	select {
	case at := <-answer:
		if at != "" {
			return " at " + at
		}
	case <-time.After(nameable):
	}
	return ""
}
