package pydtl

import (
	"dtl/core/algorithm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/handle"
	"dtl/core/runtime"
)

// along asks about one dimension of the container that a handle names.
func along(h, d int64, f func(container.Extents) int64) (int64, error) {
	return using(container.Containers, h, func(c container.Container) (int64, error) {
		e, err := container.Along(c, d)
		return f(e), err
	})
}

// ContainerShape returns the extent of the whole along a dimension.
func ContainerShape(h, d int64) (n int64, err error) {
	defer guard(&err)
	return along(h, d, func(e container.Extents) int64 { return e.Global })
}

// ContainerLocalShape returns the extent of this rank's part along a dimension.
func ContainerLocalShape(h, d int64) (n int64, err error) {
	defer guard(&err)
	return along(h, d, func(e container.Extents) int64 { return e.Local })
}

// ContainerOffset returns the index along a dimension of this rank's first element.
func ContainerOffset(h, d int64) (index int64, err error) {
	defer guard(&err)
	return along(h, d, func(e container.Extents) int64 { return e.Offset })
}

// ContainerGrid returns the extent of the grid of ranks along a dimension.
func ContainerGrid(h, d int64) (n int64, err error) {
	defer guard(&err)
	return along(h, d, func(e container.Extents) int64 { return e.Grid })
}

// ContainerKind returns the number of the partition that divides a dimension.
func ContainerKind(h, d int64) (kind int64, err error) {
	defer guard(&err)
	return along(h, d, func(e container.Extents) int64 { return int64(e.Kind) })
}

// ContainerIndex returns the index in C order of the whole of the n-th local element in C order.
func ContainerIndex(h, n int64) (index int64, err error) {
	defer guard(&err)
	return using(container.Containers, h, func(c container.Container) (int64, error) {
		return container.Index(c, n)
	})
}

// ContainerViews returns how many views of a container are out on this rank.
func ContainerViews(h int64) (n int64, err error) {
	defer guard(&err)
	return using(container.Containers, h, func(c container.Container) (int64, error) {
		return container.Views(c)
	})
}

// ContainerResultPlacement returns the number of the placement of what is computed of a container, and has so many bytes a rank.
func ContainerResultPlacement(h, bytes int64) (placement int64, err error) {
	defer guard(&err)
	return using(container.Containers, h, func(c container.Container) (int64, error) {
		p, err := c.Look()
		if err != nil {
			return 0, err
		}
		defer p.Done()
		return int64(p.ResultPlacement(bytes)), nil
	})
}

// ContainerFile returns a new descriptor of the file of which the elements of a container's part are the beginning; -1: there is none.
func ContainerFile(h int64) (descriptor int64, err error) {
	defer guard(&err)
	return using(container.Containers, h, func(c container.Container) (int64, error) {
		return container.FileOf(c)
	})
}

// ContainerPlacement returns the number of a container's placement, as it was resolved when it was made.
func ContainerPlacement(h int64) (placement int64, err error) {
	defer guard(&err)
	return using(container.Containers, h, func(c container.Container) (int64, error) {
		p, err := c.Look()
		if err != nil {
			return 0, err
		}
		defer p.Done()
		return int64(p.Placement()), nil
	})
}

// ContainerAlike makes a container laid out as another is, of an element type. Its elements are zeros, or anything if they are
// blank. Local.
func ContainerAlike(h, number int64, blank bool) (made int64, err error) {
	defer guard(&err)
	if blank {
		return like(h, number, container.Blank)
	}
	return like(h, number, container.Alike)
}

// ContainerUnallocated is ContainerAlike without memory for the elements, which ContainerAllocate gives. Local.
func ContainerUnallocated(h, number int64) (made int64, err error) {
	defer guard(&err)
	return like(h, number, container.Unallocated)
}

// ContainerBlankBeside makes a container that is laid out as another one, of an element type. Its elements are anything, and where those of a
// third one are, or on the host for 0. Local.
func ContainerBlankBeside(h, number, beside int64) (made int64, err error) {
	defer guard(&err)
	return like(h, number, func(c container.Container, t dtype.Type) (*container.Array, error) {
		if beside == 0 {
			return container.BlankBeside(c, t, nil)
		}
		return using(container.Containers, beside, func(other container.Container) (*container.Array, error) {
			return container.BlankBeside(c, t, other)
		})
	})
}

// like returns the handle of what a function makes of the container that a handle names.
func like(h, number int64, f func(container.Container, dtype.Type) (*container.Array, error)) (int64, error) {
	return using(container.Containers, h, func(c container.Container) (int64, error) {
		a, err := f(c, dtype.FromNumber(number))
		if err != nil {
			return 0, err
		}
		return int64(container.Containers.Put(a)), nil
	})
}

// ContainerAllocate gives a container that has none yet the memory of its elements. Local.
func ContainerAllocate(h int64) (ok bool, err error) {
	defer guard(&err)
	return using(container.Containers, h, func(c container.Container) (bool, error) {
		if a, ok := c.(*container.Array); ok {
			return true, a.Allocate()
		}
		return false, nil
	})
}

// ContainerEqual says whether each element of one container is where that of another is.
func ContainerEqual(h, other int64) (same bool, err error) {
	defer guard(&err)
	return using(container.Containers, h, func(a container.Container) (bool, error) {
		return using(container.Containers, other, func(b container.Container) (bool, error) { return container.Equal(a, b) })
	})
}

// ContainerClose closes a container; its views stay valid. Its handle is invalid from then on. Local.
func ContainerClose(h int64) (ok bool, err error) {
	defer guard(&err)
	return true, container.Containers.Close(handle.Handle(h))
}

// PlanClose drops a plan. Its handle is invalid from then on. Local.
func PlanClose(h int64) (ok bool, err error) {
	defer guard(&err)
	return true, container.Plans.Close(handle.Handle(h))
}

// ContainerOn returns the alias of a container on another context of the same ranks. Local.
func ContainerOn(h, ctx int64) (alias int64, err error) {
	defer guard(&err)
	return onBoth(h, ctx, func(c container.Container, on *runtime.Context) (int64, error) {
		g, err := container.On(c, on)
		if err != nil {
			return 0, err
		}
		return int64(container.Containers.Put(g)), nil
	})
}

// ContainerSettle moves what was made on another context of the same ranks to one. Local.
func ContainerSettle(h, ctx int64) (ok bool, err error) {
	defer guard(&err)
	return onBoth(h, ctx, func(c container.Container, on *runtime.Context) (bool, error) {
		return true, container.Settle(c, on)
	})
}

// onBoth calls f with the container and the context that two handles name.
func onBoth[T any](h, ctx int64, f func(container.Container, *runtime.Context) (T, error)) (T, error) {
	return using(container.Containers, h, func(c container.Container) (T, error) {
		return on(ctx, func(to *runtime.Context) (T, error) { return f(c, to) })
	})
}

// ContainerSequential says whether a container's algorithms use one thread only.
func ContainerSequential(h int64, is bool) (ok bool, err error) {
	defer guard(&err)
	return using(container.Containers, h, func(c container.Container) (bool, error) {
		if a, ok := c.(*container.Array); ok {
			a.SetSequential(is)
		}
		return is, nil
	})
}

// SetThreads says on how many threads this process computes, but for containers that are sequential.
func SetThreads(n int64) (ok bool, err error) {
	defer guard(&err)
	algorithm.SetThreads(n)
	return true, nil
}

// SuggestedThreads returns on how many threads this process had best compute where nobody says.
func SuggestedThreads() (n int64, err error) {
	defer guard(&err)
	return algorithm.SuggestedThreads()
}
