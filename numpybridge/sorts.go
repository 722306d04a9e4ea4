package numpybridge

import (
	"dtl/core/algorithm"
	"dtl/core/container"
)

// sorting reads how to sort: args[0] is the axis, args[1] says whether descending, args[2] is the number of threads.
func (c *Call) sorting() algorithm.Sorting {
	return algorithm.Sorting{Axis: c.Args[0], Descending: c.Args[1] != 0, Threads: c.Args[2]}
}

// sortOf sorts a container in place.
func sortOf(c *Call) error {
	return c.container(func(of container.Container) error {
		return algorithm.Sort(of, c.sorting())
	})
}

// argsort makes a container of the indices that sort another, and returns its handle.
func argsort(c *Call) error {
	return c.container(func(of container.Container) error {
		a, err := algorithm.Argsort(of, c.sorting())
		if err != nil {
			return err
		}
		return c.answer(nil, int64(container.Containers.Put(a)))
	})
}

// isSorted says 1 if a container is sorted, else 0.
func isSorted(c *Call) error {
	return c.container(func(of container.Container) error {
		sorted, err := algorithm.IsSorted(of, c.sorting())
		if err != nil {
			return err
		}
		if sorted {
			return c.answer(nil, 1)
		}
		return c.answer(nil, 0)
	})
}

// search returns where in a sorted container the input's values belong, each rank's own: args[3] says whether after what
// is equal to them.
func search(c *Call) error {
	return c.container(func(of container.Container) (err error) {
		c.Result, err = algorithm.Search(of, c.In, c.Args[3] != 0, c.sorting())
		return err
	})
}

// selectOf returns the elements that would be at the input's indices if the container were sorted, and then NaN if any
// element is.
func selectOf(c *Call) error {
	places, err := c.integers()
	if err != nil {
		return err
	}
	return c.container(func(of container.Container) (err error) {
		c.Result, err = algorithm.Select(of, places, c.sorting())
		return err
	})
}
