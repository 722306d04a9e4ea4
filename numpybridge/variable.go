package numpybridge

import "dtl/core/comm"

func allgatherv(c *Call) error {
	return c.on(func(on *comm.Comm) (err error) {
		c.Result, err = on.Allgatherv(c.In, c.out())
		return err
	})
}

// gatherv has root's counts in its first list.
func gatherv(c *Call) error {
	return c.on(func(on *comm.Comm) (err error) {
		c.Result, err = on.Gatherv(c.In, c.Lists[0], c.out(), c.Args[0])
		return err
	})
}

// scatterv has root's counts in its first list.
func scatterv(c *Call) error {
	return c.on(func(on *comm.Comm) (err error) {
		c.Result, err = on.Scatterv(c.in(), c.Lists[0], c.out(), c.Args[0])
		return err
	})
}

func alltoall(c *Call) error {
	return c.on(func(on *comm.Comm) error { return on.Alltoall(c.In, c.Out.Span) })
}

// alltoallv has the counts in its lists, of what is sent and of what is expected.
func alltoallv(c *Call) error {
	return c.on(func(on *comm.Comm) (err error) {
		c.Result, err = on.Alltoallv(c.In, c.Lists[0], c.Lists[1], c.out())
		return err
	})
}
