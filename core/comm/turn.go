package comm

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"dtl/core/goroutine"
	"dtl/core/progress"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// Threads of a rank take turns at the collective calls of a communicator. A call keeps its turn until it ends, with all its
// parts: otherwise, a part of another thread's call would meet the next part of this one on the other ranks. The goroutine
// that has the turn may make further calls, which are parts of its own call. A signal handler that runs while the call waits
// may not, because it would do so on one rank only, in the middle of the call.

// turn says whose turn it is.
type turn struct {
	at  *uint64 // the goroutine, or board.OutsideGo; 0: none. On the board if there is one, for code outside Go
	own uint64  // what at points to if there is no board
	// How many signal handlers the goroutine was in when it took the turn. It is set at the end of a turn and read at the
	// beginning of the next one, which orders them for Go's memory model: at may point to memory that is not Go's.
	level atomic.Int32
	op    string // of which the calls are parts that TakeTurn has taken the turn for
}

// inTurn calls f in the caller's turn. f is a collective call, which users know as op, or a part of one. The calls that f
// makes are parts of it.
func (c *Comm) inTurn(op string, f func() error) error {
	if err := progress.Enter(); err != nil {
		return status.In(op, err)
	}
	defer progress.Exit()
	first, err := c.take(op)
	if err != nil {
		return status.In(op, err)
	}
	if first {
		c.op = op
		defer c.keep()
	}
	if c.gone.Load() || c.ending.Load() == decided {
		return status.In(op, closed())
	}
	if c.board == nil && c.size > 1 {
		defer progress.RunQueueBeside()()
	}
	return status.In(op, f())
}

// take waits for the turn at a collective call, op, and reports whether it was taken. If not, the call is a part of the one
// that has the turn.
func (c *Comm) take(op string) (first bool, err error) {
	if err := c.ahead.confirm(c, 0); err != nil {
		return false, err
	}
	if c.tryTake() {
		return true, nil
	}
	me := goroutine.ID()
	if atomic.LoadUint64(c.turn.at) != me {
		return true, c.waitForTurn(op, false)
	}
	if watchdog.HandlerDepth(me) > c.turn.level.Load() {
		return false, status.New(status.Communication, "this thread is in a collective call on the same context, and runs a "+
			"signal handler while it waits; the handler cannot make another one there")
	}
	return false, nil
}

// tryTake takes the turn if nobody has it, and reports whether it could.
func (c *Comm) tryTake() bool {
	me := goroutine.ID()
	if !atomic.CompareAndSwapUint64(c.turn.at, 0, me) {
		return false
	}
	c.turn.level.Swap(watchdog.HandlerDepth(me))
	return true
}

const (
	// looksBeforeSleep is how often a call that waits for its turn looks before it sleeps between two looks, and longestSleep
	// how long it sleeps at most.
	looksBeforeSleep, longestSleep = 100, time.Millisecond
)

// waitForTurn is take where another goroutine has the turn. last says that the caller is to close the communicator.
func (c *Comm) waitForTurn(op string, last bool) error {
	w := c.beginWait(op + ", behind another thread's call")
	w.last = last
	defer w.End()
	for looks := 0; !c.tryTake(); looks++ {
		if c.gone.Load() && !last {
			return closed()
		}
		if looks < looksBeforeSleep {
			runtime.Gosched()
			continue
		}
		if err := w.check(); err != nil {
			return err
		}
		time.Sleep(min(max(w.Waited()/8, longestSleep/20), longestSleep))
	}
	return nil
}

// release ends the turn.
func (c *Comm) release() {
	keptTurns.forget(c)
	c.turn.end()
}

func (t *turn) end() {
	t.level.Store(0)
	atomic.StoreUint64(t.at, 0)
}

// takeOutside says that the caller's thread has the turn already, because code outside Go took it.
func (c *Comm) takeOutside() {
	me := goroutine.ID()
	atomic.StoreUint64(c.turn.at, me)
	c.turn.level.Swap(watchdog.HandlerDepth(me))
}

// KeepTurns lets each call of the program keep its turns until EndCall. Without it, each collective call of this package has
// its own turn.
func KeepTurns() { keptTurns.wanted.Store(true) }

// EndCall ends the turns that the calling goroutine keeps. It is called at the end of each call of the program.
func EndCall() {
	if keptTurns.n.Load() > 0 {
		keptTurns.end()
	}
}

// keep ends a turn, or leaves that to EndCall.
func (c *Comm) keep() {
	if keptTurns.wanted.Load() {
		keptTurns.add(c)
	} else {
		c.release()
	}
}

// keptTurns are the turns that calls keep.
var keptTurns keeping

type keeping struct {
	wanted atomic.Bool
	n      atomic.Int32 // so that the usual case takes no lock
	mu     sync.Mutex
	list   []*Comm
}

func (k *keeping) add(c *Comm) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = append(k.list, c)
	k.n.Store(int32(len(k.list)))
}

// forget takes a turn off the list that is over.
func (k *keeping) forget(c *Comm) {
	if k.n.Load() == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = slices.DeleteFunc(k.list, func(o *Comm) bool { return o == c })
	k.n.Store(int32(len(k.list)))
}

// end ends the turns of the call that the calling goroutine is in, but for those of a call that it is within, as a signal
// handler's.
func (k *keeping) end() {
	me := goroutine.ID()
	level := watchdog.HandlerDepth(me)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = slices.DeleteFunc(k.list, func(c *Comm) bool {
		if atomic.LoadUint64(c.turn.at) != me || c.turn.level.Load() != level {
			return false
		}
		c.turn.end()
		return true
	})
	k.n.Store(int32(len(k.list)))
}

// TakeTurn takes the turn for several calls of the calling thread, which are parts of one, and reports whether it had to be
// taken: then EndTurn ends it.
func (c *Comm) TakeTurn(op string) (first bool, err error) {
	first, err = c.take(op)
	if err == nil && first && c.gone.Load() {
		c.release()
		return false, status.In(op, closed())
	}
	if first && err == nil {
		c.turn.op = op
	}
	return first && err == nil, status.In(op, err)
}

// inCall returns a description of the caller's call that begins with the call of the program's that it is a part of.
func (c *Comm) inCall(text string) string {
	if atomic.LoadUint64(c.turn.at) != goroutine.ID() {
		return text
	}
	op := c.turn.op
	rest, same := strings.CutPrefix(text, op)
	if op == "" || (same && strings.TrimLeft(rest, "_abcdefghijklmnopqrstuvwxyz0123456789") == rest) {
		return text
	}
	return op + ": " + text
}

// EndTurn ends the turn that TakeTurn has taken.
func (c *Comm) EndTurn() {
	c.turn.op = ""
	c.release()
}
