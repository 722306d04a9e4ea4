package container

import "unsafe"

// CountLines returns how many lines of elements along a dimension there are.
func (s *state) CountLines(axis int) int {
	return int(product(s.shape) / max(s.shape[axis], 1))
}

// Line returns the address of the first element of a line along a dimension, and the bytes from one to the next. Lines are numbered in
// the C order of the other dimensions.
func (s *state) Line(axis, number int) (first unsafe.Pointer, stride int64) {
	i, at := int64(number), int64(0)
	for d := len(s.shape) - 1; d >= 0; d-- {
		if d != axis {
			at += i % s.shape[d] * s.strides[d]
			i /= s.shape[d]
		}
	}
	return unsafe.Add(s.addr, at), s.strides[axis]
}
