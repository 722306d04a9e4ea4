package cpu

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"dtl/core/backend"
	"dtl/core/status"
)

// Pool runs loops on threads of its own besides its callers, fewer than GOMAXPROCS, and other work on goroutines.
type Pool struct {
	free chan *helper // that have nothing to do; nil is one that has not been started

	mu      sync.Mutex
	idle    sync.Cond // running fell to zero
	running int       // started by Execute
	failed  error     // panics of what Execute started
}

var _ backend.ParallelExecutor = (*Pool)(nil)

// NewPool returns a pool for as many threads as run in parallel now. It starts each at its first use.
func NewPool() *Pool {
	p := &Pool{free: make(chan *helper, runtime.GOMAXPROCS(0)-1)}
	for range cap(p.free) {
		p.free <- nil
	}
	p.idle.L = &p.mu
	return p
}

// Name returns "cpu".
func (p *Pool) Name() string { return backend.Local }

// MaxParallelism returns how many bodies one ParallelFor may run at once.
func (p *Pool) MaxParallelism() int { return cap(p.free) + 1 }

// Execute runs f on a goroutine. Synchronize reports if it panics.
func (p *Pool) Execute(f func()) error {
	if f == nil {
		return status.New(status.InvalidArgument, "no function to execute")
	}
	p.mu.Lock()
	p.running++
	p.mu.Unlock()
	go func() {
		defer func() {
			var err error
			if v := recover(); v != nil {
				err = status.Recovered(v)
			}
			p.ended(err)
		}()
		f()
	}()
	return nil
}

func (p *Pool) ended(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = errors.Join(p.failed, err)
	p.running--
	if p.running == 0 {
		p.idle.Broadcast()
	}
}

// Synchronize returns when everything that Execute started has ended, with what panicked since the last time.
func (p *Pool) Synchronize() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.running > 0 {
		p.idle.Wait()
	}
	err := p.failed
	p.failed = nil
	return err
}

const (
	// grain is the least number of indices that is worth a thread.
	grain = 1024
	// chunks is how many parts each thread gets, so that a slow one does not keep the others waiting.
	chunks = 4
)

// loop is one ParallelFor under way.
type loop struct {
	n, chunk int
	body     func(lo, hi int)
	next     atomic.Int64 // index that nobody has taken
	panicked atomic.Pointer[any]
}

// ParallelFor calls body on ranges that cover [0, n), on the caller's thread and on those that are free.
// Less than two grains run on the caller's alone. After a panic no range is started.
func (p *Pool) ParallelFor(n int, body func(lo, hi int)) error {
	if n < 0 || body == nil {
		return status.New(status.InvalidArgument, "a body over %d indices: there must be a body, and the number not negative", n)
	}
	if n == 0 {
		return nil
	}
	if n < 2*grain {
		body(0, n)
		return nil
	}
	l := &loop{n: n, body: body, chunk: max(grain, n/(chunks*p.MaxParallelism())+1)}
	helpers := p.begin(l, (n-1)/l.chunk)
	l.run()
	for _, h := range helpers {
		h.end()
		p.free <- h
	}
	if v := l.panicked.Load(); v != nil {
		panic(*v)
	}
	return nil
}

// begin has at most so many helpers take a loop, and returns those that do.
func (p *Pool) begin(l *loop, most int) (helpers []*helper) {
	where := elsewhere()
	for range min(cap(p.free), most) {
		select {
		case h := <-p.free:
			if h == nil {
				h = newHelper()
			}
			h.begin(l, &where)
			helpers = append(helpers, h)
		default: // all are busy, perhaps with the loop that this one is part of
			return helpers
		}
	}
	return helpers
}

// run takes ranges until none is left.
func (l *loop) run() {
	defer func() {
		if v := recover(); v != nil {
			l.panicked.CompareAndSwap(nil, &v)
		}
	}()
	for l.panicked.Load() == nil {
		hi := int(l.next.Add(int64(l.chunk)))
		lo := hi - l.chunk
		if lo >= l.n {
			return
		}
		l.body(lo, min(hi, l.n))
	}
}
