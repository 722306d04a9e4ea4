package comm

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"dtl/core/comm/agreement"
	"dtl/core/goroutine"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// In a call with a root, a rank that needs nothing from the others goes on before it has seen that they make the same call.
// Until it has seen that, it is ahead of them. Further calls on the same communicator show what was wrong. Before anything
// else that involves other ranks, a rank that is ahead confirms the call that it has left: it waits until it is not ahead any
// more. So a rank that has left a call that others do not make never waits elsewhere, where it would not learn of the error,
// and has begun nothing there on which others rely.

// Ahead says of which ranks a process is ahead. Code outside Go looks at it, too.
type Ahead struct {
	board  uint64 // the board on which it has gone on, by Board.Number; 0: none
	thread int64  // the thread that has, by the system's number
	other  int64  // another thread that made a call then: while it exists, no thread goes on; 0: none

	rank, size int32 // among those of the board
}

// ofProcess is of this process, if that is one rank.
var ofProcess Ahead

// AheadOfOthers returns the address of this process's Ahead, for code outside Go. It never moves.
func AheadOfOthers() unsafe.Pointer { return unsafe.Pointer(&ofProcess) }

// goOnInOneProcess says whether ranks that are goroutines of one process go on. Only tests set it, because messages and
// windows know only the Ahead of the process.
var goOnInOneProcess bool

// onBoards are the communicators by the numbers of their boards.
var onBoards sync.Map

// useAhead lets the ranks of a communicator go on in calls in which they need no others. of is the communicator from which it
// was made, or nil.
func (c *Comm) useAhead(of *Comm) {
	c.ahead = &ofProcess
	ofProcess.forgetEnded()
	if c.oneProcess {
		c.ahead = new(Ahead)
		if of != nil {
			c.ahead = of.ahead
		}
	}
	switch {
	case c.inMemory != nil && (!c.oneProcess || goOnInOneProcess):
		c.goesOn = c.board.Number()
	case c.amongNodes != nil && c.amongNodes.GoesOn():
		c.goesOn = c.amongNodes.Fast().Place()
	default:
		return
	}
	onBoards.Store(c.goesOn, c)
}

// mayBeAhead is a Meeter of which a rank that has gone on from a call can ask whether all have come to it.
type mayBeAhead interface {
	agreement.Meeter
	BeginConfirm() (op, call string, gone bool)
	EndConfirm()
}

// confirms returns that.
func (c *Comm) confirms() mayBeAhead {
	if c.inMemory != nil {
		return c.inMemory
	}
	return c.amongNodes
}

// waitInAllCalls is the end of useAhead.
func (c *Comm) waitInAllCalls() {
	if c.goesOn != 0 {
		onBoards.Delete(c.goesOn)
		c.ahead.caughtUp(c.goesOn)
		if c.amongNodes != nil {
			c.endTelling()
		}
	}
}

// me returns the number of the calling thread.
func (a *Ahead) me() int64 {
	if a == &ofProcess {
		return int64(unix.Gettid())
	}
	return int64(goroutine.ID())
}

// claim reports whether this rank may go on in a call on a board: it is ahead on no other one.
func (a *Ahead) claim(board uint64, rank, size int) bool {
	if atomic.LoadInt64(&a.other) != 0 {
		return false
	}
	if atomic.LoadUint64(&a.board) == board {
		return true
	}
	if !atomic.CompareAndSwapUint64(&a.board, 0, board) {
		return false
	}
	atomic.StoreInt32(&a.rank, int32(rank))
	atomic.StoreInt32(&a.size, int32(size))
	atomic.StoreInt64(&a.thread, a.me())
	return true
}

// forgetEnded has threads go on again if the other one has ended.
func (a *Ahead) forgetEnded() {
	other := atomic.LoadInt64(&a.other)
	if other != 0 && unix.Tgkill(unix.Getpid(), int(other), 0) == unix.ESRCH {
		atomic.CompareAndSwapInt64(&a.other, other, 0)
	}
}

// caughtUp says that this rank is not ahead on a board any more.
func (a *Ahead) caughtUp(board uint64) {
	if atomic.LoadUint64(&a.board) == board {
		atomic.StoreInt64(&a.thread, 0)
		atomic.StoreUint64(&a.board, 0)
	}
}

// Confirm waits, if this process has gone on from a call, until all ranks have come to it, but not longer than patience unless
// that is 0. An error says that they do not make the same call.
func Confirm(patience time.Duration) error { return ofProcess.confirm(nil, patience) }

