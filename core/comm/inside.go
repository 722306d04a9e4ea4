package comm

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

// A call that waits inside the backend cannot look at the time by itself, and nobody can have it return. So another
// goroutine looks at all of them: it reports those that take long, and ends the job where one takes too long.

// stay is a call of the backend that waits for other ranks.
type stay struct {
	comm    *Comm
	op      string
	of      string // "" or what of a rank's it reaches for
	target  int    // that rank, or Every
	thread  int    // of the system
	began   int64
	reports time.Duration // when the next report is due
}

var stays struct {
	mu      sync.Mutex
	now     []*stay
	used    bool // since the watch has looked
	watched bool
}

const (
	// round is how long the watch sleeps between two looks, and idleRounds how often it looks when nothing is there any more.
	round, idleRounds = 50 * time.Millisecond, 20
	// nameable is how long a report waits for the place of the program, and lastWords the job's end for who takes the report.
	nameable, lastWords = time.Second, 300 * time.Millisecond
	// dying is how long the backend has to end the job.
	dying = 5 * time.Second
)

// inside calls f, which calls the backend once.
func (s *stay) inside(f func() error) error {
	report := time.Duration(reportAfter.Load())
	if report == 0 && giveUpAfter.Load() == 0 {
		return f()
	}
	s.thread, s.began, s.reports = unix.Gettid(), clock.Now(), report
	stays.mu.Lock()
	stays.now, stays.used = append(stays.now, s), true
	if !stays.watched {
		stays.watched = true
		go watchStays()
	}
	stays.mu.Unlock()
	defer func() {
		stays.mu.Lock()
		defer stays.mu.Unlock()
		stays.now = slices.DeleteFunc(stays.now, func(o *stay) bool { return o == s })
	}()
	return f()
}

// watchStays looks until there has been nothing to look at for a while.
func watchStays() {
	for left := idleRounds; left > 0; left-- {
		time.Sleep(round)
		stays.mu.Lock()
		if stays.used || len(stays.now) > 0 {
			left = idleRounds
		}
		stays.used = false
		due, over := dueStays()
		stays.watched = left > 1
		stays.mu.Unlock()
		for _, text := range due {
			report(text())
		}
		if over != nil {
			over()
		}
	}
}

// dueStays returns the reports that are due, and what ends the job if it is to end. The caller holds the lock, and calls
// them without.
func dueStays() (due []func() string, over func()) {
	now, limit := clock.Now(), time.Duration(giveUpAfter.Load())
	for _, s := range stays.now {
		waited, seen := time.Duration(now-s.began), *s
		if limit > 0 && waited > limit {
			return nil, func() { endJob(&seen, limit) }
		}
		if s.reports > 0 && waited > s.reports {
			s.reports *= 2
			due = append(due, func() string {
				return seen.comm.headline(waited) + "in " + seen.String() + "; " + seen.advice()
			})
		}
	}
	return due, nil
}

// String says which call it is, and where: "flush of rank 1's part at app.py:41".
func (s *stay) String() string {
	text := s.op
	switch {
	case s.of == "":
	case s.target == backend.Every:
		text += " of all " + s.of + "s"
	default:
		text += fmt.Sprintf(" of rank %d's %s", s.target, s.of)
	}
	return text + placeOf(s.thread)
}

// advice says what may be the matter.
func (s *stay) advice() string {
	who := fmt.Sprintf("rank %d makes", s.target)
	switch {
	case s.of == "":
		return s.comm.whereabouts()
	case s.target == backend.Every:
		who = "the other ranks make"
	}
	return "the ranks share no memory, and the library may wait until " + who + ` a call, unless progress="thread" does there`
}

// endJob ends all ranks of the job, for this one cannot leave its call.
func endJob(s *stay, limit time.Duration) {
	report(fmt.Sprintf("rank %d of %d ends the job: no end of %s after %v; %s", s.comm.rank, s.comm.size, s, limit, s.advice()))
	time.Sleep(lastWords)
	if Program.End != nil {
		go Program.End()
		time.Sleep(dying)
	}
	os.Exit(1)
}

// naming is true while a thread asks for a place.
var naming atomic.Bool

// placeOf is place of another thread of the system. Python's lock may be held for long, and the report does not depend on
// it. While one thread waits for the lock, no further one does, so that long waits do not add up threads.
func placeOf(thread int) string {
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
