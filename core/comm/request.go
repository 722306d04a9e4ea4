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

// Request is a message or a collective call under way. Its buffers belong to the operation until that is over. All
// methods may be called from any goroutine; they take turns.
type Request struct {
	comm      *Comm
	name      string // of the call
	task      task
	started   agreement.Start
	mu        sync.Mutex
	state     state
	wait      backend.Request // what the task waits for while it is under way
	err       error           // of what is over
	cancelled bool
	waiters   atomic.Int32     // who has the lock for as long as it takes, or wants it
	queued    progress.Entry   // in the progress queue
	peek      *requestPeek     // of code outside Go that looks at it; nil: there is none
	absence   watchdog.Absence // of the rank that it waits for
}

// state says where a request is. One that may be started again goes round.
type state int

const (
	resting  state = iota // nothing is under way, and nothing to be had
	underWay              // task waits
	over                  // the result is there to be had
	lost                  // nobody waits any more for what will never end
)

// task is what a request does, in stages that wait for one operation of the backend each.
type task interface {
	// begin starts it, and returns what it waits for first; nil if it is over.
	begin() (backend.Request, error)
	// next is told how that has ended, and returns what it waits for next; nil if it is over.
	next(st backend.Status, err error) (backend.Request, error)
	// result hands over what came, once.
	result() Result
	// more reports whether something is left to start when what it waits for is there.
	more() bool
	// awaits says what it waits for.
	awaits() awaited
}

// ended is the error of a task that could begin, and is over at once with what it wraps.
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

// Start starts a request that rests.
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

// Wait returns the result when the operation is over; then the request rests. The caller owns the result. An error of
// the waiting itself leaves the operation under way.
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

// settled waits until the request is not under way. Its error is one of the waiting.
func (r *Request) settled() error {
	for r.state == underWay {
		if err := r.await(); err != nil {
			r.enqueue(r.state == underWay && r.task.more())
			return err
		}
	}
	return nil
}

// enqueue takes the request into the progress queue, or out of it. The caller holds its lock.
func (r *Request) enqueue(yes bool) { r.queued.Set((*advancing)(r), yes) }

// advancing is a request as a task of the progress queue.
type advancing Request

// Advance goes on with the request unless somebody else does.
func (a *advancing) Advance() {
	if r := (*Request)(a); r.tryLock() {
		r.goOn(backend.Request.Test)
		r.unlock()
	}
}

// await waits for what the task waits for, and goes on. Its error is one of the waiting.
func (r *Request) await() error {
	r.enqueue(false) // nobody else goes on with it
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

// lose gives the operation up if it will never end, which why says where it is inVain, and returns what who waits for it
// gets now. A receive is taken back; the buffers of anything else stay with it.
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

// inVain says why the operation will never end, if so. It is asked often, and looks for absent ranks now and then.
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

// Test reports whether Wait would return at once. It never waits, and says no while another goroutine waits.
func (r *Request) Test() bool { return r.look(backend.Request.Test) != underWay }

// look goes on with a request as far as it goes without waiting, and says where it is then.
func (r *Request) look(test test) state {
	if !r.try() {
		return underWay // somebody else waits for it
	}
	defer r.unlock()
	r.goOn(test)
	return r.state
}

// try takes the lock unless somebody waits for the request. Who runs the progress queue has it for a moment only.
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

// goOn goes as far as it can without waiting.
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

// Cancel takes a receive back to which no message has come, and reports whether it could.
func (r *Request) Cancel() (bool, error) {
	if !r.try() {
		return false, nil // somebody waits for it
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

// Active reports whether the operation is under way, as of the last time that somebody asked.
func (r *Request) Active() bool {
	if !r.try() {
		return true
	}
	defer r.unlock()
	return r.state == underWay
}

// Close gives up a result that nobody has asked for. What is under way keeps its buffers for good: an error.
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

// Engage counts n more operations as under way that are no Requests, such as exchanges of halos; n is negative when they
// are over.
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

// SettleOn waits until the request is not under way, if it is one of c's. What it brought, or how it failed, stays for
// Wait to say; an error is one of the waiting.
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

// Holds reports that a request is somebody's to wait for.
func (*Request) Holds() bool { return true }
