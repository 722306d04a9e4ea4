package numpybridge

import (
	"cmp"
	"math"
	"strings"

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

// onContext calls f with the context that the call's handle names.
func (c *Call) onContext(f func(*runtime.Context) error) (err error) {
	ref, err := runtime.Contexts.Acquire(handle.Handle(c.Handle))
	if err != nil {
		return c.unknown(err)
	}
	defer ref.End(&err)
	return f(ref.Object)
}

func withContainer(h int64, f func(container.Container) error) (err error) {
	ref, err := container.Containers.Acquire(handle.Handle(h))
	if err != nil {
		return err
	}
	defer ref.End(&err)
	return f(ref.Object)
}

// stagingUnless notes that the call takes the elements of a container through the host, unless devices compute with their type.
func (c *Call) stagingUnless(of container.Container, computes func(dtype.Type) bool) {
	if p, err := of.Look(); err == nil {
		c.Staged = c.Staged || p.Placement() == container.OnDevice && !computes(p.Type())
		p.Done()
	}
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
	if kind < 0 || kind >= int64(len(partition.Kinds())) {
		return container.Division{}, status.New(status.InvalidArgument, "partition number %d does not exist", kind)
	}
	return container.Division{Kind: partition.Kind(kind), Block: block, Sizes: l.many(), Grid: l.many()}, nil
}

var families = [...]string{"vector", "array", "tensor"}

// spec reads what container to make from the list: family, dtype, shape, division, placement. It returns what comes after that. Words, if
// there are any, are the name of the call that makes it, and after a space what else all ranks pass alike.
func (c *Call) spec(words *comm.Array) (spec container.Spec, more list, err error) {
	l := list{c.Lists[0]}
	family := l.one()
	if family < 0 || family >= int64(len(families)) {
		return spec, l, status.New(status.InvalidArgument, "family number %d does not exist", family)
	}
	spec = container.Spec{Family: families[family], Type: dtype.FromNumber(l.one()), Shape: l.many()}
	if spec.Division, err = l.division(); err == nil {
		spec.Placement = container.Placement(l.one())
	}
	if words != nil && words.Type == dtype.Uint8 {
		spec.Op, spec.Words, _ = strings.Cut(string(memory.As[uint8](words.Span)), " ")
	}
	return spec, l, err
}

// create makes the container that the list says on the call's context. With args[0], the elements are anything. It returns the handle.
func create(c *Call) error {
	spec, _, err := c.spec(c.in())
	if err != nil {
		return err
	}
	spec.Blank = c.Args[0] != 0
	return c.onContext(func(on *runtime.Context) error {
		a, err := container.New(on, spec)
		if err != nil {
			return err
		}
		return c.answer(nil, int64(container.Containers.Put(a)))
	})
}

// createMapped makes the container that the list says of the elements of an open file, whose descriptor is args[0], from byte args[1] on. It
// returns the handle.
func createMapped(c *Call) error {
	spec, _, err := c.spec(c.in())
	if err != nil {
		return err
	}
	return c.onContext(func(on *runtime.Context) error {
		a, err := container.NewMapped(on, spec, int(c.Args[0]), c.Args[1])
		if err != nil {
			return err
		}
		return c.answer(nil, int64(container.Containers.Put(a)))
	})
}

// view returns a container's local part as a result: its own memory, with one more use; for work on its device where args[0]
// is 1.
func view(c *Call) error {
	return c.container(func(of container.Container) (err error) {
		if c.Args[0] == 1 {
			c.Result, err = container.DeviceView(of)
		} else {
			c.Result, err = of.View()
		}
		return err
	})
}

// fillPart gives every element of a local part the input's value.
func fillPart(c *Call) error {
	return c.container(func(of container.Container) error { return container.FillPart(of, c.In) })
}

// setPart writes the input to a local part.
func setPart(c *Call) error {
	return c.container(func(of container.Container) error { return container.SetPart(of, c.In) })
}

// wholePart makes a container of the input's elements, of the shape that the list says, where the container's are. Each rank has all of it,
// whatever the others have. It returns the handle.
func wholePart(c *Call) error {
	return c.container(func(of container.Container) error {
		a, err := container.WholeBeside(of, c.In.Type, c.Lists[0])
		if err != nil {
			return err
		}
		if err := container.SetPart(a, c.In); err != nil {
			return cmp.Or(err, a.Close())
		}
		return c.answer(nil, int64(container.Containers.Put(a)))
	})
}

// copyPart writes the local part of the container whose handle is the input's to this one's.
func copyPart(c *Call) error {
	h, err := c.integers()
	if err != nil {
		return err
	}
	return c.container(func(to container.Container) error {
		return withContainer(h[0], func(from container.Container) error { return container.CopyPart(to, from) })
	})
}

// fieldPart copies args[3] bytes of each element of the container of handle args[0] to each of this one: from args[2] on to args[1] on.
func fieldPart(c *Call) error {
	return c.container(func(to container.Container) error {
		return withContainer(c.Args[0], func(from container.Container) error {
			return container.CopyField(to, from, c.Args[1], c.Args[2], c.Args[3])
		})
	})
}

// permutePart copies the part of the container of handle args[0] to that of another one, whose dimensions are those that the list says.
func permutePart(c *Call) error {
	return c.container(func(to container.Container) error {
		return withContainer(c.Args[0], func(from container.Container) error { return container.PermutePart(to, from, c.Lists[0]) })
	})
}

// elementwise writes to the container what an operator makes of the operands, whose handles are in the first list, with 0 for a
// number, whose bits are two of the words in the second. After these, there may be, for each operand and each of args[1] dimensions of the
// result, the first of the operand's indices, and then for each how far it is to the next. args[0] is their element type. The input is the
// operator's name.
func elementwise(c *Call) error {
	name := string(memory.As[uint8](c.In.Raw()))
	var operands [3]container.Operand
	var run func(i int, to container.Container) error
	run = func(i int, to container.Container) error {
		if i == len(operands) {
			return container.Elementwise(name, dtype.FromNumber(c.Args[0]), to, operands)
		}
		operands[i].Number = [2]uint64{uint64(c.Lists[1][2*i]), uint64(c.Lists[1][2*i+1])}
		if cut := c.Lists[1][2*len(operands):]; len(cut) > 0 {
			n, of := int(c.Args[1]), cut[2*i*int(c.Args[1]):]
			operands[i].First, operands[i].Every = of[:n], of[n:2*n]
		}
		if c.Lists[0][i] == 0 {
			return run(i+1, to)
		}
		return withContainer(c.Lists[0][i], func(of container.Container) error {
			operands[i].Of = of
			return run(i+1, to)
		})
	}
	return c.container(func(to container.Container) error {
		words := 2 * len(operands)
		if len(c.Lists[0]) != len(operands) || len(c.Lists[1]) != words && len(c.Lists[1]) != words+words*int(c.Args[1]) {
			return status.New(status.Internal, "%d operands of %d", len(c.Lists[0]), len(operands))
		}
		return run(0, to)
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

// hostMemory returns the memory that results come from.
func hostMemory() (memory.Allocator, error) {
	p, err := backend.As[backend.MemoryProvider](backend.Local)
	if err != nil {
		return nil, err
	}
	return p.Memory(), nil
}

// foldLines folds the container's part along dimensions, to the part of the container whose handle is the first of the input's, or, where
// that is 0, to the output. args[0] is the fold, args[1] the bits of its divisor, and args[2] of what it is besides: a root, and of all.
// After the handle comes for each dimension 1 if it goes.
func foldLines(c *Call) error {
	given, err := c.integers()
	if err != nil {
		return err
	}
	how := container.LineFold{Divisor: math.Float64frombits(uint64(c.Args[1])), Root: c.Args[2]&1 != 0, All: c.Args[2]&2 != 0}
	if how.Fold, err = fold.Parse(c.Args[0]); err != nil {
		return err
	}
	for _, goes := range given[1:] {
		how.Along = append(how.Along, goes != 0)
	}
	return c.container(func(from container.Container) error {
		if given[0] == 0 {
			return container.FoldLinesTo(c.Out, from, how)
		}
		return withContainer(given[0], func(to container.Container) error { return container.FoldLines(to, from, how) })
	})
}
