package partition

import (
	"math"
	"slices"

	"dtl/core/mix"
	"dtl/core/status"
)

// Layout divides an n-dimensional index space, n at least 1: each dimension by its own partition, over one axis of a
// grid of ranks. Ranks are numbered in C order, the last axis fastest, as in MPI_Cart_create. A dimension of one grid
// row is not divided. Layouts are not changed once they are made.
type Layout struct {
	dims []Partition
}

// NewLayout combines one partition for each dimension; the grid's extents are their numbers of ranks. An index space
// of more than 2⁶³-1 elements, not counting extents of zero, is status.InvalidArgument, and so are more than 2³¹-1
// ranks and no dimension at all.
func NewLayout(dims ...Partition) (Layout, error) {
	if len(dims) == 0 {
		return Layout{}, status.New(status.InvalidArgument, "no dimensions: there must be at least 1")
	}
	total, ranks := int64(1), 1
	for _, p := range dims {
		n := max(p.GlobalSize(), 1)
		if total > math.MaxInt64/n {
			return Layout{}, status.New(status.InvalidArgument, "shape has more than %d elements", int64(math.MaxInt64))
		}
		if ranks > math.MaxInt32/p.Ranks() {
			return Layout{}, status.New(status.InvalidArgument, "grid has more than %d ranks", math.MaxInt32)
		}
		total *= n
		ranks *= p.Ranks()
	}
	return Layout{dims: slices.Clone(dims)}, nil
}

// Dims returns the number of dimensions.
func (l Layout) Dims() int { return len(l.dims) }

// Dim returns a dimension's partition.
func (l Layout) Dim(d int) Partition { return l.dims[d] }

// Ranks returns the number of ranks in the grid.
func (l Layout) Ranks() int {
	n := 1
	for _, p := range l.dims {
		n *= p.Ranks()
	}
	return n
}

// Grid returns the grid's extents.
func (l Layout) Grid() []int64 {
	return l.each(func(_ int, p Partition) int64 { return int64(p.Ranks()) })
}

// Shape returns the extents of the whole.
func (l Layout) Shape() []int64 {
	return l.each(func(_ int, p Partition) int64 { return p.GlobalSize() })
}

// LocalShape returns the extents of a rank's part.
func (l Layout) LocalShape(rank int) []int64 {
	return l.each(func(d int, p Partition) int64 { return p.LocalSize(l.Coordinate(rank, d)) })
}

func (l Layout) each(f func(d int, p Partition) int64) []int64 {
	all := make([]int64, len(l.dims))
	for d, p := range l.dims {
		all[d] = f(d, p)
	}
	return all
}

// GlobalSize returns the number of elements of the whole.
func (l Layout) GlobalSize() int64 { return product(l.Shape()) }

// LocalSize returns the number of elements that a rank holds.
func (l Layout) LocalSize(rank int) int64 { return product(l.LocalShape(rank)) }

func product(extents []int64) int64 {
	n := int64(1)
	for _, e := range extents {
		n *= e
	}
	return n
}

// Coordinate returns where a rank stands along one axis of the grid.
func (l Layout) Coordinate(rank, d int) int {
	for k := len(l.dims) - 1; k > d; k-- {
		rank /= l.dims[k].Ranks()
	}
	return rank % l.dims[d].Ranks()
}

// Rank returns the rank at the given coordinates.
func (l Layout) Rank(coordinates []int) int {
	rank := 0
	for d, p := range l.dims {
		rank = rank*p.Ranks() + coordinates[d]
	}
	return rank
}

// Replicated reports whether every rank holds everything by design: a dimension is Replicated, and none is divided
// among more than one rank.
func (l Layout) Replicated() bool {
	found := false
	for _, p := range l.dims {
		replicated := p.Kind() == KindReplicated
		if !replicated && p.Ranks() > 1 {
			return false
		}
		found = found || replicated
	}
	return found
}

// With returns the layout with another partition of one dimension, over as many ranks.
func (l Layout) With(d int, p Partition) Layout {
	dims := slices.Clone(l.dims)
	dims[d] = p
	return Layout{dims: dims}
}

// Sub returns the range [offset, offset+count) of the first dimension, each element where it was.
func (l Layout) Sub(offset, count int64) Layout {
	return l.With(0, Range(l.dims[0], offset, count))
}

// Equal reports whether two layouts divide the same shape alike.
func (l Layout) Equal(m Layout) bool { return slices.EqualFunc(l.dims, m.dims, Equal) }

// Fingerprint is a number that, in all likelihood, differs where layouts do.
func (l Layout) Fingerprint() int64 {
	h := uint64(len(l.dims))
	for _, p := range l.dims {
		h = fingerprint(h, p)
	}
	return int64(h)
}

// fingerprint mixes what tells a partition from others into a number.
func fingerprint(h uint64, p Partition) uint64 {
	h = mix.SplitMix64(mix.SplitMix64(mix.SplitMix64(h^uint64(p.Kind()))^uint64(p.GlobalSize())) ^ uint64(p.Ranks()))
	switch p := p.(type) {
	case BlockCyclic:
		h = mix.SplitMix64(h ^ uint64(p.block))
	case Explicit:
		for _, offset := range p.offsets {
			h = mix.SplitMix64(h ^ uint64(offset))
		}
	case Sub:
		h = fingerprint(mix.SplitMix64(h^uint64(p.offset)), p.of)
	}
	return h
}
