package numpybridge

import (
	"dtl/core/algorithm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/fold"
	"dtl/core/kernel/random"
	"dtl/core/memory"
	"dtl/core/runtime"
	"dtl/core/status"
)

// foldElements makes one number of a container's elements by the fold args[0] % foldCalls, for the call args[0] / foldCalls; args[1] must be alike on all ranks,
// and with args[2], the sum is exact. With args[3], the result is a NumPy scalar of the type that NumPy gives it. The input, if there is one,
// is what bridge.compute has folded this rank's elements to; its last word is 1 afterwards where the sum has to be exact.
func foldElements(c *Call) error {
	f, err := fold.Parse(c.Args[0] % foldCalls)
	if err != nil {
		return err
	}
	op, err := folding(f, c.Args[0]/foldCalls)
	if err != nil {
		return err
	}
	return c.container(func(of container.Container) (err error) {
		c.stagingUnless(of, func(t dtype.Type) bool {
			_, there := f.Device(t)
			return there
		})
		switch {
		case c.Args[3] != 0:
			c.Generic = true
			c.Number, err = algorithm.Folded(of, f)
		case c.Args[2] != 0:
			c.Number, err = algorithm.Exact(of, nil, f, true)
		case c.HasIn:
			var mine *fold.Partial
			if mine, err = partialOf(c.In.Span); err == nil {
				c.Number, err = algorithm.FoldOf(op, of, f, c.Args[1], mine)
			}
		default:
			c.Number, err = algorithm.Fold(op, of, f, c.Args[1])
		}
		return err
	})
}

// partialOf returns the words of a fold that is under way.
func partialOf(words memory.Span) (*fold.Partial, error) {
	if words.Type != dtype.Int64 || words.Count != len(fold.Partial{}) {
		return nil, status.New(status.InvalidArgument, "a fold that is under way is %d words, not %d of %s", len(fold.Partial{}), words.Count, words.Type)
	}
	return (*fold.Partial)(words.Addr), nil
}

// foldCalls is more than there are folds.
const foldCalls = 256

// others are the calls that make something else of a fold's number than the one that has its name.
var others = []string{"any", "all", "std", "min_element", "max_element"}

// folding returns the name of a call: the fold's, or the n-th of the others, from 1 on.
func folding(f fold.Kind, n int64) (string, error) {
	switch {
	case n == 0:
		return f.String(), nil
	case n < 0 || n > int64(len(others)):
		return "", status.New(status.InvalidArgument, "call %d of a fold is outside [0, %d]", n, len(others))
	}
	return others[n-1], nil
}

// dot adds up the products of the elements of a container and of the one whose handle is args[0]; with args[1], the first
// are conjugated, and with args[2], the sum is exact.
func dot(c *Call) error {
	return c.container(func(a container.Container) error {
		c.stagingUnless(a, func(t dtype.Type) bool {
			_, there := fold.DotOnDevice(t)
			return there
		})
		return withContainer(c.Args[0], func(b container.Container) (err error) {
			if c.Args[2] != 0 {
				c.Number, err = algorithm.Exact(a, b, fold.Squares, c.Args[1] != 0)
			} else {
				c.Number, err = algorithm.Dot(a, b, c.Args[1] != 0)
			}
			return err
		})
	})
}

// cumulate scans a container by the op args[0], without the element itself where args[1] is not 0, and returns the handle
// of the result.
func cumulate(c *Call) error {
	op, err := kernel.ParseOp(c.Args[0])
	if err != nil {
		return err
	}
	return c.container(func(of container.Container) error {
		made, err := algorithm.Scan(of, op, c.Args[1] != 0)
		if err != nil {
			return err
		}
		return c.answer(nil, int64(container.Containers.Put(made)))
	})
}

// withWeights calls f with the container whose handle is args[0], or with nil for 0.
func (c *Call) withWeights(f func(weights container.Container) error) error {
	if c.Args[0] == 0 {
		return f(nil)
	}
	return withContainer(c.Args[0], f)
}

// histogram counts elements between the input's edges, to the output; args[1] is 1 where they are equally far apart.
func histogram(c *Call) error {
	return c.container(func(of container.Container) error {
		return c.withWeights(func(weights container.Container) error {
			return algorithm.Histogram(of, weights, c.In.Span, c.Out.Span, c.Args[1] != 0)
		})
	})
}

// bincount counts numbers from args[2] on, at least args[1] of them.
func bincount(c *Call) error {
	return c.container(func(of container.Container) error {
		return c.withWeights(func(weights container.Container) (err error) {
			c.Result, err = algorithm.Bincount(of, weights, c.Args[2], c.Args[1])
			return err
		})
	})
}

// numbers returns which random numbers a call draws: of the kind args[0], from args[1] on, as wide as args[2].
func (c *Call) numbers() random.Range {
	return random.Range{Kind: random.Kind(c.Args[0]), Least: uint64(c.Args[1]), Width: uint64(c.Args[2])}
}

// stream reads what random numbers come from: a key of two words, the number of a call, and how many numbers a block has.
func (l *list) stream() (s random.Stream, block int64) {
	s.Key[0], s.Key[1], s.Call = uint64(l.one()), uint64(l.one()), uint64(l.one())
	return s, l.one()
}

// draw makes the container that the list says of random numbers that come from what it says after that, on the call's context, and returns
// its handle.
func draw(c *Call) error {
	spec, more, err := c.spec(c.in())
	if err != nil {
		return err
	}
	return c.onContext(func(on *runtime.Context) error {
		stream, block := more.stream()
		a, err := algorithm.Draw(on, spec, c.numbers(), stream, block)
		if err != nil {
			return err
		}
		return c.answer(nil, int64(container.Containers.Put(a)))
	})
}

// drawInto fills the output with random numbers from the index args[3] on, which come from what the list says.
func drawInto(c *Call) error {
	return c.onContext(func(*runtime.Context) error {
		if !c.HasOut {
			return status.New(status.InvalidArgument, "random numbers need an output")
		}
		l := list{c.Lists[0]}
		stream, block := l.stream()
		return random.Fill(c.Out.Span, c.numbers(), stream, block, c.Args[3])
	})
}

// drawStart writes to the output, five words, the state of NumPy's SFC64 at the start of the block args[0] of the stream that the list says:
// the words of SFC64, and that no half of one is left.
func drawStart(c *Call) error {
	return c.onContext(func(*runtime.Context) error {
		if !c.HasOut || c.Out.Type != dtype.Uint64 || c.Out.Count != 5 {
			return status.New(status.InvalidArgument, "the state of SFC64 has five words")
		}
		l := list{c.Lists[0]}
		stream, _ := l.stream()
		start, words := stream.Start(uint64(c.Args[0])), memory.As[uint64](c.Out.Span)
		copy(words, start[:])
		words[4] = 0
		return nil
	})
}
