package numpybridge

import (
	"runtime/cgo"

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

// winMake makes a window of the output's memory, or of args[0] bytes that it allocates, and returns its handle. args[1] names the same
// memory where a device reaches it, alone if there is no output; 0: none does.
func winMake(c *Call) error {
	part := rma.Part{Bytes: c.Args[0], Allocate: !c.HasOut && c.Args[1] == 0}
	if c.HasOut {
		part.Base = c.Out.Span
	}
	if c.Args[1] != 0 {
		r := onDevice(c.Args[1])
		part.Base, part.Storage, part.Queue = r.Raw(), r.Storage, r.Queue
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

// onDevice returns elements that a device reaches, by their number in Python.
func onDevice(number int64) *comm.Result { return cgo.Handle(uintptr(number)).Value().(*comm.Result) }

// buffer returns the elements of an access, which are those of a buffer, or, if args[3] is 1, on a device: then the input has their
// number and their type. What is queued on them is done.
func (c *Call) buffer(of comm.Array) (memory.Span, error) {
	if c.Args[3] == 0 {
		return of.Span, nil
	}
	words, err := c.integers()
	if err != nil {
		return memory.Span{}, err
	}
	r, t := onDevice(words[0]), dtype.Type(words[1])
	span := r.Raw()
	span.Count, span.Type = span.Count/t.Size(), t
	return span, r.Queue.Synchronize()
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

// Accesses have the target in args[0], the offset in args[1], and the operator in args[2]. Put, get and accumulate may be given elements
// on a device.

func winPut(c *Call) error {
	from, err := c.buffer(c.In)
	if err != nil {
		return err
	}
	return c.window(func(w *rma.Window) error { return w.Put(from, c.Args[0], c.Args[1]) })
}

func winGet(c *Call) error {
	into, err := c.buffer(c.Out)
	if err != nil {
		return err
	}
	return c.window(func(w *rma.Window) error { return w.Get(into, c.Args[0], c.Args[1]) })
}

func winCombine(c *Call) error {
	return c.window(func(w *rma.Window) error {
		op, err := kernel.ParseWindowOp(c.Args[2])
		if err != nil {
			return err
		}
		from, err := c.buffer(c.In)
		if err != nil {
			return err
		}
		return w.Accumulate(from, c.Args[0], c.Args[1], op)
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
	from, err := c.buffer(c.In)
	if err != nil {
		return err
	}
	return c.started(func(w *rma.Window) (*comm.Request, error) { return w.Rput(from, c.Args[0], c.Args[1]) })
}

func winRget(c *Call) error {
	into, err := c.buffer(c.Out)
	if err != nil {
		return err
	}
	return c.started(func(w *rma.Window) (*comm.Request, error) { return w.Rget(into, c.Args[0], c.Args[1]) })
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
