package progress

import (
	"sync"
	"sync/atomic"
	"time"

	"dtl/core/backend"
	"dtl/core/status"
)

// Mode says when operations that are under way make progress while a program does something else. MPI makes progress only
// within its calls.
type Mode int64

// The numbers travel over the bridge.
const (
	ByWaiting Mode = iota // only in calls that wait for another rank
	ByCalls               // in every call, before its own work
	ByThread              // all the time, by a thread that exists while something is under way
	modes
)

// mode is the Mode of communicators made from now on.
var mode atomic.Int64

// SetMode sets the Mode of communicators made from now on. Ranks may set different ones.
func SetMode(number int64) error {
	if number < 0 || number >= int64(modes) {
		return status.New(status.InvalidArgument, "progress number %d outside [0, %d)", number, int(modes))
	}
	mode.Store(number)
	return nil
}

// Engine makes progress with the operations on one communicator. The zero Engine does nothing.
type Engine struct {
	Mode     Mode
	advancer backend.Advancer // nil: not needed
}

// For returns the Engine of a communicator of a backend.
func For(main backend.Communicator) Engine {
	if a, ok := main.(backend.Advancer); ok && !Limited() {
		return Engine{Mode: Mode(mode.Load()), advancer: a}
	}
	return Engine{}
}

// Open says that something is under way that needs this rank although nothing waits for it here: a request, or a window
// that others access. Shut says that it is over.
func (e *Engine) Open() {
	switch {
	case e.advancer == nil:
	case e.Mode == ByCalls:
		polled.advancer.Store(&e.advancer)
		polled.open.Add(1)
	case e.Mode == ByThread:
		progressThread.begin(e.advancer)
	}
}

// Shut ends what Open began.
func (e *Engine) Shut() {
	switch {
	case e.advancer == nil:
	case e.Mode == ByCalls:
		polled.open.Add(-1)
	case e.Mode == ByThread:
		progressThread.open.Add(-1)
	}
}

// polled is what calls make progress with. All communicators of a process are of one library, so any of them will do.
var polled struct {
	open     atomic.Int32
	advancer atomic.Pointer[backend.Advancer]
}

// poll makes progress, if there is a communicator with the mode ByCalls.
func poll() {
	if polled.open.Load() > 0 {
		_ = (*polled.advancer.Load()).Advance() // an operation that fails reports it when it is waited for
		RunQueue()
	}
}

// Polls returns the number of operations with which calls make progress, for code outside Go: if it is not 0, that code calls
// Poll before a call of its own.
func Polls() *atomic.Int32 { return &polled.open }

// Poll is called at the beginning of each call.
func Poll() {
	if !Limited() {
		poll()
	}
}

// progressThread is the thread that all communicators of the process share.
var progressThread thread

// thread makes progress in a goroutine, which ends when nothing has been under way for a while.
type thread struct {
	open  atomic.Int32
	alive atomic.Bool
	over  atomic.Bool // the process makes no more calls
	mu    sync.Mutex  // of a step, and of beginning and end
}

const (
	// shortPause is how long the thread sleeps after something has happened. After each look at which nothing happened, it
	// sleeps twice as long, up to longPause. Operations that need this rank wait about that long for it.
	shortPause, longPause = 50 * time.Microsecond, 200 * time.Microsecond
	// busy is the least time of a step in which something happened.
	busy = 1500 * time.Nanosecond
	// hopeful is how long the thread goes on without a pause after something has happened, and atOnce how long at most.
	hopeful, atOnce = 30 * time.Microsecond, 2 * time.Millisecond
	// staying is how long the thread stays when nothing is under way: starting another costs as much as a short message.
	staying = 20 * time.Millisecond
)

func (t *thread) begin(a backend.Advancer) {
	t.open.Add(1)
	if t.alive.Load() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over.Load() && !t.alive.Swap(true) {
		go t.run(a)
	}
}

func (t *thread) run(a backend.Advancer) {
	pause, used := shortPause, time.Now()
	for {
		if t.open.Load() == 0 {
			if time.Since(used) > staying && t.leaves() {
				return
			}
			time.Sleep(longPause)
			continue
		}
		happened, ok := t.look(a)
		if !ok {
			return
		}
		if pause = min(2*pause, longPause); happened {
			pause = shortPause
		}
		time.Sleep(pause)
		used = time.Now()
	}
}

// look takes a step, and more of them while something happens. It reports whether anything has.
func (t *thread) look(a backend.Advancer) (happened, ok bool) {
	begun := time.Now()
	for last, before := begun, begun; ; {
		if !t.step(a) {
			return happened, false
		}
		now := time.Now()
		if now.Sub(before) >= busy {
			happened, last = true, now
		}
		if !happened || now.Sub(last) > hopeful || now.Sub(begun) > atOnce {
			return happened, true
		}
		before = now
	}
}

// step makes progress as far as possible without waiting, unless the process makes no more calls.
func (t *thread) step(a backend.Advancer) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over.Load() || a.Advance() != nil {
		t.alive.Store(false)
		return false
	}
	RunQueue()
	return true
}

// leaves ends the thread unless something has come up.
func (t *thread) leaves() bool {
	t.alive.Store(false)
	return t.open.Load() == 0 || t.alive.Swap(true)
}

// Stop ends the thread for good, because the library that it calls may end. It returns when the thread makes no more calls.
func Stop() {
	progressThread.over.Store(true)
	progressThread.mu.Lock()
	defer progressThread.mu.Unlock()
}
