package comm

import (
	"time"

	"dtl/core/backend"
	"dtl/core/status"
)

// WaitAny waits until a request is complete, and returns its index. The caller then gets the result from Wait. Requests of
// which nothing is under way are skipped; -1 says that this is so for all.
func (c *Comm) WaitAny(requests []*Request) (int, error) {
	a := &anyRequest{requests: requests}
	if a.look(backend.Request.Test); a.over >= 0 || a.resting == len(requests) {
		return a.over, nil
	}
	_, err := c.await(a, a.awaits())
	return a.over, status.In("waitany", err)
}

// anyRequest is a wait for any of some requests, as a request of the backend.
type anyRequest struct {
	requests []*Request
	over     int // the index of one that is complete, or -1
	resting  int // of how many nothing is under way
}

var _ backend.Request = (*anyRequest)(nil)

func (a *anyRequest) look(test test) {
	a.over, a.resting = -1, 0
	for i, r := range a.requests {
		switch r.look(test) {
		case over, lost:
			a.over = i
			return
		case resting:
			a.resting++
		}
	}
}

// awaits returns what this rank waits for: the first collective, if there are only collectives, because its request is complete before the others.
func (a *anyRequest) awaits() awaited {
	what := named("waitany")
	for _, r := range a.requests {
		if !r.try() {
			return named("waitany")
		}
		p, active := r.started, r.state == underWay
		r.unlock()
		switch {
		case !active:
		case !p.Exists():
			return named("waitany")
		case !what.start.Exists() || p.Number() < what.start.Number():
			what.start = p
		}
	}
	return what
}

// Wait looks until one is complete.
func (a *anyRequest) Wait() (backend.Status, error) {
	for {
		if st, done, err := a.WaitFor(time.Second); done {
			return st, err
		}
	}
}

// WaitFor looks until one is complete, or d has passed.
func (a *anyRequest) WaitFor(d time.Duration) (backend.Status, bool, error) {
	return pollFor(d, a.Test)
}

// Test looks once. Like a backend, it returns an error if waiting would never end.
func (a *anyRequest) Test() (backend.Status, bool, error) {
	a.look(func(r backend.Request) (backend.Status, bool, error) { return r.WaitFor(0) })
	return backend.Status{}, a.over >= 0 || a.resting == len(a.requests), nil
}

// Cancel does nothing: the requests go on.
func (a *anyRequest) Cancel() error { return nil }