// confirm is Confirm before a call on a communicator. Such a call shows itself what was wrong with earlier ones on the same
// communicator. before is nil for anything else.
//
// Other ranks may need what this thread is about to do before they can come to the call that another thread has left. So this
// thread waits only for a moment, and only once: from then on, this rank waits in all calls, as long as this thread exists.
func (a *Ahead) confirm(before *Comm, patience time.Duration) error {
	board := atomic.LoadUint64(&a.board)
	if board == 0 || before != nil && board == before.goesOn {
		return nil
	}
	const moment = time.Second
	if me := a.me(); atomic.LoadInt64(&a.thread) != me {
		if !atomic.CompareAndSwapInt64(&a.other, 0, me) {
			return nil
		}
		patience = moment
	}
	if c, ok := onBoards.Load(board); ok {
		return c.(*Comm).confirm(patience)
	}
	a.caughtUp(board)
	return nil
}

// confirm waits until all ranks have come to the last call that this rank has left, but not longer than patience unless that is
// 0.
func (c *Comm) confirm(patience time.Duration) error {
	took := c.tryTake()
	for !took {
		if holder := atomic.LoadUint64(c.turn.at); holder != 0 && holder != c.tells.Load() {
			break // a call has it
		}
		runtime.Gosched()
		took = c.tryTake()
	}
	if took {
		defer c.release()
	} else if me := goroutine.ID(); atomic.LoadUint64(c.turn.at) != me || watchdog.HandlerDepth(me) > c.turn.level.Load() {
		return nil // a call is under way there
	}
	if c.gone.Load() {
		return nil
	}
	return c.confirmInTurn(patience)
}

// confirmInTurn is confirm for a caller that has the turn.
func (c *Comm) confirmInTurn(patience time.Duration) error {
	m := c.confirms()
	op, call, gone := m.BeginConfirm()
	defer m.EndConfirm()
	if !gone {
		c.ahead.caughtUp(c.goesOn)
		return nil
	}
	all, err := m.Wait(0)
	for until := time.Now().Add(patience); patience > 0 && !all && err == nil; {
		if time.Now().After(until) {
			return nil
		}
		all, err = m.Wait(watchdog.Interval)
	}
	if !all && err == nil {
		err = c.awaitMeeting(call)
	}
	if err == nil && !m.Agreed() {
		err = c.explainAs(call, nil)
	}
	c.ahead.caughtUp(c.goesOn)
	return status.In(op, err)
}

// hasHeard says that this rank knows what became of the calls that it has left, or raises an error about them now.
func (c *Comm) hasHeard() {
	if c.goesOn != 0 {
		c.ahead.caughtUp(c.goesOn)
	}
}

// mayGoOn reports whether this rank may go on in a call on the communicator in which it needs no other.
func (c *Comm) mayGoOn() bool { return c.goesOn != 0 && c.ahead.claim(c.goesOn, c.rank, c.size) }

// Between nodes, a rank that goes on tells the others by messages what it has called, several calls in one message. If it
// makes no call for a moment, because it computes, a goroutine sends them: others may wait for them.

// teller is this goroutine.
type teller struct {
	stop, stopped chan struct{} // nil: there is none
}

// beginTelling has a goroutine tell the others of calls that this rank has gone on from. The caller has the turn.
func (c *Comm) beginTelling() {
	if c.amongNodes.Awake() {
		return
	}
	c.endTelling()
	c.amongNodes.Wake(true)
	c.teller = teller{stop: make(chan struct{}), stopped: make(chan struct{})}
	go c.tellWhileAhead(c.teller)
}

// tellWhileAhead tells the others until there is nothing more to tell.
func (c *Comm) tellWhileAhead(t teller) {
	const moment, idle = time.Millisecond, 20
	defer close(t.stopped)
	c.tells.Store(goroutine.ID())
	defer c.tells.Store(0)
	for last, quiet := uint64(0), 0; ; {
		select {
		case <-t.stop:
			return
		case <-time.After(moment):
		}
		if number := c.amongNodes.Number(); number != last {
			last, quiet = number, 0
			continue
		}
		if quiet++; !c.tryTake() {
			continue
		}
		if c.amongNodes.Tell() {
			quiet = 0
		}
		over := quiet >= idle
		if over {
			c.amongNodes.Wake(false)
		}
		c.release()
		if over {
			return
		}
	}
}

// endTelling ends the goroutine, if there is one.
func (c *Comm) endTelling() {
	if c.teller.stop != nil {
		close(c.teller.stop)
		<-c.teller.stopped
		c.teller = teller{}
		c.amongNodes.Wake(false)
	}
}
