package numpybridge

import (
	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/handle"
	"dtl/core/kernel/fold"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/runtime"
	"dtl/core/status"
)

// container calls f with the container that the call's handle names.
func (c *Call) container(f func(container.Container) error) error {
	known := false
	err := withContainer(c.Handle, func(of container.Container) error {
		known = true
		return f(of)
	})
	if !known {
		return c.unknown(err)
	}
	return err
}

func withContainer(h int64, f func(container.Container) error) (err error) {
	ref, err := container.Containers.Acquire(handle.Handle(h))
	if err != nil {
		return err
	}
	defer ref.End(&err)
	return f(ref.Object)
}

// array calls f with the container if it owns its elements.
func (c *Call) array(f func(*container.Array) error) error {
	return c.container(func(of container.Container) error {
		a, ok := of.(*container.Array)
		if !ok {
			return status.New(status.Unsupported, "a span's structure is its container's")
		}
		return f(a)
	})
}

// integers returns a copy of the input's elements, which are int64.
func (c *Call) integers() ([]int64, error) {
	if c.In.Type != dtype.Int64 {
		return nil, status.New(status.InvalidType, "numbers have dtype %s; they must be int64", c.In.Type)
	}
	return append([]int64{}, memory.As[int64](c.In.Span)...), nil
}

// answer makes numbers the call's result: a Python integer for one alone, else an array of the given shape.
func (c *Call) answer(shape []int64, numbers ...int64) error {
	if shape == nil {
		c.Number = fold.Integer(numbers[0])
		return nil
	}
	p, err := hostMemory()
	if err != nil {
		return err
	}
	storage, err := memory.NewStorage(p, 8*len(numbers), 8)
	if err != nil {
		return err
	}
	s := memory.Span{Addr: storage.Addr(), Count: len(numbers), Type: dtype.Int64}
	copy(memory.As[int64](s), numbers)
	c.Result = comm.Result{Array: comm.Array{Span: s, Shape: shape}, Storage: storage}
	return nil
}

// list reads the numbers of a specification in turn.
type list struct{ left []int64 }

func (l *list) one() int64 {
	if len(l.left) == 0 {
		return 0
	}
	n := l.left[0]
	l.left = l.left[1:]
	return n
}

// many reads a length and as many numbers; nil for a negative length.
func (l *list) many() []int64 {
	n := l.one()
	if n < 0 {
		return nil
	}
	n = min(n, int64(len(l.left)))
	all := l.left[:n]
	l.left = l.left[n:]
	return all
}

// division reads kind, block, the local sizes and the grid, the lists with their lengths; -1 stands for no grid.
func (l *list) division() (container.Division, error) {
	kind, block := l.one(), l.one()
	if kind < 0 || kind > int64(partition.KindExplicit) {
		return container.Division{}, status.New(status.InvalidArgument, "partition number %d does not exist", kind)
	}
	return container.Division{Kind: partition.Kind(kind), Block: block, Sizes: l.many(), Grid: l.many()}, nil
}

var families = [...]string{"vector", "array", "tensor"}

// create makes a container on the call's context: family, dtype, shape, division. It returns the handle.
func create(c *Call) (err error) {
	numbers, err := c.integers()
	if err != nil {
		return err
	}
	l := list{numbers}
	family := l.one()
	if family < 0 || family >= int64(len(families)) {
		return status.New(status.InvalidArgument, "family number %d does not exist", family)
	}
	spec := container.Spec{Family: families[family], Type: dtype.Type(min(uint64(l.one()), uint64(dtype.N))), Shape: l.many()}
	if spec.Division, err = l.division(); err != nil {
		return err
	}
	ref, err := runtime.Contexts.Acquire(handle.Handle(c.Handle))
	if err != nil {
		return c.unknown(err)
	}
	defer ref.End(&err)
	a, err := container.New(ref.Object, spec)
	if err != nil {
		return err
	}
	return c.answer(nil, int64(container.Containers.Put(a)))
}

// alike makes a container laid out as another is, of dtype args[0], and returns its handle.
func alike(c *Call) error {
	return c.container(func(of container.Container) error {
		a, err := container.Alike(of, dtype.Type(min(uint64(c.Args[0]), uint64(dtype.N))))
		if err != nil {
			return err
		}
		return c.answer(nil, int64(container.Containers.Put(a)))
	})
}

// view returns a container's local part as a result: its own memory, with one more use.
func view(c *Call) error {
	return c.container(func(of container.Container) (err error) {
		c.Result, err = of.View()
		return err
	})
}

// localIndices returns the index along dimension args[0] of each local element there.
func localIndices(c *Call) error {
	return c.container(func(of container.Container) (err error) {
		c.Result, err = container.LocalIndices(of, c.Args[0])
		return err
	})
}

// owner returns the rank that holds the element of the input's indices, one a dimension; this one where it does.
func owner(c *Call) error {
	index, err := c.integers()
	if err != nil {
		return err
	}
	return c.container(func(of container.Container) error {
		rank, err := container.Owner(of, index)
		if err != nil {
			return err
		}
		return c.answer(nil, int64(rank))
	})
}

// span makes a span of args[0], args[1]: offset and count; everything for a negative count. It returns the handle.
func span(c *Call) error {
	return c.container(func(of container.Container) error {
		s, err := container.NewSpan(of, c.Args[0], c.Args[1])
		if err != nil {
			return err
		}
		return c.answer(nil, int64(container.Containers.Put(s)))
	})
}

// resize makes a container args[0] elements long.
func resize(c *Call) error {
	return c.array(func(a *container.Array) error { return a.Resize(c.Args[0]) })
}

// redistribute divides a container anew: division, with at most args[0] bytes of temporary memory.
func redistribute(c *Call) error {
	numbers, err := c.integers()
	if err != nil {
		return err
	}
	l := list{numbers}
	v, err := l.division()
	if err != nil {
		return err
	}
	return c.container(func(of container.Container) error {
		a, ok := of.(interface {
			Redistribute(v container.Division, limit int64) error
		})
		if !ok {
			return status.New(status.Unsupported, "a span's structure is its container's")
		}
		return a.Redistribute(v, c.Args[0])
	})
}

// equal says 1 if the container whose handle is the input's is laid out like this one, else 0.
func equal(c *Call) error {
	h, err := c.integers()
	if err != nil {
		return err
	}
	return c.container(func(a container.Container) error {
		return withContainer(h[0], func(b container.Container) error {
			same, err := container.Equal(a, b)
			if err != nil {
				return err
			}
			if same {
				return c.answer(nil, 1)
			}
			return c.answer(nil, 0)
		})
	})
}

// hostMemory returns the memory that results come from.
func hostMemory() (memory.Allocator, error) {
	p, err := backend.As[backend.MemoryProvider](backend.Local)
	if err != nil {
		return nil, err
	}
	return p.Memory(), nil
}
