package comm

import "dtl/core/status"

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
