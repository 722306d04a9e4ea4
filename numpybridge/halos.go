package numpybridge

import (
	"dtl/core/container"
	"dtl/core/halo"
	"dtl/core/handle"
	"dtl/core/status"
)

// haloMake makes a halo around a container and returns its handle. The input has three numbers for each dimension:
// ghosts before, ghosts after, and the number of a mode.
func haloMake(c *Call) error {
	numbers, err := c.integers()
	if err != nil {
		return err
	}
	if len(numbers)%3 != 0 {
		return status.New(status.InvalidArgument, "%d numbers are no widths", len(numbers))
	}
	l := list{numbers}
	margins := make([]halo.Margin, len(numbers)/3)
	for d := range margins {
		margins[d] = halo.Margin{Before: l.one(), After: l.one(), Mode: halo.Mode(l.one())}
	}
	return c.container(func(of container.Container) error {
		h, err := container.NewHalo(of, margins)
		if err != nil {
			return err
		}
		return c.answer(nil, int64(container.Halos.Put(h)))
	})
}

func (c *Call) halo(f func(*container.Halo) error) (err error) {
	ref, err := container.Halos.Acquire(handle.Handle(c.Handle))
	if err != nil {
		return err
	}
	defer ref.End(&err)
	return f(ref.Object)
}

// haloView returns the local part with the ghosts around it.
func haloView(c *Call) error {
	return c.halo(func(h *container.Halo) (err error) {
		c.Result, err = h.View()
		return err
	})
}

func haloExchange(c *Call) error { return c.halo((*container.Halo).Exchange) }
func haloBegin(c *Call) error    { return c.halo((*container.Halo).Begin) }
func haloEnd(c *Call) error      { return c.halo((*container.Halo).End) }
