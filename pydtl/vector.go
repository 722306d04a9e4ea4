package pydtl

import (
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/handle"
	"dtl/core/runtime"
)

// vector calls f with the vector that a handle names.
func vector[T any](h int64, f func(*container.Vector) (T, error)) (T, error) {
	return using(container.Vectors, h, f)
}

// VectorCreate returns a vector of size elements over a context's ranks, all zero.
func VectorCreate(ctx, size, elementType int64) (h int64, err error) {
	defer guard(&err)
	t, err := dtype.Parse(elementType)
	if err != nil {
		return 0, err
	}
	return on(ctx, func(c *runtime.Context) (int64, error) {
		v, err := container.NewVector(c, size, t)
		if err != nil {
			return 0, err
		}
		return int64(container.Vectors.Put(v)), nil
	})
}

// VectorGlobalSize returns the number of elements over all ranks.
func VectorGlobalSize(vec int64) (n int64, err error) {
	defer guard(&err)
	return vector(vec, func(v *container.Vector) (int64, error) { return v.Partition().GlobalSize(), nil })
}

// VectorLocalSize returns the number of elements on this rank.
func VectorLocalSize(vec int64) (n int64, err error) {
	defer guard(&err)
	return vector(vec, func(v *container.Vector) (int64, error) { return v.LocalSize(), nil })
}

// VectorLocalOffset returns the global index of this rank's first element.
func VectorLocalOffset(vec int64) (index int64, err error) {
	defer guard(&err)
	return vector(vec, func(v *container.Vector) (int64, error) { return v.Partition().Offset(v.Rank()), nil })
}

// VectorOwner returns the rank that holds the element of a global index.
func VectorOwner(vec, index int64) (rank int64, err error) {
	defer guard(&err)
	return vector(vec, func(v *container.Vector) (int64, error) {
		rank, err := v.Partition().Owner(index)
		return int64(rank), err
	})
}

// VectorIsLocal reports whether this rank holds the element of a global index.
func VectorIsLocal(vec, index int64) (local bool, err error) {
	defer guard(&err)
	return vector(vec, func(v *container.Vector) (bool, error) {
		rank, err := v.Partition().Owner(index)
		return rank == v.Rank(), err
	})
}

// VectorClose closes a vector; its views stay valid. Its handle is invalid from then on. Local.
func VectorClose(vec int64) (ok bool, err error) {
	defer guard(&err)
	return true, container.Vectors.Close(handle.Handle(vec))
}
