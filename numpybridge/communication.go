package numpybridge

import (
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/handle"
	"dtl/core/runtime"
	"dtl/core/status"
)

// on calls f with the communicator of the call's context.
func (c *Call) on(f func(*comm.Comm) error) (err error) {
	if c.Met {
		return c.within(f)
	}
	ref, err := runtime.Contexts.Acquire(handle.Handle(c.Handle))
	if err != nil {
		return c.unknown(err)
	}
	defer ref.End(&err)
	on, err := ref.Object.Comm()
	if err != nil {
		return err
	}
	return f(on)
}

// within is on for a part of a call that C is in the middle of: the communicator is there until that ends, also where the
// context has been closed meanwhile.
func (c *Call) within(f func(*comm.Comm) error) error {
	on := comm.OnFastPath(c.Handle)
	if on == nil {
		return status.New(status.Internal, "no call is under way on the context")
	}
	return f(on)
}

func barrier(c *Call) error { return c.on((*comm.Comm).Barrier) }

func broadcast(c *Call) error {
	return c.on(func(on *comm.Comm) (err error) {
		if c.Met {
			c.Result, err = on.Broadcasted(c.out(), c.Args[0])
			return err
		}
		c.Result, err = on.Broadcast(c.in(), c.out(), c.Args[0])
		return err
	})
}

func allgather(c *Call) error {
	return c.on(func(on *comm.Comm) error { return on.Allgather(c.In.Span, c.Out.Span) })
}

func gather(c *Call) error {
	return c.on(func(on *comm.Comm) error { return on.Gather(c.In.Span, c.Out.Span, c.Args[0]) })
}

func scatter(c *Call) error {
	return c.on(func(on *comm.Comm) (err error) {
		if c.Met {
			c.Result, err = on.Scattered(c.out(), c.Args[0])
			return err
		}
		c.Result, err = on.Scatter(c.in(), c.out(), c.Args[0])
		return err
	})
}

func send(c *Call) error {
	return c.on(func(on *comm.Comm) error { return on.Send(c.In, c.Args[0], c.Args[1]) })
}

func recv(c *Call) error {
	expected := comm.Expected{Type: dtype.Type(c.Args[2]), Count: c.Args[3]}
	return c.on(func(on *comm.Comm) (err error) {
		c.Result, err = on.Recv(c.out(), expected, c.Args[0], c.Args[1])
		return err
	})
}

func sendrecv(c *Call) error {
	return c.on(func(on *comm.Comm) (err error) {
		c.Result, err = on.Sendrecv(c.In, c.Args[0], c.Args[1], c.out(), c.Args[2], c.Args[3])
		return err
	})
}
