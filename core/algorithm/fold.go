package algorithm

import (
	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/kernel/fold"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/status"
)

// Fold makes one number of all elements, the same bits on every rank: the agreement carries what each rank's part is
// folded to, and every rank merges these in rank order. Of a replicated container each element counts once. op is the call
// that this is part of, and same is what all ranks must pass alike besides. Collective.
func Fold(op string, c container.Container, f fold.Kind, same int64) (fold.Number, error) {
	n, _, err := folded(op, c, f, same, nil)
	return n, err
}

// FoldOf does what Fold does, with elements that this rank has folded already, without writing them to the container. Other ranks may call Fold. The
// last word of mine is 1 afterwards where a sum Overflowed, else 0: then the caller calls Exact, as Fold does. Of complex elements it has
// no Moment, which takes two foldings.
func FoldOf(op string, c container.Container, f fold.Kind, same int64, mine *fold.Partial) (fold.Number, error) {
	n, _, err := folded(op, c, f, same, mine)
	return n, err
}

// Folded is Fold whose number has the type that NumPy gives it.
func Folded(c container.Container, f fold.Kind) (fold.Number, error) {
	n, t, err := folded(f.String(), c, f, 0, nil)
	if err != nil {
		return n, err
	}
	return n.As(f.Result(t)), nil
}

// folded also returns the type of the elements, and leaves the number as wide as it was added up.
func folded(
	op string, c container.Container, f fold.Kind, same int64, already *fold.Partial,
) (n fold.Number, t dtype.Type, err error) {
	n, t, err = foldedBy(f.Folding, op, c, f, same, already)
	if err != nil || f != fold.Moment || !t.Complex() {
		return n, t, err
	}
	imaginary := func(t dtype.Type) (*fold.Folding, error) { return fold.ImaginaryMoment(t), nil }
	rest, _, err := foldedBy(imaginary, op, c, f, same, nil)
	return fold.Real(n.Float() + rest.Float()), t, err
}

// foldedBy does what folded does, with the folding that a function returns for the type.
func foldedBy(
	by func(dtype.Type) (*fold.Folding, error), op string, c container.Container, f fold.Kind, same int64, already *fold.Partial,
) (n fold.Number, t dtype.Type, err error) {
	var layout partition.Layout
	folding, onHost := (*fold.Folding)(nil), false
	call := comm.Call{Op: op}
	if same != 0 {
		call.Same = []int64{same}
	}
	all, err := Share(container.OnItsDevice(c), call, func(p container.Part) (found comm.Shared, err error) {
		t = p.Type()
		if folding, err = by(t); err != nil {
			return found, err
		}
		layout, onHost = p.Layout(), p.Placement() != container.OnDevice
		if already != nil {
			return comm.Shared(whereOf(p, f, *already)), nil
		}
		mine, err := foldPart(p, folding, f, c.Context().Memory())
		return comm.Shared(mine), err
	})
	if err != nil {
		return n, t, err
	}
	total := (*fold.Partial)(&all[0])
	if !layout.Replicated() {
		for rank := range all[1:] {
			folding.Merge(total, (*fold.Partial)(&all[rank+1]))
		}
	}
	switch over := onHost && f.Overflowed(total, t); {
	case already != nil:
		*already = fold.Partial{overflowed: truth(over)}
	case over:
		n, err = Exact(c, nil, f, true)
		return n, t, err
	}
	n, err = folding.Finish(total, layout.GlobalSize())
	return n, t, status.In(op, err)
}

// overflowed is the word that FoldOf sets.
const overflowed = 3

// foldPart folds this rank's part. What it says of indices is of the whole's. Copies come from
// host.
func foldPart(p container.Part, folding *fold.Folding, f fold.Kind, host memory.Allocator) (mine fold.Partial, err error) {
	if p.Placement() == container.OnDevice {
		mine, err = foldOnDevice(p, folding, f, host)
	} else {
		mine = foldRuns(p, folding)
	}
	return whereOf(p, f, mine), err
}

// whereOf returns what a part is folded to, with an index in the whole for one in the part.
func whereOf(p container.Part, f fold.Kind, mine fold.Partial) fold.Partial {
	if f == fold.ArgMin || f == fold.ArgMax {
		if index, is := mine.Where(); is {
			mine.SetWhere(p.Index(index))
		}
	}
	return mine
}

// foldRuns folds a part that the host reaches.
func foldRuns(p container.Part, folding *fold.Folding) (mine fold.Partial) {
	if all := pieces(p); all != nil {
		return foldPieces(all, folding, workersFor(p))
	}
	n := int64(0)
	p.Runs(func(run memory.Span) bool {
		folding.Run(&mine, run, n)
		n += int64(run.Count)
		return true
	})
	return mine
}

// foldPieces folds the pieces of a part side by side, and merges them in their order.
func foldPieces(all []piece, folding *fold.Folding, by radix.Workers) fold.Partial {
	partials := make([]fold.Partial, len(all))
	by.Each(len(all), func(i int) {
		all[i].Read(func(run memory.Span) { folding.Run(&partials[i], run, all[i].first) })
		memory.Ease()
	})
	for i := range partials[1:] {
		folding.Merge(&partials[0], &partials[i+1])
	}
	return partials[0]
}

// FoldRun adds elements of a part of so many, the first of which is its first-th, to what those before them are folded to, which
// is none at first. It is for who has the part's elements one run after the other: words[0] is in the end what foldRuns returns of a part that
// has them side by side, to the bit.
func FoldRun(words *[2]fold.Partial, folding *fold.Folding, run memory.Span, first, of int64) {
	if of < 2*pieceSize {
		folding.Run(&words[0], run, first)
		return
	}
	for at := 0; at < run.Count; {
		begin := first + int64(at)
		end := min(run.Count, at+int(pieceSize-begin%pieceSize))
		folding.Run(&words[1], run.Slice(at, end), begin)
		if at = end; first+int64(at) == of || (first+int64(at))%pieceSize == 0 {
			if begin < pieceSize {
				words[0] = words[1]
			} else {
				folding.Merge(&words[0], &words[1])
			}
			words[1] = fold.Partial{}
		}
	}
}
