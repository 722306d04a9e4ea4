package algorithm

import (
	"fmt"

	"dtl/core/container"
	"dtl/core/kernel/random"
	"dtl/core/memory"
	"dtl/core/runtime"
	"dtl/core/status"
)

// Draw makes a container of random numbers, of which each rank draws its own. Its elements have to follow each other in the order of
// all: whoever wants others moves them. Collective.
func Draw(on *runtime.Context, spec container.Spec, r random.Range, s random.Stream, block int64) (*container.Array, error) {
	spec.Blank = true
	if on.Size() > 1 { // one rank compares nothing
		spec.Same = append(spec.Same, int64(r.Kind), int64(r.Least), int64(r.Width), int64(s.Key[0]), int64(s.Key[1]), int64(s.Call), block)
		spec.Words = fmt.Sprintf("draw %d", s.Call)
	}
	made, err := container.New(on, spec)
	if err != nil {
		return nil, err
	}
	if err := fill(made, r, s, block); err != nil {
		_ = made.Close() // it never fails
		return nil, status.In(spec.Name(), err)
	}
	return made, nil
}

// fill draws this rank's numbers. What can be wrong is wrong on all ranks.
func fill(a *container.Array, r random.Range, s random.Stream, block int64) error {
	p, err := a.Use()
	if err != nil {
		return err
	}
	defer p.Done()
	first, ok := p.First()
	if !ok {
		return status.New(status.InvalidArgument, "a rank's elements do not follow each other in the order of all")
	}
	p.Runs(func(run memory.Span) bool {
		err = random.Fill(run, r, s, block, first)
		return err == nil
	})
	return err
}
