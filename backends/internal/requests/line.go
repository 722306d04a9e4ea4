package requests

import (
	"sync"
	"time"

	"dtl/core/backend"
	"dtl/core/status"
)

// Line makes calls that wait for other ranks in the background, one after the other: the collectives that do not block,
// of one rank. A goroutine makes them while there are some. The zero Line is ready for use.
type Line struct {
	mu    sync.Mutex
	calls []func()
}

// Start has a call made after those that were started before, and returns at once.
func (l *Line) Start(call func() error) backend.Request {
	r := &request{over: make(chan struct{})}
	l.add(func() {
		r.err = call()
		close(r.over)
	})
	return r
}

func (l *Line) add(call func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, call)
	if len(l.calls) == 1 {
		go l.drain()
	}
}

func (l *Line) drain() {
	for {
		l.mu.Lock()
		call := l.calls[0]
		l.mu.Unlock()
		call()
		l.mu.Lock()
		l.calls = l.calls[1:]
		empty := len(l.calls) == 0
		l.mu.Unlock()
		if empty {
			return
		}
	}
}

// request is a call under way.
type request struct {
	over chan struct{} // closed when it is
	err  error
}

var _ backend.Request = (*request)(nil)

// Wait blocks until the other ranks have made the call, too.
func (r *request) Wait() (backend.Status, error) {
	<-r.over
	return backend.Status{}, r.err
}

// WaitFor is Wait that gives up after d.
func (r *request) WaitFor(d time.Duration) (backend.Status, bool, error) {
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case <-r.over:
		return backend.Status{}, true, r.err
	case <-late.C:
		return backend.Status{}, false, nil
	}
}

// Test reports whether the other ranks have made the call, too.
func (r *request) Test() (backend.Status, bool, error) {
	select {
	case <-r.over:
		return backend.Status{}, true, r.err
	default:
		return backend.Status{}, false, nil
	}
}

// Cancel says that it cannot.
func (r *request) Cancel() error {
	return status.New(status.Unsupported, "only a receive can be cancelled")
}
