// Package algorithm has computations on whole containers: each rank works on its own part, and one meeting of the
// ranks, or a few, combine the results of all parts.
//
// Every algorithm begins with an agreement of the ranks on what they call, on which container, and that each of them
// can. Nothing is written before that. Results do not depend on the number of ranks or on the partition, except for
// the rounding of floating-point sums.
package algorithm

import (
	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/status"
)

// on starts a collective call on a container and goes on with its part. What only this rank can say against the call,
// check says; it and f may be nil.
func on(
	c container.Container, call comm.Call, check func(container.Part) error, f func(*comm.Comm, container.Part) error,
) error {
	over, err := c.Context().Comm()
	if err != nil {
		return status.In(call.Op, err)
	}
	part, mine := c.Use()
	if mine == nil {
		defer part.Done()
		call = part.Named(call)
		if check != nil {
			mine = check(part)
		}
	}
	if err := over.Agree(call, mine); err != nil || f == nil {
		return err
	}
	return status.In(call.Op, f(over, part))
}

// Share tells every rank what each found in its own part, which mine computes of it: the n-th of the result is rank n's.
// The agreement carries it. Collective.
func Share(
	c container.Container, call comm.Call, mine func(container.Part) (comm.Shared, error),
) ([]comm.Shared, error) {
	over, err := c.Context().Comm()
	if err != nil {
		return nil, status.In(call.Op, err)
	}
	var found comm.Shared
	part, err := c.Use()
	if err == nil {
		defer part.Done()
		call = part.Named(call)
		found, err = mine(part)
	}
	all := make([]comm.Shared, over.Size())
	return all, over.AgreeSharing(call, err, found, all)
}

// moveAll copies all elements to another container. Collective.
func moveAll(to, from container.Container) error {
	axes, err := container.Whole(to, from)
	if err != nil {
		return err
	}
	return container.Move(to, from, axes, 0)
}
