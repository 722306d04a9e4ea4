package watchdog

import (
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A program may end while threads of its own still wait in calls: Python leaves daemon threads behind. The library that
// connects the ranks ends soon after, and must not be called from then on; nor must the program, which is gone.

// program says how it stands with the program around the library.
var program life

type life struct {
	over  atomic.Bool
	waits atomic.Int64 // calls that wait for other ranks
}

// End says that the program ends: calls that wait in other threads than the process's first never return. It comes back
// when none of them calls the library any more, or after a second.
func End() {
	program.over.Store(true)
	for until := time.Now().Add(time.Second); program.waits.Load() > 0 && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
}

// stay never returns where a call waits that End speaks of.
func (l *life) stay() {
	if !l.over.Load() || unix.Gettid() == os.Getpid() {
		return
	}
	l.waits.Add(-1)
	select {}
}
