package algorithm

import (
	"errors"
	"fmt"

	"dtl/core/container"
	"dtl/core/kernel/radix"
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
		err = fillRun(workersFor(p), run, r, s, block, first)
		return err == nil
	})
	return err
}

// fillRun draws the numbers of a run. A block is one thread's, for it has a generator of its own.
func fillRun(by radix.Workers, run memory.Span, r random.Range, s random.Stream, block, first int64) error {
	if err := random.Check(run.Type, r, block); err != nil || block < 1<<12 || by.Size < 2 {
		return random.Fill(run, r, s, block, first)
	}
	skip := int(first % block) // numbers of the first block that are not wanted
	tasks := (run.Count + skip + int(block) - 1) / int(block)
	errs := make([]error, tasks)
	by.Each(tasks, func(n int) {
		lo, hi := max(n*int(block)-skip, 0), min((n+1)*int(block)-skip, run.Count)
		errs[n] = random.Fill(run.Slice(lo, hi), r, s, block, first+int64(lo))
	})
	return errors.Join(errs...)
}
