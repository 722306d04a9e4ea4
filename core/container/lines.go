package container

import (
	"slices"
	"unsafe"
)

// Lines calls f with each line of elements along a dimension: the address of its first element, and the bytes from one
// to the next.
func (s *state) Lines(axis int, f func(first unsafe.Pointer, stride int64)) {
	if product(s.shape) == 0 {
		return
	}
	shape, strides := slices.Clone(s.shape), slices.Clone(s.strides)
	each(s.addr, slices.Delete(shape, axis, axis+1), slices.Delete(strides, axis, axis+1), func(at unsafe.Pointer) bool {
		f(at, s.strides[axis])
		return true
	})
}
