package transfer

import (
	"math"

	"dtl/core/partition"
	"dtl/core/status"
)

// Slice is a window along one dimension: Count indices Start, Start+Step, …. Step is not 0, and may be negative.
type Slice struct{ Start, Step, Count int64 }

// at returns the global index of a window's i-th.
func (w Slice) at(i int64) int64 { return w.Start + i*w.Step }

// flip returns the window from its other end.
func (w Slice) flip() Slice { return Slice{Start: w.at(w.Count - 1), Step: -w.Step, Count: w.Count} }

// check refuses a window that leaves [0, size), and returns it with a step of 1 where it has no second index.
func (w Slice) check(d int, size int64) (Slice, error) {
	if w.Step == 0 || w.Count < 0 {
		return w, status.New(status.InvalidArgument,
			"window of dimension %d has step %d and count %d: the step must not be 0, the count not negative",
			d, w.Step, w.Count)
	}
	if w.Count == 0 {
		return Slice{Step: 1}, nil
	}
	inside := w.Start >= 0 && w.Start < size
	switch left := size - 1 - w.Start; {
	case w.Count == 1:
		w.Step = 1
	case w.Step > 0:
		inside = inside && w.Count-1 <= left/w.Step
	default:
		inside = inside && w.Step > -math.MaxInt64 && w.Count-1 <= w.Start/-w.Step
	}
	if !inside {
		return w, status.New(status.OutOfBounds, "window of dimension %d: %d indices from %d in steps of %d leave [0, %d)",
			d, w.Count, w.Start, w.Step, size)
	}
	return w, nil
}

// windows returns a side's windows, one a dimension, checked.
func (s *Side) windows() ([]Slice, error) {
	dims := s.Layout.Dims()
	if s.Window != nil && len(s.Window) != dims {
		return nil, status.New(status.InvalidArgument, "%d windows for %d dimensions", len(s.Window), dims)
	}
	all := make([]Slice, dims)
	for d := range all {
		size := s.Layout.Dim(d).GlobalSize()
		w := Slice{Step: 1, Count: size}
		if s.Window != nil {
			w = s.Window[d]
		}
		var err error
		if all[d], err = w.check(d, size); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// dimension is one dimension of both sides. The i-th index of one window goes to the i-th of the other.
type dimension struct {
	count   int64
	windows [2]Slice
	parts   [2]partition.Partition
	period  int64    // after so many indices everything repeats, this far on at each side; 0: not, or not often
	shift   [2]int64 // local indices
}

// newDimension turns both windows round where the one that is to ascend does not: the source's, unless a rank's
// elements are many runs at the destination alone, because runs that descend are kept in a list.
func newDimension(src, dst Slice, parts [2]partition.Partition) dimension {
	windows := [2]Slice{src, dst}
	ascends := 0
	if single(parts[0]) && !single(parts[1]) {
		ascends = 1
	}
	if windows[ascends].Step < 0 {
		windows = [2]Slice{src.flip(), dst.flip()}
	}
	d := dimension{count: src.Count, windows: windows, parts: parts}
	d.repeat()
	return d
}

// single reports whether a rank's elements are one run.
func single(p partition.Partition) bool {
	k := p.Kind()
	return p.Ranks() == 1 || k != partition.KindBlockCyclic && k != partition.KindHash
}
