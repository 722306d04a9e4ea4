package numpybridge

import (
	"dtl/core/comm"
	"dtl/core/kernel"
)

// by calls f with the communicator and the operator of the call. If there is none of that number, the other ranks, which
// may be in the call, are told.
func (c *Call) by(name string, f func(*comm.Comm, kernel.Op) error) error {
	return c.on(func(on *comm.Comm) error {
		op, err := kernel.ParseOp(c.Args[0])
		if err != nil {
			_ = on.Refuse(name, err) // where they do something else, this rank's error is still its own
			return err
		}
		return f(on, op)
	})
}

func allreduce(c *Call) error {
	return c.by("allreduce", func(on *comm.Comm, op kernel.Op) error { return on.Allreduce(c.In.Span, c.Out.Span, op) })
}

func reduce(c *Call) error {
	return c.by("reduce", func(on *comm.Comm, op kernel.Op) error { return on.Reduce(c.In.Span, c.Out.Span, op, c.Args[1]) })
}

func scan(c *Call) error {
	return c.by("scan", func(on *comm.Comm, op kernel.Op) (err error) {
		c.Result, err = on.Scan(c.in(), c.out(), op)
		return err
	})
}

func exscan(c *Call) error {
	return c.by("exscan", func(on *comm.Comm, op kernel.Op) (err error) {
		c.Result, err = on.Exscan(c.in(), c.out(), op)
		return err
	})
}

func reduceScatter(c *Call) error {
	return c.by("reduce_scatter", func(on *comm.Comm, op kernel.Op) (err error) {
		c.Result, err = on.ReduceScatter(c.in(), c.out(), op)
		return err
	})
}

// locate is allreduce by MINLOC or MAXLOC, or reduce where the third argument is not 0. The values go to the output, and
// the ranks are the result.
func locate(c *Call) error {
	if c.Args[2] == 0 {
		return c.by("allreduce", func(on *comm.Comm, op kernel.Op) (err error) {
			c.Result, err = on.AllreduceLoc(c.in(), c.Out.Span, op)
			return err
		})
	}
	return c.by("reduce", func(on *comm.Comm, op kernel.Op) (err error) {
		c.Result, err = on.ReduceLoc(c.in(), c.Out.Span, op, c.Args[1])
		return err
	})
}

// twofold reports whether an operator has two results.
func twofold(op int64) bool { return op == int64(kernel.MinLoc) || op == int64(kernel.MaxLoc) }
