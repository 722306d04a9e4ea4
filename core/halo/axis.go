// Package halo fills the ghosts around each rank's part with the elements of other parts that they are copies of.
//
// A Plan says which box of elements goes where; it is only index arithmetic. An Exchange moves the elements, as often
// as needed. The ghosts of one side may be elements of several ranks, of the rank itself, or of the same rank more
// than once. Only the ranges decide: no rank has a fixed left or right neighbour.
package halo

import (
	"fmt"

	"dtl/core/partition"
	"dtl/core/status"
)

// Margin is the ghosts along one dimension: how many lie before and after each part, and what those before the first
// element and after the last stand for.
type Margin struct {
	Before, After int64
	Mode          Mode
}

// Mode is what ghosts beyond the ends of a dimension stand for, as the modes of NumPy's pad.
type Mode int64

// The modes.
const (
	Constant  Mode = iota // nothing: they stay what they are
	Wrap                  // the dimension is a circle
	Edge                  // the first element, or the last
	Reflect               // the elements from the end on backwards, without the end itself
	Symmetric             // the elements from the end on backwards
	modes
)

var modeNames = [modes]string{Wrap: " wrap", Edge: " edge", Reflect: " reflect", Symmetric: " symmetric"}

// String returns the name that follows a width, with a space before it; none of Constant.
func (m Mode) String() string {
	if m < 0 || m >= modes {
		return fmt.Sprintf(" mode %d", int64(m))
	}
	return modeNames[m]
}

// turns is how often ghosts may go around a circle at most, so that a plan stays small.
const turns = 64

// check refuses margins that no layout can have, or this one.
func check(l partition.Layout, margins []Margin) error {
	if len(margins) != l.Dims() {
		return status.New(status.InvalidArgument, "%d widths for %d dimensions", len(margins), l.Dims())
	}
	for d, m := range margins {
		p := l.Dim(d)
		if p.Kind() != partition.KindBlock && p.Kind() != partition.KindExplicit {
			return status.New(status.Unsupported,
				"the parts of dimension %d are not ranges, and so have no neighbours; redistribute(dtl.PARTITION_BLOCK) first", d)
		}
		if m.Before < 0 || m.After < 0 {
			return status.New(status.InvalidArgument, "width %d of dimension %d is negative", min(m.Before, m.After), d)
		}
		if err := m.check(d, p.GlobalSize()); err != nil {
			return err
		}
	}
	return nil
}

// check refuses modes that there are not, and plans that would be too large.
func (m Margin) check(d int, extent int64) error {
	widest := max(m.Before, m.After)
	switch {
	case m.Mode < 0 || m.Mode >= modes:
		return status.New(status.InvalidArgument, "mode %d of dimension %d outside [0, %d)", m.Mode, d, modes)
	case m.Mode == Constant || extent == 0:
	case m.Mode != Edge && widest/extent > turns:
		return status.New(status.InvalidArgument, "width %d of dimension %d goes more than %d times around its extent %d",
			widest, d, turns, extent)
	case m.Mode != Wrap && widest > boxes: // each is a piece of its own
		return status.New(status.InvalidArgument, "width %d of dimension %d is more than %d; make it narrower", widest, d, boxes)
	}
	return nil
}

// axis is one dimension: its margin, and where each part starts.
type axis struct {
	Margin
	part   partition.Partition
	starts []int64 // of each part, and the end of the last
}

func newAxis(p partition.Partition, m Margin) axis {
	starts := make([]int64, p.Ranks()+1)
	for rank := range p.Ranks() {
		starts[rank+1] = starts[rank] + p.LocalSize(rank)
	}
	return axis{Margin: m, part: p, starts: starts}
}

// strip is a range along one dimension of what one part's elements fill of another part and its ghosts. Both ends are
// counted from the part's first element, so ghosts before it have negative indices.
type strip struct {
	other           int // coordinate of the other part: at a receiver, whose elements; at a sender, whose ghosts
	from, to, count int64
	inside          bool // elements, which fill themselves
}

// strips returns what fills a part and its ghosts, in ascending order. Where a ghost stands for nothing there is none.
func (x axis) strips(at int) []strip {
	lo, hi := x.starts[at], x.starts[at+1]
	all := x.fill(nil, lo-x.Before, lo, lo)
	if hi > lo {
		all = append(all, strip{other: at, count: hi - lo, inside: true})
	}
	return x.fill(all, hi, hi+x.After, lo)
}

// fill appends what the ghosts in [from, to) stand for.
func (x axis) fill(all []strip, from, to, origin int64) []strip {
	size := x.part.GlobalSize()
	if size == 0 {
		return all
	}
	if x.Mode == Constant {
		from, to = max(from, 0), min(to, size)
	}
	for from < to {
		index, ascending := x.Mode.source(from, size)
		owner, n := x.part.Owner(index), int64(1)
		if ascending {
			n = min(to-from, x.starts[owner+1]-index)
		}
		all = append(all, strip{other: owner, from: index - x.starts[owner], to: from - origin, count: n})
		from += n
	}
	return all
}

// source returns the element that an index beyond the ends stands for, and whether the next indices stand for the next
// elements, up to the last one.
func (m Mode) source(index, size int64) (element int64, ascending bool) {
	if index >= 0 && index < size {
		return index, true
	}
	switch m {
	case Edge:
		return min(max(index, 0), size-1), false
	case Reflect, Symmetric:
		again := int64(m - Reflect) // how often the end itself comes again
		period := max(2*(size-1+again), 1)
		index = (index%period + period) % period
		if index < size {
			return index, true
		}
		return period - again - index, false
	}
	return (index%size + size) % size, true
}

// served returns the strips of all parts that one part's elements fill, in order of the part and of its strips.
func (x axis) served(by int) []strip {
	var all []strip
	for at := range x.part.Ranks() {
		for _, s := range x.strips(at) {
			if s.other == by {
				s.other = at
				all = append(all, s)
			}
		}
	}
	return all
}
