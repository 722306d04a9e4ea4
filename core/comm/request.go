package comm

import (
	"runtime"
	"sync"
	"sync/atomic"

	"dtl/core/backend"
	"dtl/core/comm/agreement"
	"dtl/core/progress"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// Request is a message or a collective call under way. The operation uses its buffers until it is complete. All methods may
// be called from any goroutine; they take turns.
type Request struct {
	comm      *Comm
	name      string // of the call
	task      task
	started   agreement.Start
	mu        sync.Mutex
	state     state
	wait      backend.Request // what the task waits for while it is under way
	err       error           // of the operation that is complete
	cancelled bool
	waiters   atomic.Int32     // how many goroutines hold the lock while they wait, or want it
	queued    progress.Entry   // in the progress queue
	peek      *requestPeek     // of code outside Go that looks at it; nil: there is none
	absence   watchdog.Absence // of the rank that it waits for
}

// state says where a request is. A request that may be started again goes through the states again.
type state int

const (
	resting  state = iota // nothing is under way, and there is no result
	underWay              // task waits
	over                  // the result is available
	lost                  // the operation will never be complete, and nothing waits for it any more
)

// task is what a request does, in stages that each wait for one operation of the backend.
type task interface {
	// begin starts it, and returns what it waits for first; nil if it is complete.
	begin() (backend.Request, error)
	// next is told how that has ended, and returns what it waits for next; nil if it is complete.
	next(st backend.Status, err error) (backend.Request, error)
	// result returns what was received, once.
	result() Result
	// more reports whether there is another step to start when what it waits for has arrived.
	more() bool
	// awaits says what it waits for.
	awaits() awaited
}

// ended is the error of a task that could begin and is complete at once, with the error that it wraps.
type ended struct{ error }

// begin makes a request of a task and starts it.
func (c *Comm) begin(name string, t task, p agreement.Start) (*Request, error) {
	if p.Pending != nil {
		t = &pendingTask{task: t, pending: p.Pending}
	}
	r := &Request{comm: c, name: name, task: t, started: p}
	if err := r.Start(); err != nil {
		return nil, err
	}
	return r, nil
}

// Start starts a request of which nothing is under way.
func (r *Request) Start() error {
	r.lock()
	defer r.unlock()
	return status.In(r.name, r.start())
}

func (r *Request) start() error {
	if r.state != resting {
		return status.New(status.InvalidArgument, "the request has been started already, and nobody has waited for it since")
	}
	r.comm.active.Add(1)
	if !r.comm.admits() {
		r.comm.active.Add(-1)
		return closed()
	}
	wait, err := r.task.begin()
	early, isEarly := err.(ended)
	if err != nil && !isEarly {
		r.comm.active.Add(-1)
		return err
	}
	r.comm.engine.Open()
	r.state, r.err, r.cancelled = underWay, nil, false
	r.went(wait, early.error)
	return nil
}

// went records what the task waits for next, if anything.
func (r *Request) went(wait backend.Request, err error) {
	r.wait = wait
	if wait != nil {
		r.enqueue(r.waiters.Load() == 0 && r.task.more())
		return
	}
	r.enqueue(false)
	r.state, r.err = over, err
	if disagreed := r.started.Check(); r.err == nil {
		r.err = disagreed
	}
	r.comm.active.Add(-1)
	r.comm.engine.Shut()
}

// Wait returns the result when the operation is complete; the request can then be started again. The caller owns the result.
// After an error of the wait itself, the operation is still under way.
func (r *Request) Wait() (Result, error) {
	r.waiters.Add(1)
	r.lock()
	defer r.unlock()
	defer r.waiters.Add(-1)
	if err := r.settled(); err != nil {
		return Result{}, status.In(r.name, err)
	}
	switch r.state {
	case lost:
		return Result{}, status.In(r.name, r.err)
	case resting:
		return Result{}, status.In(r.name, status.New(status.InvalidArgument, "the request has not been started"))
	}
	r.state = resting
	if r.err != nil {
		return Result{}, status.In(r.name, r.err)
	}
	return r.task.result(), nil
}

// settled waits until the request is not under way. Its error is one of the wait itself.
func (r *Request) settled() error {
	for r.state == underWay {
		if err := r.await(); err != nil {
			r.enqueue(r.state == underWay && r.task.more())
			return err
		}
	}
	return nil
}

// enqueue puts the request into the progress queue, or takes it out. The caller holds its lock.
func (r *Request) enqueue(yes bool) { r.queued.Set((*advancing)(r), yes) }

// advancing is a request as a task of the progress queue.
type advancing Request

// Advance executes the request as far as possible, unless another goroutine does so.
func (a *advancing) Advance() {
	if r := (*Request)(a); r.tryLock() {
		r.goOn(backend.Request.Test)
		r.unlock()
	}
}

// await waits for what the task waits for, and continues the task. Its error is one of the wait itself.
func (r *Request) await() error {
	r.enqueue(false) // no other goroutine continues it
	checked := checked{r.wait, r.started}
	st, done, err := checked.WaitFor(begun())
	if !done && err == nil {
		what := r.task.awaits()
		what.start = r.started
		st, err = r.comm.await(checked, what)
	}
	if err != nil && !done {
		if _, done, _ = r.wait.Test(); !done {
			return r.lose(err)
		}
	}
	r.went(r.task.next(st, err))
	return nil
}

// lose gives the operation up if it will never be complete, which why says if it is inVain, and returns the error for the wait.
// A receive is cancelled; any other operation keeps its buffers.
func (r *Request) lose(why error) error {
	if !watchdog.IsInVain(why) {
		return why
	}
	if t, ok := r.task.(*receiving); ok && !t.opened {
		if st, gone := backend.TakeBack(r.wait); gone {
			if r.went(t.next(st, nil)); r.state == over && st.Cancelled {
				r.err = why
			}
			return nil
		}
	}
	r.enqueue(false)
	r.comm.keepsPayload.Store(true)
	r.state, r.err = lost, why
	r.comm.active.Add(-1)
	r.comm.engine.Shut()
	return why
}

// inVain says why the operation will never be complete, if so. It is called often, and looks for absent ranks now and then.
func (r *Request) inVain() error {
	if err := r.started.Check(); err != nil {
		return err
	}
	if !r.absence.Due() {
		return nil
	}
	r.comm.group.Listen()
	what := r.task.awaits()
	what.start = r.started
	return r.absence.Check(r.comm.absent(what), what.call())
}

// Test reports whether Wait would return at once. It never waits, and says no while another goroutine waits. If not, it goes on
// with other requests of this rank: a program may test one of them until it is complete, and that may need the others, here or
// on another rank.
func (r *Request) Test() bool {
	if r.look(backend.Request.Test) != underWay {
		return true
	}
	progress.RunQueue()
	return false
}

// look continues a request as far as possible without waiting, and returns its state then.
func (r *Request) look(test test) state {
	if !r.try() {
		return underWay // another goroutine waits for it
	}
	defer r.unlock()
	r.goOn(test)
	return r.state
}

// try takes the lock unless a goroutine waits for the request. One that runs the progress queue holds it only for a moment.
func (r *Request) try() bool {
	for !r.tryLock() {
		if r.waiters.Load() > 0 {
			return false
		}
		runtime.Gosched()
	}
	return true
}

// test asks a request of the backend whether it is complete.
type test func(backend.Request) (backend.Status, bool, error)

// goOn continues the task as far as possible without waiting.
func (r *Request) goOn(test test) {
	for r.state == underWay {
		st, done, err := test(r.wait)
		if !done {
			if r.lose(r.inVain()); r.state == underWay {
				return
			}
			continue
		}
		r.went(r.task.next(st, err))
	}
}

// Cancel cancels a receive for which no message has arrived, and reports whether it could.
func (r *Request) Cancel() (bool, error) {
	if !r.try() {
		return false, nil // a goroutine waits for it
	}
	defer r.unlock()
	receive, ok := r.task.(*receiving)
	if !ok || r.state != underWay || receive.opened {
		return false, nil
	}
	if err := r.wait.Cancel(); err != nil {
		return false, status.In(r.name, err)
	}
	if st, done, err := r.wait.WaitFor(patience); done {
		r.cancelled = st.Cancelled
		r.went(r.task.next(st, err))
	}
	return r.cancelled, nil
}

// Active reports whether the operation was under way when it was last tested.
func (r *Request) Active() bool {
	if !r.try() {
		return true
	}
	defer r.unlock()
	return r.state == underWay
}

// Close drops a result that nobody has asked for. If the operation is under way, it keeps its buffers for good, and Close
// returns an error.
func (r *Request) Close() error {
	r.lock()
	defer r.unlock()
	if r.state == underWay || r.state == lost {
		return status.In(r.name, status.New(status.ViewsOut, "the request is under way"))
	}
	if r.state == over && r.err == nil {
		result := r.task.result()
		result.release()
	}
	r.state = resting
	r.closePeek()
	return nil
}

// Active returns how many requests, and operations like them, are under way.
func (c *Comm) Active() int { return int(c.active.Load()) }

// Engage counts n more operations as under way that are not Requests, such as exchanges of halos. n is negative when they are
// complete.
func (c *Comm) Engage(n int) { c.active.Add(int64(n)) }

// Idle is nil unless requests are under way.
func (c *Comm) Idle() error {
	switch n := c.Active(); n {
	case 0:
		return nil
	case 1:
		return status.New(status.ViewsOut, "1 request is active; wait for it first, or cancel it")
	default:
		return status.New(status.ViewsOut, "%d requests are active; wait for them first, or cancel them", n)
	}
}

// SettleOn waits until the request is not under way, if it is one of c's. Wait still returns its result or its error; an error
// of SettleOn is one of the wait itself.
func (r *Request) SettleOn(c *Comm) error {
	if r.comm != c {
		return nil
	}
	r.waiters.Add(1)
	r.lock()
	defer r.unlock()
	defer r.waiters.Add(-1)
	return status.In(r.name, r.settled())
}

// Holds reports that a program can wait for the request.
func (*Request) Holds() bool { return true }
