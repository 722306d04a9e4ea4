package agreement

import (
	"time"

	"dtl/core/backend"
	"dtl/core/status"
)

// Pending is a start in line. To the request of its operation it is what that waits for first.
type Pending struct {
	of         *Starts
	permission permission
	ready      bool                            // act is known, or there is none
	act        func() (backend.Request, error) // begins the operation; nil: this rank cannot
	begun      bool                            // or it is known that it will not be
	next       backend.Request                 // what act returned
	err        error
}

var _ backend.Request = (*Pending)(nil)

// advance begins what can begin. The caller holds the lock.
func (s *Starts) advance() {
	for len(s.line) > 0 && s.line[0].ready {
		first := s.line[0]
		given, err := first.permission.given()
		if !given {
			return
		}
		s.line = s.line[1:]
		first.begun = true
		if first.err = err; err == nil && first.act != nil {
			first.next, first.err = first.act()
		}
	}
}

// GoOn begins what can begin.
func (s *Starts) GoOn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance()
}

// BeginWith says how the operation begins when it may.
func (p *Pending) BeginWith(act func() (backend.Request, error)) {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.act, p.ready = act, true
}

// Begun returns what BeginWith's act has returned, or why the operation must not begin. Test has said that it is known.
func (p *Pending) Begun() (backend.Request, error) { return p.next, p.err }

// Test goes on with the starts before this one, and reports whether its operation has begun, or will not.
func (p *Pending) Test() (backend.Status, bool, error) {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.of.advance()
	return backend.Status{}, p.begun, nil
}

// WaitFor is Test again and again.
func (p *Pending) WaitFor(d time.Duration) (backend.Status, bool, error) {
	return p.of.watch(d, p.Test)
}

// Wait returns when the operation has begun, or will not.
func (p *Pending) Wait() (backend.Status, error) {
	for {
		if st, done, err := p.WaitFor(time.Second); done {
			return st, err
		}
	}
}

// Cancel is refused: the other ranks may have begun.
func (p *Pending) Cancel() error {
	return status.New(status.Unsupported, "a collective cannot be cancelled")
}

// Stop says that the communicator closes: nothing starts any more, and nobody waits.
func (s *Starts) Stop() {
	s.stopped.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by != nil {
		s.by.stop(s)
	}
}

// Drain goes on with what is in line when the communicator has closed, and reports whether the line is empty now, and
// whether an operation began, here or elsewhere, that nobody waits for any more.
func (s *Starts) Drain() (empty, begun bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.line) > 0 {
		first := s.line[0]
		first.ready = true
		if s.advance(); !first.begun {
			return false, begun
		}
		begun = begun || first.err == nil
	}
	return true, begun
}

// Free frees what the ranks compared their starts on, which all of them have closed.
func (s *Starts) Free() error {
	if s.by == nil {
		return nil
	}
	return s.by.free()
}
