// Package container holds the distributed containers: a partition says which rank owns which element, and each
// rank holds its own.
package container

import (
	"sync/atomic"

	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/handle"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/runtime"
	"dtl/core/status"
)

// Vectors are the open vectors.
var Vectors = handle.NewTable[*Vector](handle.Vector)

// alignment of every container's memory: a cache line, and the widest vector register.
const alignment = 64

// Vector is a one-dimensional container. Its elements start at zero.
type Vector struct {
	context *runtime.Context
	part    partition.Block
	storage *memory.Storage
	local   memory.Span
	shape   [1]int64
	closed  atomic.Bool
}

// NewVector makes a vector of size elements over the context's ranks, which all pass the same arguments. It
// communicates nothing, and touches no page of its memory.
func NewVector(on *runtime.Context, size int64, t dtype.Type) (*Vector, error) {
	v, err := newVector(on, size, t)
	return v, status.In("vector", err)
}

func newVector(on *runtime.Context, size int64, t dtype.Type) (*Vector, error) {
	if _, err := on.Comm(); err != nil {
		return nil, err
	}
	if !t.Valid() {
		return nil, status.New(status.InvalidArgument, "dtype number %d is no element type", t)
	}
	part, err := partition.NewBlock(size, on.Size())
	if err != nil {
		return nil, err
	}
	n := part.LocalSize(on.Rank())
	if n > maxBytes/int64(t.Size()) {
		return nil, status.New(status.OutOfMemory, "%d elements of %s are more bytes than an address has", n, t)
	}
	storage, err := memory.NewStorage(on.Memory(), int(n)*t.Size(), alignment)
	if err != nil {
		return nil, err
	}
	span := memory.Span{Addr: storage.Addr(), Count: int(n), Type: t}
	return &Vector{context: on, part: part, storage: storage, local: span, shape: [1]int64{n}}, nil
}

const maxBytes = 1<<63 - 1

// Partition says which rank owns which element.
func (v *Vector) Partition() partition.Block { return v.part }

// LocalSize returns the number of elements on this rank.
func (v *Vector) LocalSize() int64 { return v.shape[0] }

// Rank returns the rank whose part this is.
func (v *Vector) Rank() int { return v.context.Rank() }

// View returns the local part with one more use of its memory, which the caller releases. So the part stays
// valid when the vector has gone.
func (v *Vector) View() (comm.Result, error) {
	if err := v.storage.Retain(); err != nil {
		return comm.Result{}, status.In("local_view", err)
	}
	return comm.Result{Array: comm.Array{Span: v.local, Shape: v.shape[:]}, Storage: v.storage}, nil
}

// Close drops the vector's own use of its memory; views keep theirs. A second Close does nothing. Local.
func (v *Vector) Close() error {
	if !v.closed.Swap(true) {
		v.storage.Release()
	}
	return nil
}
