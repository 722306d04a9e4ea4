package container

import (
	"slices"

	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// LocalIndices returns the global index along a dimension of each local one. Local.
func LocalIndices(of Container, d int64) (comm.Result, error) {
	p, err := of.Look()
	if err != nil {
		return comm.Result{}, err
	}
	defer p.Done()
	if err := p.checkDimension(d); err != nil {
		return comm.Result{}, err
	}
	n := p.shape[d]
	bytes, err := bytesOf(n, dtype.Int64)
	if err != nil {
		return comm.Result{}, err
	}
	storage, err := memory.NewStorage(of.Context().Memory(), bytes, memory.Alignment)
	if err != nil {
		return comm.Result{}, err
	}
	out := memory.Span{Addr: storage.Addr(), Count: int(n), Type: dtype.Int64}
	all := memory.As[int64](out)
	runs := p.layout.Dim(int(d)).From(p.layout.Coordinate(p.rank, int(d)), 0)
	for r, ok := runs.Next(); ok; r, ok = runs.Next() {
		for i := range r.Count {
			all[r.Local+i] = r.Global + i*r.Step
		}
	}
	return comm.Result{Array: comm.Array{Span: out, Shape: []int64{n}}, Storage: storage}, nil
}

// Owner returns the rank that holds the element at the given indices, one a dimension: this rank where it does. Local.
func Owner(of Container, index []int64) (int, error) {
	p, err := of.Look()
	if err != nil {
		return 0, err
	}
	defer p.Done()
	rank, err := p.owner(index)
	if err != nil {
		return 0, err
	}
	for d, i := range index {
		if !p.layout.Dim(d).Holds(p.layout.Coordinate(p.rank, d), i) {
			return rank, nil
		}
	}
	return p.rank, nil
}

// owner returns the rank that holds an element, the lowest where several do.
func (s *state) owner(index []int64) (int, error) {
	if len(index) != s.layout.Dims() {
		return 0, status.New(status.InvalidArgument, "%d indices for %d dimensions", len(index), s.layout.Dims())
	}
	coordinates := make([]int, len(index))
	for d, i := range index {
		dim := s.layout.Dim(d)
		if i < 0 || i >= dim.GlobalSize() {
			return 0, status.New(status.OutOfBounds, "index %d outside [0, %d)", i, dim.GlobalSize())
		}
		coordinates[d] = dim.Owner(i)
	}
	return s.layout.Rank(coordinates), nil
}

// Place returns the rank that holds the element at the given indices, one a dimension, and where it is in that rank's
// part in C order. Local.
func Place(of Container, index []int64) (rank int, at int64, err error) {
	p, err := of.Look()
	if err != nil {
		return 0, 0, err
	}
	defer p.Done()
	if rank, err = p.owner(index); err != nil {
		return 0, 0, err
	}
	for d, i := range index {
		dim, coordinate := p.layout.Dim(d), p.layout.Coordinate(rank, d)
		at = at*dim.LocalSize(coordinate) + dim.Before(coordinate, i)
	}
	return rank, at, nil
}

// Equal reports whether two containers are laid out alike, so that their parts correspond element by element.
func Equal(a, b Container) (bool, error) {
	p, err := a.Look()
	if err != nil {
		return false, err
	}
	defer p.Done()
	q, err := b.Look()
	if err != nil {
		return false, err
	}
	defer q.Done()
	return slices.Equal(p.layout.Shape(), q.layout.Shape()) && p.layout.Equal(q.layout), nil
}
