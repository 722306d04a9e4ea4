package numpybridge

import (
	"cmp"

	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/handle"
	"dtl/core/kernel/fold"
	"dtl/core/runtime"
	"dtl/core/status"
	"dtl/core/transfer"
)

// take returns the elements of the input's indices, the same list on every rank.
func take(c *Call) error {
	return c.container(func(of container.Container) (err error) {
		c.Result, err = container.Take(of, c.In)
		return err
	})
}

// give writes the second buffer's values to the input's indices, both the same on every rank.
func give(c *Call) error {
	return c.container(func(of container.Container) error { return container.Give(of, c.In, c.Out) })
}

// get returns the elements of the input's indices, each rank's own list, or writes them to the output if there is one.
func get(c *Call) error {
	return c.container(func(of container.Container) (err error) {
		c.Result, err = container.Get(of, c.In, c.out())
		return err
	})
}

// put writes the second buffer's values to the input's indices, each rank's own.
func put(c *Call) error {
	return c.container(func(of container.Container) error { return container.Set(of, c.In, c.Out) })
}

// takePart writes to a local part the elements of that of the container of handle args[0], by the input's places there.
func takePart(c *Call) error {
	return c.container(func(to container.Container) error {
		return withContainer(c.Args[0], func(from container.Container) error { return container.TakePart(to, from, c.In) })
	})
}

// putPart writes the second buffer's values to the input's places in a local part.
func putPart(c *Call) error {
	return c.container(func(to container.Container) error { return container.PutPart(to, c.In, c.Out) })
}

// putWhere writes the input's values, or those of the container of handle args[1], where the part of that of handle args[0] is
// true.
func putWhere(c *Call) error {
	return c.container(func(to container.Container) error {
		return withContainer(c.Args[0], func(mask container.Container) error {
			if c.Args[1] == 0 {
				return container.PutWhere(to, mask, nil, c.In)
			}
			return withContainer(c.Args[1], func(from container.Container) error {
				return container.PutWhere(to, mask, from, comm.Array{})
			})
		})
	})
}

// takeWhere writes to a local part the elements of that of the container of handle args[0], at the places that args[1] has, where
// args[2] is true.
func takeWhere(c *Call) error { return c.picked(container.TakeWhere) }

// putAt writes to a local part the elements of args[0], at the places that args[1] has, where args[2] is true.
func putAt(c *Call) error { return c.picked(container.PutAt) }

// picked calls f with the container and those of handles args[0] to args[2].
func (c *Call) picked(f func(to, values, places, mask container.Container) error) error {
	return c.container(func(to container.Container) error {
		return withContainer(c.Args[0], func(values container.Container) error {
			return withContainer(c.Args[1], func(places container.Container) error {
				return withContainer(c.Args[2], func(mask container.Container) error { return f(to, values, places, mask) })
			})
		})
	})
}

// truths returns where a local part is true, on its device, counted from args[0] on.
func truths(c *Call) error {
	return c.container(func(of container.Container) (err error) {
		c.Result, err = container.Truths(of, c.Args[0])
		return err
	})
}

// choose returns the elements of a local part, on its device, where that of the container of handle args[0] is true.
func choose(c *Call) error {
	return c.container(func(of container.Container) error {
		return withContainer(c.Args[0], func(mask container.Container) (err error) {
			c.Result, err = container.Choose(of, mask)
			return err
		})
	})
}

// axes reads seven numbers for each: from, its start and step, to, its start and step, count.
func (l *list) axes() []container.Axis {
	axes := make([]container.Axis, len(l.left)/7)
	for i := range axes {
		axes[i] = container.Axis{
			From: l.one(), FromStart: l.one(), FromStep: l.one(),
			To: l.one(), ToStart: l.one(), ToStep: l.one(), Count: l.one(),
		}
	}
	return axes
}

// assign writes the second buffer's values, the same on every rank, to a window: the input is its axes.
func assign(c *Call) error {
	numbers, err := c.integers()
	if err != nil {
		return err
	}
	l := list{numbers}
	axes := l.axes()
	return c.container(func(to container.Container) error { return container.Assign(to, c.Out, axes) })
}

// gatherTo writes all elements to the output on rank args[0].
func gatherTo(c *Call) error {
	return c.container(func(from container.Container) error { return container.GatherTo(from, c.out(), c.Args[0]) })
}

// distribute writes the input on rank args[0] to a container.
func distribute(c *Call) error {
	return c.container(func(to container.Container) error { return container.Distribute(to, c.in(), c.Args[0]) })
}

// ends calls f with both containers of a move: the call's handle is the one whose ranks make the call, the source or the
// destination, and the input the other's handle and the axes, of which none means everything.
func (c *Call) ends(source bool, f func(to, from container.Container, axes []container.Axis) error) error {
	numbers, err := c.integers()
	if err != nil {
		return err
	}
	l := list{numbers}
	return c.container(func(to container.Container) error {
		return withContainer(l.one(), func(from container.Container) (err error) {
			if source {
				to, from = from, to
			}
			axes := l.axes()
			if len(axes) == 0 {
				if axes, err = container.Whole(to, from); err != nil {
					return err
				}
			}
			return f(to, from, axes)
		})
	})
}

