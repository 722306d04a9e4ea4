package numpybridge

import (
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/handle"
	"dtl/core/kernel"
	"dtl/core/progress"
	"dtl/core/rma"
	"dtl/core/runtime"
	"dtl/core/status"
)

// begin starts what f does on the communicator of the call's context, and answers with the handle of the request.
func (c *Call) begin(f func(*comm.Comm) (*comm.Request, error)) error {
	return c.on(func(on *comm.Comm) error {
		if !c.KeepsBuffers {
			return status.New(status.Internal, "the call would let its buffers go before the operation does")
		}
		r, err := f(on)
		if err != nil {
			return err
		}
		return c.answer(nil, int64(runtime.Requests.Put(r)))
	})
}

// request calls f with the request that the call's handle names.
func (c *Call) request(f func(*comm.Request) error) (err error) {
	ref, err := runtime.Requests.Acquire(handle.Handle(c.Handle))
	if err != nil {
		return err
	}
	defer ref.End(&err)
	return f(ref.Object)
}

func (c *Call) expected() comm.Expected {
	return comm.Expected{Type: dtype.Type(c.Args[2]), Count: c.Args[3]}
}

func isend(c *Call) error {
	return c.begin(func(on *comm.Comm) (*comm.Request, error) { return on.Isend(c.In, c.Args[0], c.Args[1]) })
}

func irecv(c *Call) error {
	return c.begin(func(on *comm.Comm) (*comm.Request, error) {
		return on.Irecv(c.out(), c.expected(), c.Args[0], c.Args[1])
	})
}

func sendInit(c *Call) error {
	return c.begin(func(on *comm.Comm) (*comm.Request, error) { return on.SendInit(c.In, c.Args[0], c.Args[1]) })
}

func recvInit(c *Call) error {
	return c.begin(func(on *comm.Comm) (*comm.Request, error) {
		return on.RecvInit(c.out(), c.expected(), c.Args[0], c.Args[1])
	})
}

func start(c *Call) error { return c.request((*comm.Request).Start) }

func wait(c *Call) error {
	return c.request(func(r *comm.Request) (err error) {
		c.Result, err = r.Wait()
		return err
	})
}

// test answers 1 where wait would return at once, else nothing, for that is asked again and again.
func test(c *Call) error {
	return c.request(func(r *comm.Request) error {
		if !r.Test() {
			return nil
		}
		return c.answer(nil, truth(true))
	})
}

// cancel answers 1 where the request was taken back, else 0.
func cancel(c *Call) error {
	return c.request(func(r *comm.Request) error {
		yes, err := r.Cancel()
		if err != nil {
			return err
		}
		return c.answer(nil, truth(yes))
	})
}

func truth(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// waitAny answers with the place of a request that is over, of those whose handles are the input; -1 if all rest.
func waitAny(c *Call) (err error) {
	handles, err := c.integers()
	if err != nil {
		return err
	}
	requests := make([]*comm.Request, len(handles))
	for i, h := range handles {
		ref, err := runtime.Requests.Acquire(handle.Handle(h))
		if err != nil {
			return err
		}
		defer ref.End(&err)
		requests[i] = ref.Object
	}
	return c.on(func(on *comm.Comm) error {
		i, err := on.WaitAny(requests)
		if err != nil {
			return err
		}
		return c.answer(nil, int64(i))
	})
}

// EndRequest closes a request's handle, and reports whether its buffers are free: it is not under way. A window's are
// when it has ended.
func EndRequest(h int64) bool {
	if ref, err := rma.Windows.Acquire(handle.Handle(h)); err == nil {
		open := ref.Object.Open()
		return ref.Release() == nil && !open
	}
	ref, err := runtime.Requests.Acquire(handle.Handle(h))
	if err != nil {
		return true
	}
	if progress.Enter() == nil {
		ref.Object.Test()
		progress.Exit()
	}
	active := ref.Object.Active()
	if ref.Release() != nil || active {
		return false
	}
	return runtime.Requests.Close(handle.Handle(h)) == nil
}

func probe(c *Call) error {
	return c.on(func(on *comm.Comm) error {
		n, err := on.Probe(c.Args[0], c.Args[1])
		if err != nil {
			return err
		}
		return c.notice(n)
	})
}

// iprobe answers nothing where there is no message.
func iprobe(c *Call) error {
	return c.on(func(on *comm.Comm) error {
		n, there, err := on.Iprobe(c.Args[0], c.Args[1])
		if !there || err != nil {
			return err
		}
		return c.notice(n)
	})
}

// notice answers with source, tag, dtype and shape.
func (c *Call) notice(n comm.Notice) error {
	numbers := append([]int64{int64(n.Source), int64(n.Tag), int64(n.Type)}, n.Shape...)
	return c.answer([]int64{int64(len(numbers))}, numbers...)
}

func ibarrier(c *Call) error { return c.begin((*comm.Comm).Ibarrier) }

func iallreduce(c *Call) error {
	return c.begin(func(on *comm.Comm) (*comm.Request, error) {
		op, err := kernel.ParseOp(c.Args[0])
		if err != nil {
			on.RefuseStart("iallreduce", err)
			return nil, err
		}
		return on.Iallreduce(c.In.Span, c.Out.Span, op)
	})
}

func ibroadcast(c *Call) error {
	return c.begin(func(on *comm.Comm) (*comm.Request, error) { return on.Ibroadcast(c.in(), c.out(), c.Args[0]) })
}

func igather(c *Call) error {
	return c.begin(func(on *comm.Comm) (*comm.Request, error) { return on.Igather(c.In.Span, c.Out.Span, c.Args[0]) })
}

func iallgather(c *Call) error {
	return c.begin(func(on *comm.Comm) (*comm.Request, error) { return on.Iallgather(c.In.Span, c.Out.Span) })
}

// ialltoallv has the counts in its lists, of what is sent and of what is expected.
func ialltoallv(c *Call) error {
	return c.begin(func(on *comm.Comm) (*comm.Request, error) {
		return on.Ialltoallv(c.In, c.Lists[0], c.Lists[1], c.out())
	})
}
