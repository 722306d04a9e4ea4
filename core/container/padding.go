package container

import (
	"math"
	"slices"
	"sync/atomic"
	"unsafe"

	"dtl/core/status"
)

// padding is the memory around a part, in elements before and after it along each dimension. nil is none.
type padding struct {
	before, after []int64
	exchanges     atomic.Int64 // of halos, under way in it
}

// busy reports whether an exchange is under way.
func (r *padding) busy() bool { return r != nil && r.exchanges.Load() > 0 }

// holds reports whether the padding is at least as wide as wanted.
func (r *padding) holds(want *padding) bool {
	wider := func(have, want []int64) bool {
		for d, n := range want {
			if n > 0 && (have == nil || have[d] < n) {
				return false
			}
		}
		return true
	}
	if r == nil {
		r = &padding{}
	}
	return wider(r.before, want.before) && wider(r.after, want.after)
}

// widened returns a padding that holds both.
func (r *padding) widened(want *padding) *padding {
	both := &padding{before: slices.Clone(want.before), after: slices.Clone(want.after)}
	if r != nil {
		for d := range r.before {
			both.before[d], both.after[d] = max(both.before[d], r.before[d]), max(both.after[d], r.after[d])
		}
	}
	return both
}

// around returns the extents of a part with what lies around it, or an error where no address reaches as far.
func (r *padding) around(shape []int64) ([]int64, error) {
	all, total := make([]int64, len(shape)), int64(1)
	for d, n := range shape {
		before, after := r.before[d], r.after[d]
		if before > math.MaxInt64-n || after > math.MaxInt64-n-before || n+before+after > math.MaxInt64/max(total, 1) {
			return nil, status.New(status.OutOfMemory, "a part of %d elements with %d and %d ghosts around it has no address", n, before, after)
		}
		all[d] = n + before + after
		total *= all[d]
	}
	return all, nil
}

// padded returns a state like s in new memory, with room around the part. The elements are not in it yet.
func (s *state) padded(r *padding) (*state, error) {
	shape, err := r.around(s.shape)
	if err != nil {
		return nil, err
	}
	bytes, err := bytesOf(product(shape), s.typ)
	if err != nil {
		return nil, err
	}
	storage, err := s.home.zeros(bytes)
	if err != nil {
		return nil, err
	}
	next := *s
	next.storage, next.addr, next.strides = storage, storage.Addr(), cOrder(shape, s.typ.Size())
	next.padding, next.changes = r, s.changes+1
	for d, n := range r.before {
		next.addr = unsafe.Add(next.addr, n*next.strides[d])
	}
	if err = next.settle(); err != nil {
		next.release()
		return nil, err
	}
	return &next, nil
}
