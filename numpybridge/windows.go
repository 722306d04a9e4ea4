package numpybridge

import (
	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/handle"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/rma"
	"dtl/core/runtime"
	"dtl/core/status"
)

// winMake makes a window of the output's memory, or of args[0] bytes that it allocates, and returns its handle.
func winMake(c *Call) error {
	part := rma.Part{Bytes: c.Args[0], Allocate: !c.HasOut}
	if c.HasOut {
		part.Base = c.Out.Span
	}
	return c.on(func(on *comm.Comm) error {
		if c.HasOut && !c.KeepsBuffers {
			return status.New(status.Internal, "the call would let its buffers go before the window does")
		}
		mem, err := hostMemory()
		if err != nil {
			return err
		}
		w, err := rma.New(on, mem, part)
		if err != nil {
			return err
		}
		return c.answer(nil, int64(rma.Windows.Put(w)))
	})
}

// window calls f with the window that the call's handle names.
func (c *Call) window(f func(*rma.Window) error) (err error) {
	ref, err := rma.Windows.Acquire(handle.Handle(c.Handle))
	if err != nil {
		return c.unknown(err)
	}
	defer ref.End(&err)
	return f(ref.Object)
}

// winFacts answers whether all parts are near, the address of this rank's, and the bytes of each.
func winFacts(c *Call) error {
	return c.window(func(w *rma.Window) error {
		numbers := append([]int64{truth(w.Near()), int64(w.Base())}, w.Sizes()...)
		return c.answer([]int64{int64(len(numbers))}, numbers...)
	})
}

// winView returns the part of rank args[0] as elements of type args[1].
func winView(c *Call) error {
	return c.window(func(w *rma.Window) (err error) {
		t := dtype.FromNumber(c.Args[1])
		if !t.Held() {
			return status.New(status.Internal, "no type of elements has the number %d", c.Args[1])
		}
		c.Result, err = w.View(c.Args[0], memory.Span{Type: t})
		return err
	})
}

func winFence(c *Call) error  { return c.window((*rma.Window).Fence) }
func winSync(c *Call) error   { return c.window((*rma.Window).Sync) }
func winDetach(c *Call) error { return c.window((*rma.Window).Detach) }

// winLock locks the part of rank args[0], or all, alone if args[1].
func winLock(c *Call) error {
	return c.window(func(w *rma.Window) error { return w.Lock(c.Args[0], c.Args[1] != 0) })
}

func winUnlock(c *Call) error {
	return c.window(func(w *rma.Window) error { return w.Unlock(c.Args[0]) })
}

// winFlush ends what was begun towards rank args[0], or all, locally if args[1].
func winFlush(c *Call) error {
	return c.window(func(w *rma.Window) error { return w.Flush(c.Args[0], c.Args[1] != 0) })
}

// Accesses have the target in args[0], the offset in args[1], and the operator in args[2].

func winPut(c *Call) error {
	return c.window(func(w *rma.Window) error { return w.Put(c.In.Span, c.Args[0], c.Args[1]) })
}

func winGet(c *Call) error {
	return c.window(func(w *rma.Window) error { return w.Get(c.Out.Span, c.Args[0], c.Args[1]) })
}

func winCombine(c *Call) error {
	return c.window(func(w *rma.Window) error {
		op, err := kernel.ParseWindowOp(c.Args[2])
		if err != nil {
			return err
		}
		return w.Accumulate(c.In.Span, c.Args[0], c.Args[1], op)
	})
}

func winFetch(c *Call) error {
	return c.window(func(w *rma.Window) error {
		op, err := kernel.ParseWindowOp(c.Args[2])
		if err != nil {
			return err
		}
		return w.FetchAndOp(c.In.Span, c.Out.Span, c.Args[0], c.Args[1], op)
	})
}

// winSwap has two elements in its input: what is compared, and what is written.
func winSwap(c *Call) error {
	return c.window(func(w *rma.Window) error {
		if c.In.Count != 2 {
			return status.New(status.InvalidArgument, "two elements are compared and swapped, not %d", c.In.Count)
		}
		return w.CompareAndSwap(c.In.Slice(0, 1), c.In.Slice(1, 2), c.Out.Span, c.Args[0], c.Args[1])
	})
}

// winRput and winRget return the handle of a request.
func winRput(c *Call) error {
	return c.started(func(w *rma.Window) (*comm.Request, error) { return w.Rput(c.In.Span, c.Args[0], c.Args[1]) })
}

func winRget(c *Call) error {
	return c.started(func(w *rma.Window) (*comm.Request, error) { return w.Rget(c.Out.Span, c.Args[0], c.Args[1]) })
}

func (c *Call) started(f func(*rma.Window) (*comm.Request, error)) error {
	return c.window(func(w *rma.Window) error {
		if !c.KeepsBuffers {
			return status.New(status.Internal, "the call would let its buffers go before the operation does")
		}
		r, err := f(w)
		if err != nil {
			return err
		}
		return c.answer(nil, int64(runtime.Requests.Put(r)))
	})
}

// place returns the rank that holds the element of the input's indices, one a dimension, and where in its part.
func place(c *Call) error {
	index, err := c.integers()
	if err != nil {
		return err
	}
	return c.container(func(of container.Container) error {
		rank, at, err := container.Place(of, index)
		if err != nil {
			return err
		}
		return c.answer([]int64{2}, int64(rank), at)
	})
}
