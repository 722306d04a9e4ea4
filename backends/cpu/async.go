package cpu

import (
	"sync"
	"time"

	"dtl/core/backend"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

var _ backend.AsyncCommunicator = (*Comm)(nil)

// The collectives that do not block are those that do, made on a group of their own by a goroutine for each rank that
// has some to make.

// line is what one rank has started, in order.
type line struct {
	mu    sync.Mutex
	calls []func()
}

// add has the calls made one after the other.
func (l *line) add(call func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, call)
	if len(l.calls) == 1 {
		go l.drain()
	}
}

func (l *line) drain() {
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

// beside returns the group of the collectives that do not block.
func (g *group) beside() *group {
	g.once.Do(func() { g.async = newGroup(len(g.inboxes)) })
	return g.async
}

// start makes a call that waits for the other ranks, without waiting for it.
func (c *Comm) start(call func(c *Comm) error) (backend.Request, error) {
	if c.Size() == 1 {
		return finished{}, call(c)
	}
	r := &collective{over: make(chan struct{})}
	on := &Comm{group: c.group.beside(), rank: c.rank}
	c.group.lines[c.rank].add(func() {
		r.err = call(on)
		close(r.over)
	})
	return r, nil
}

// Ibarrier starts a barrier.
func (c *Comm) Ibarrier() (backend.Request, error) { return c.start((*Comm).Barrier) }

// Ibroadcast starts a broadcast.
func (c *Comm) Ibroadcast(buf memory.Span, root int) (backend.Request, error) {
	return c.start(func(c *Comm) error { return c.Broadcast(buf, root) })
}

// Igather starts a gather.
func (c *Comm) Igather(send, recv memory.Span, root int) (backend.Request, error) {
	return c.start(func(c *Comm) error { return c.Gather(send, recv, root) })
}

// Iallgather starts an allgather.
func (c *Comm) Iallgather(send, recv memory.Span) (backend.Request, error) {
	return c.start(func(c *Comm) error { return c.Allgather(send, recv) })
}

// Iallreduce starts an allreduce.
func (c *Comm) Iallreduce(send, recv memory.Span, op kernel.Op) (backend.Request, error) {
	if err := op.Check(send.Type); err != nil {
		return nil, err // the same on every rank
	}
	return c.start(func(c *Comm) error { return c.Allreduce(send, recv, op) })
}

// collective is a collective under way.
type collective struct {
	over chan struct{} // closed when it is
	err  error
}

var _ backend.Request = (*collective)(nil)

// Wait blocks until the other ranks have made the call, too.
func (r *collective) Wait() (backend.Status, error) {
	<-r.over
	return backend.Status{}, r.err
}

// WaitFor is Wait that gives up after d.
func (r *collective) WaitFor(d time.Duration) (backend.Status, bool, error) {
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
func (r *collective) Test() (backend.Status, bool, error) {
	select {
	case <-r.over:
		return backend.Status{}, true, r.err
	default:
		return backend.Status{}, false, nil
	}
}

// Cancel says that it cannot.
func (r *collective) Cancel() error {
	return status.New(status.Unsupported, "only a receive can be cancelled")
}
