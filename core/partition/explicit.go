package partition

import (
	"math"

	"dtl/core/status"
)

// Explicit gives each rank one contiguous range of a given length, in rank order. Owner is a binary search over the
// ranks; everything else is O(1).
type Explicit struct {
	offsets []int64 // of each rank's range, and the end of the last
}

var _ Partition = Explicit{}

// NewExplicit gives rank r sizes[r] elements.
func NewExplicit(sizes []int64) (Explicit, error) {
	if err := check(0, len(sizes)); err != nil {
		return Explicit{}, err
	}
	offsets := make([]int64, len(sizes)+1)
	for rank, n := range sizes {
		if n < 0 {
			return Explicit{}, status.New(status.InvalidArgument, "local size %d of rank %d is negative", n, rank)
		}
		if n > math.MaxInt64-offsets[rank] {
			return Explicit{}, status.New(status.InvalidArgument, "the local sizes add up to more than %d", int64(math.MaxInt64))
		}
		offsets[rank+1] = offsets[rank] + n
	}
	return Explicit{offsets: offsets}, nil
}

// On returns the partition that has all size elements on one rank.
func On(rank, ranks int, size int64) Explicit {
	offsets := make([]int64, ranks+1)
	for r := rank + 1; r <= ranks; r++ {
		offsets[r] = size
	}
	return Explicit{offsets: offsets}
}

// Kind returns KindExplicit.
func (e Explicit) Kind() Kind { return KindExplicit }

// GlobalSize returns the number of elements on all ranks together.
func (e Explicit) GlobalSize() int64 { return e.offsets[len(e.offsets)-1] }

// Ranks returns the number of ranks.
func (e Explicit) Ranks() int { return len(e.offsets) - 1 }

// LocalSize returns the number of elements that a rank holds.
func (e Explicit) LocalSize(rank int) int64 { return e.offsets[rank+1] - e.offsets[rank] }

// Owner returns the rank that holds a global index.
func (e Explicit) Owner(global int64) int {
	rank := 0 // the last whose range begins at global or before: any after it in [rank, rank+n)
	for n := e.Ranks(); n > 1; {
		half := n / 2
		later := (e.offsets[rank+half] - global - 1) >> 63 // all ones if that one is such, else zero: no branch to guess
		rank += half & int(later)
		n -= half
	}
	return rank
}

// Holds reports whether a rank holds a global index.
func (e Explicit) Holds(rank int, global int64) bool {
	return uint64(global-e.offsets[rank]) < uint64(e.LocalSize(rank))
}

// Before returns how many of a rank's elements have an index below global.
func (e Explicit) Before(rank int, global int64) int64 {
	return clamp(global-e.offsets[rank], 0, e.LocalSize(rank))
}

// Global returns the global index of a rank's local one.
func (e Explicit) Global(rank int, local int64) int64 { return e.offsets[rank] + local }

// From returns the rank's elements whose index is global or more: one run.
func (e Explicit) From(rank int, global int64) Runs {
	return rangeFrom(e.offsets[rank], e.LocalSize(rank), global)
}

// Locate sets locals[i] to where the rank holds globals[i], or to -1.
func (e Explicit) Locate(rank int, globals, locals []int64) {
	locateRange(e.offsets[rank], e.LocalSize(rank), globals, locals)
}

// Owners sets owners[i] to the owner of globals[i].
func (e Explicit) Owners(globals []int64, owners []int32) {
	for i, g := range globals {
		owners[i] = int32(e.Owner(g))
	}
}
