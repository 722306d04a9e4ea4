package algorithm

import (
	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/status"
)

// Fold makes one number of all elements, the same bits on every rank: the agreement carries what each rank's part is
// folded to, and every rank merges these in rank order. Of a replicated container each element counts once. same is what
// all ranks must pass alike besides. Collective.
func Fold(c container.Container, f kernel.Fold, same int64) (kernel.Number, error) {
	op := f.String()
	var folding *kernel.Folding
	var layout partition.Layout
	all, err := Share(c, comm.Call{Op: op, Same: []int64{same}}, func(p container.Part) (found comm.Shared, err error) {
		if folding, err = f.Folding(p.Type()); err != nil {
			return found, err
		}
		layout = p.Layout()
		return comm.Shared(foldPart(p, folding, f)), nil
	})
	if err != nil {
		return kernel.Number{}, err
	}
	total := kernel.Partial(all[0])
	if !layout.Replicated() {
		for _, found := range all[1:] {
			other := kernel.Partial(found)
			folding.Merge(&total, &other)
		}
	}
	n, err := folding.Finish(&total, layout.GlobalSize())
	return n, status.In(op, err)
}

// foldPart folds this rank's part. What it says of indices is of the whole's.
func foldPart(p container.Part, folding *kernel.Folding, f kernel.Fold) (mine kernel.Partial) {
	n := int64(0)
	p.Runs(func(run memory.Span) bool {
		folding.Run(&mine, run, n)
		n += int64(run.Count)
		return true
	})
	if f == kernel.FoldArgMin || f == kernel.FoldArgMax {
		if index, is := mine.Where(); is {
			mine.SetWhere(p.Index(index))
		}
	}
	return mine
}
