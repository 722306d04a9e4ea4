package runtime

import (
	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/handle"
	"dtl/core/progress"
	"dtl/core/status"
)

// Holds reports whether only Close lets the context's communicator go.
func (c *Context) Holds() bool { return c.backend != backend.Local }

// Shut is Close of the context that a handle names, unless requests on it are active, or windows are in use on any rank:
// then nothing has happened. Calls of other threads that wait on it fail; the last of them closes it. Collective.
func Shut(h handle.Handle) error {
	return status.In("close", with(h, func(c *Context) error {
		if err := c.comm.Closable(); err != nil {
			return err
		}
		if err := c.comm.BeginClose(); err != nil { // another thread has started a request since
			return err
		}
		return Contexts.Close(h)
	}))
}

// Settle waits until no request is active on the context that a handle names, so that Shut can be called. What the
// requests brought can still be had.
func Settle(h handle.Handle) error {
	return status.In("close", with(h, func(c *Context) error {
		if err := comm.Confirm(0); err != nil {
			return err
		}
		return settle(c.comm)
	}))
}

// with calls f with the context that a handle names.
func with(h handle.Handle, f func(*Context) error) (err error) {
	ref, err := Contexts.Acquire(h)
	if err != nil {
		return err
	}
	defer ref.End(&err)
	return f(ref.Object)
}

// settle waits for the requests on a communicator that somebody still asks about.
func settle(on *comm.Comm) error {
	for _, h := range Requests.Handles() {
		if err := settled(h, on); err != nil {
			return err
		}
	}
	return nil
}

// settled waits for the request that a handle names, if it is on the communicator.
func settled(h handle.Handle, on *comm.Comm) (err error) {
	ref, gone := Requests.Acquire(h)
	if gone != nil {
		return nil // closed meanwhile: it was not under way
	}
	defer ref.End(&err)
	return ref.Object.SettleOn(on)
}

// GiveUp has this rank make no more calls on the context that a handle names. It tells the other ranks why, and nothing is
// freed. Local.
func GiveUp(h handle.Handle, why string) error {
	return status.In("close", with(h, func(c *Context) error {
		if err := progress.Enter(); err != nil {
			return err
		}
		defer progress.Exit()
		c.comm.GiveUp(why)
		return nil
	}))
}
