package topology

import (
	"dtl/core/backend"
	"dtl/core/status"
)

// Cart is a grid of ranks, whose last axis runs fastest. Along an axis with a period, the ends are neighbours.
type Cart struct {
	Dims    []int64
	Periods []bool
}

// NewCart returns a grid of n ranks; extents of 0 are chosen.
func NewCart(n int, dims []int64, periods []bool) (*Cart, error) {
	if len(periods) != len(dims) {
		return nil, status.New(status.InvalidArgument, "periods has %d entries for %d dims", len(periods), len(dims))
	}
	filled, err := Fill(n, dims)
	if err != nil {
		return nil, err
	}
	return &Cart{Dims: filled, Periods: periods}, nil
}

// Size returns the number of ranks.
func (g *Cart) Size() int64 {
	n := int64(1)
	for _, extent := range g.Dims {
		n *= extent
	}
	return n
}

// Coords returns where a rank is (MPI_Cart_coords).
func (g *Cart) Coords(rank int64) ([]int64, error) {
	if rank < 0 || rank >= g.Size() {
		return nil, status.New(status.OutOfBounds, "rank %d outside [0, %d)", rank, g.Size())
	}
	coords := make([]int64, len(g.Dims))
	for axis := len(g.Dims) - 1; axis >= 0; axis-- {
		coords[axis] = rank % g.Dims[axis]
		rank /= g.Dims[axis]
	}
	return coords, nil
}

// Rank returns who is at coords (MPI_Cart_rank). Along an axis with a period any number will do.
func (g *Cart) Rank(coords []int64) (rank int64, err error) {
	if len(coords) != len(g.Dims) {
		return 0, status.New(status.InvalidArgument, "coords has %d entries for %d axes", len(coords), len(g.Dims))
	}
	for axis, at := range coords {
		extent := g.Dims[axis]
		if g.Periods[axis] {
			at = (at%extent + extent) % extent
		}
		if at < 0 || at >= extent {
			return 0, status.New(status.OutOfBounds, "coordinate %d outside [0, %d) along axis %d, which has no period", at, extent, axis)
		}
		rank = rank*extent + at
	}
	return rank, nil
}

// Shift returns whom rank receives from and sends to where every rank sends so far along an axis (MPI_Cart_shift);
// backend.ProcNull beyond an end.
func (g *Cart) Shift(rank, axis, displacement int64) (source, dest int64, err error) {
	if axis < 0 || axis >= int64(len(g.Dims)) {
		return 0, 0, status.New(status.OutOfBounds, "axis %d outside [0, %d)", axis, len(g.Dims))
	}
	coords, err := g.Coords(rank)
	if err != nil {
		return 0, 0, err
	}
	extent := g.Dims[axis]
	if g.Periods[axis] {
		displacement %= extent // so that no sum overflows
	}
	at := coords[axis]
	beside := func(by int64) int64 {
		if !g.Periods[axis] && (by > extent-1-at || by < -at) {
			return backend.ProcNull
		}
		coords[axis] = at + by
		r, _ := g.Rank(coords) // which is inside
		return r
	}
	if displacement < -extent || displacement > extent {
		return backend.ProcNull, backend.ProcNull, nil
	}
	return beside(-displacement), beside(displacement), nil
}

// Neighbors returns a rank's, in the order of MPI's neighbour collectives: of each axis the one before and the one behind.
func (g *Cart) Neighbors(rank int64) (all []int64, err error) {
	for axis := range g.Dims {
		before, behind, err := g.Shift(rank, int64(axis), 1)
		if err != nil {
			return nil, err
		}
		all = append(all, before, behind)
	}
	return all, nil
}
