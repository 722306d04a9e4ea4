package progress

import (
	"sync"
	"sync/atomic"
	"time"

	"dtl/core/backend"
	"dtl/core/status"
)

// Mode says who goes on with what is under way while a program does something else: MPI does in its calls only.
type Mode int64

// The numbers travel over the bridge.
const (
	ByWaiting Mode = iota // who waits for another rank, and nobody else
	ByCalls               // every call, before its own work
	ByThread              // a thread beside the program, which is there while something is under way
	modes
)

// mode is the Mode of communicators made from now on.
var mode atomic.Int64

// SetMode says who goes on with what is under way on communicators made from now on. Ranks may differ.
func SetMode(number int64) error {
	if number < 0 || number >= int64(modes) {
		return status.New(status.InvalidArgument, "progress number %d outside [0, %d)", number, int(modes))
	}
	mode.Store(number)
	return nil
}

// Engine is who goes on with what is under way on one communicator. Of the zero Engine nobody needs to.
type Engine struct {
	Mode     Mode
	advancer backend.Advancer // nil: nobody needs to
}

// For returns the Engine of a communicator of a backend.
func For(main backend.Communicator) Engine {
	if a, ok := main.(backend.Advancer); ok && !Limited() {
		return Engine{Mode: Mode(mode.Load()), advancer: a}
	}
	return Engine{}
}

// Open says that something is under way that needs this rank although nobody waits for it here: a request, or a
// window that others reach into. Shut says that it is over.
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

// polled is what calls go on with. All communicators of a process are of one library, so any of them will do.
var polled struct {
	open     atomic.Int32
	advancer atomic.Pointer[backend.Advancer]
}

// poll goes on with what is under way, if calls do.
func poll() {
	if polled.open.Load() > 0 {
		_ = (*polled.advancer.Load()).Advance() // what fails is told to who asks for it
		RunQueue()
	}
}

// Polls returns where it says how much is under way that calls go on with, for code outside Go: before a call of its own,
// it makes one of Poll where that is not 0.
func Polls() *atomic.Int32 { return &polled.open }

// Poll is what each call begins with.
func Poll() {
	if !Limited() {
		poll()
	}
}

// progressThread is the thread that all communicators of the process share.
var progressThread thread

// thread goes on with what is under way, in a goroutine that ends when nothing has been for a while.
type thread struct {
	open  atomic.Int32
	alive atomic.Bool
	over  atomic.Bool // the process makes no more calls
	mu    sync.Mutex  // of a step, and of beginning and end
}

const (
	// shortPause is how long the thread sleeps after something has happened, and twice as long after each look at which
	// nothing did, up to longPause: what needs this rank waits about so long for it.
	shortPause, longPause = 50 * time.Microsecond, 200 * time.Microsecond
	// busy is from how long a step takes that something happened in it.
	busy = 1500 * time.Nanosecond
	// hopeful is how long the thread goes on after something has happened, and atOnce how long at all without a pause.
	hopeful, atOnce = 30 * time.Microsecond, 2 * time.Millisecond
	// staying is how long the thread stays when nothing is under way: to begin another costs as much as a short message.
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

// step goes on with what is under way as far as it goes without waiting, unless the process makes no more calls.
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

// Stop ends the thread for good, for the library it calls may end. It returns when it makes no more calls.
func Stop() {
	progressThread.over.Store(true)
	progressThread.mu.Lock()
	defer progressThread.mu.Unlock()
}
