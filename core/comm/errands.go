package comm

import (
	"sync"
	"sync/atomic"
	"time"

	"dtl/core/backend"
)

// errands are the requests under way that have something left to start when what they wait for is there: a receive whose
// elements come by themselves, for which the sender waits. Who waits for another rank runs them meanwhile, so that no
// rank is held up by one that waits for something else first. They are those of the whole process, for what a rank
// needs on one communicator may keep it from coming to another.
var errands struct {
	n    atomic.Int32 // so that the usual case takes no lock
	mu   sync.Mutex
	list []*Request
	next int // where the next run begins
}

const (
	// errandsAtOnce is how many of them one run looks at.
	errandsAtOnce = 64
	// errandPause is how long a wait goes on between runs.
	errandPause = 100 * time.Microsecond
	// errandPatience is patience where there are errands.
	errandPatience = 20 * time.Microsecond
)

// file takes a request among the errands, or out of them. The caller holds its lock.
func (r *Request) file(yes bool) {
	if yes == r.filed {
		return
	}
	r.filed = yes
	errands.mu.Lock()
	defer errands.mu.Unlock()
	if yes {
		errands.list = append(errands.list, r)
		r.errand = len(errands.list) - 1
	} else {
		last := len(errands.list) - 1
		errands.list[r.errand] = errands.list[last]
		errands.list[r.errand].errand = r.errand
		errands.list[last] = nil
		errands.list = errands.list[:last]
	}
	errands.n.Store(int32(len(errands.list)))
}

// runErrands goes on with some errands as far as they go without waiting, and reports whether there are any.
func runErrands() bool {
	if errands.n.Load() == 0 {
		return false
	}
	var some [errandsAtOnce]*Request
	for _, r := range takeErrands(some[:0]) {
		if r.tryLock() { // or somebody goes on with it
			r.goOn(backend.Request.Test)
			r.unlock()
		}
	}
	return true
}

// takeErrands appends the errands of one run.
func takeErrands(some []*Request) []*Request {
	errands.mu.Lock()
	defer errands.mu.Unlock()
	n := len(errands.list)
	for range min(n, errandsAtOnce) {
		errands.next = (errands.next + 1) % n
		some = append(some, errands.list[errands.next])
	}
	return some
}

// runErrandsAside has another thread run errands, if there are any, until the caller calls what it returns: for calls that
// wait in the backend, where this one cannot. It does nothing where the library allows no other thread.
func runErrandsAside() (end func()) {
	if errands.n.Load() == 0 || callers.limit.Load() != nil {
		return func() {}
	}
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-over:
				return
			case <-time.After(errandPause):
				runErrands()
			}
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}

// begun is how long a call waits in the backend before it waits in the ways of await.
func begun() time.Duration {
	if errands.n.Load() > 0 {
		return errandPatience
	}
	return patience
}
