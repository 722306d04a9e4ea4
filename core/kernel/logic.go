package kernel

import (
	"unsafe"

	"dtl/core/memory"
)

// truth is 1 for true.
func truth[T number](b bool) T {
	if b {
		return 1
	}
	return 0
}

func and[T number](dst, src memory.Span) {
	d, s := pair[T](dst, src)
	for i, v := range s {
		d[i] = truth[T](d[i] != 0 && v != 0)
	}
}

func or[T number](dst, src memory.Span) {
	d, s := pair[T](dst, src)
	for i, v := range s {
		d[i] = truth[T](d[i] != 0 || v != 0)
	}
}

func bitsAnd[T integer](dst, src memory.Span) {
	d, s := pair[T](dst, src)
	for i, v := range s {
		d[i] &= v
	}
}

func bitsOr[T integer](dst, src memory.Span) {
	d, s := pair[T](dst, src)
	for i, v := range s {
		d[i] |= v
	}
}

func bitsXor[T integer](dst, src memory.Span) {
	d, s := pair[T](dst, src)
	for i, v := range s {
		d[i] ^= v
	}
}

func andAt[T number](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) = truth[T](*(*T)(d) != 0 && *(*T)(src[i]) != 0)
	}
}

func orAt[T number](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) = truth[T](*(*T)(d) != 0 || *(*T)(src[i]) != 0)
	}
}

func bitsAndAt[T integer](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) &= *(*T)(src[i])
	}
}

func bitsOrAt[T integer](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) |= *(*T)(src[i])
	}
}

func bitsXorAt[T integer](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) ^= *(*T)(src[i])
	}
}