// move copies a window of one container to a window of another, with at most args[0] bytes of temporary memory. The ranks
// are the source's where args[1] is 1, else the destination's. What stays on this rank is not copied where args[2] is 1.
func move(c *Call) error {
	source, f := c.Args[1] == 1, container.Move
	if source {
		f = container.Copy
	} else if c.Args[2] == 1 {
		f = container.MoveRest
	}
	return c.ends(source, func(to, from container.Container, axes []container.Axis) error {
		return f(to, from, axes, c.Args[0])
	})
}

// slice makes a container of elements of that of handle args[0], on whose ranks the call is made: the first list says what container, the
// second the axes. It returns the handle.
func slice(c *Call) error {
	spec, _, err := c.spec(c.in())
	if err != nil {
		return err
	}
	spec.Op, spec.Blank = cmp.Or(spec.Op, "getitem"), true
	l := list{c.Lists[1]}
	axes := l.axes()
	c.Handle = c.Args[0]
	return c.container(func(of container.Container) error {
		a, err := container.Select(spec, of, axes)
		if err != nil {
			return err
		}
		return c.answer(nil, int64(container.Containers.Put(a)))
	})
}

// fromParts makes a container on the call's context of the input's rows, one rank's after the other's: the first list says what container,
// and the second buffer is words. It returns the handle.
func fromParts(c *Call) error {
	spec, _, err := c.spec(c.out())
	if err != nil {
		return err
	}
	return c.onContext(func(on *runtime.Context) error {
		a, err := container.FromParts(on, spec, c.In)
		if err != nil {
			return err
		}
		return c.answer(nil, int64(container.Containers.Put(a)))
	})
}

// floatSums returns what adds floats of so many bytes, and notes what goes wrong: 1 for an overflow, 2 for a sum that is no number.
var floatSums func(size int64, seen *int64) transfer.Combine

// moveAdding adds the floats of args[1] bytes of the container of handle args[0] to those of one of its shape, and returns what went wrong.
func moveAdding(c *Call) error {
	return c.container(func(to container.Container) error {
		return withContainer(c.Args[0], func(from container.Container) error {
			var seen int64
			err := container.MoveCombining("add", to, from, floatSums(c.Args[1], &seen))
			c.Number = fold.Integer(seen)
			return err
		})
	})
}

// moveAll copies windows of the containers that the list says to windows of another one, at the same time.
func moveAll(c *Call) error {
	return c.container(func(to container.Container) error {
		return c.withPieces(c.Lists[0], func(pieces []container.Piece) error { return container.MoveAll(to, pieces) })
	})
}

// withPieces calls f with what a list says: the number of containers, their handles, and the axes of each, or no axes where nothing moves.
func (c *Call) withPieces(words []int64, f func([]container.Piece) error) error {
	l := list{words}
	handles := l.many()
	if len(handles) == 0 {
		return status.New(status.InvalidArgument, "there is no container whose elements move")
	}
	pieces, axes := make([]container.Piece, len(handles)), l.axes()
	for i, h := range handles {
		ref, err := container.Containers.Acquire(handle.Handle(h))
		if err != nil {
			return err
		}
		defer func() { _ = ref.Release() }() // a container's close never fails
		each := len(axes) / len(pieces)
		pieces[i] = container.Piece{From: ref.Object, Axes: axes[i*each : (i+1)*each]}
	}
	return f(pieces)
}

// join makes the container that the first list says of windows of those that the second one says, on the call's context, and returns its
// handle. The input says what the ranks agree on besides.
func join(c *Call) error {
	spec, _, err := c.spec(c.in())
	if err != nil {
		return err
	}
	spec.Blank = true
	return c.onContext(func(*runtime.Context) error {
		return c.withPieces(c.Lists[1], func(pieces []container.Piece) error {
			a, err := container.Join(spec, pieces)
			if err != nil {
				return err
			}
			return c.answer(nil, int64(container.Containers.Put(a)))
		})
	})
}

// planMake plans what move does on the source's ranks, and returns the plan's handle.
func planMake(c *Call) error {
	return c.ends(true, func(to, from container.Container, axes []container.Axis) error {
		p, err := container.NewPlan(to, from, axes, c.Args[0])
		if err != nil {
			return err
		}
		return c.answer(nil, int64(container.Plans.Put(p)))
	})
}

func (c *Call) plan(f func(*container.Plan) error) (err error) {
	ref, err := container.Plans.Acquire(handle.Handle(c.Handle))
	if err != nil {
		return c.unknown(err)
	}
	defer ref.End(&err)
	return f(ref.Object)
}

func planExecute(c *Call) error {
	return c.plan(func(p *container.Plan) error { return p.Execute() })
}

// planBytes returns a square array of the bytes that each rank (row) sends to each (column), and below it a row whose
// first entry is the temporary memory on a rank.
func planBytes(c *Call) error {
	return c.plan(func(p *container.Plan) error {
		n := p.Ranks()
		numbers := make([]int64, (n+1)*n)
		for from := range n {
			for to := range n {
				numbers[from*n+to] = p.Bytes(from, to)
			}
		}
		numbers[n*n] = p.Extra()
		return c.answer([]int64{int64(n + 1), int64(n)}, numbers...)
	})
}
