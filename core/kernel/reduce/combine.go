package reduce

import (
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/kernel"
)

// CombineAt combines elements that lie anywhere: *dst[i] = *dst[i] op *src[i], in order, so that a destination may
// occur more than once. What the operators do is what Accumulate says. Addresses need not be aligned.
func CombineAt(dst, src []unsafe.Pointer, t dtype.Type, op kernel.Op) error {
	loops, err := loopsOf(t, op)
	if err != nil {
		return err
	}
	loops.at(dst, src)
	return nil
}

func sumAt[T kernel.Number](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) += *(*T)(src[i])
	}
}

func prodAt[T kernel.Number](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) *= *(*T)(src[i])
	}
}

func minimumAt[T kernel.Ordered](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) = min(*(*T)(d), *(*T)(src[i]))
	}
}

func maximumAt[T kernel.Ordered](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) = max(*(*T)(d), *(*T)(src[i]))
	}
}

func andAt[T kernel.Number](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) = truth[T](*(*T)(d) != 0 && *(*T)(src[i]) != 0)
	}
}

func orAt[T kernel.Number](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) = truth[T](*(*T)(d) != 0 || *(*T)(src[i]) != 0)
	}
}

func bitsAndAt[T kernel.Integer](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) &= *(*T)(src[i])
	}
}

func bitsOrAt[T kernel.Integer](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) |= *(*T)(src[i])
	}
}

func bitsXorAt[T kernel.Integer](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) ^= *(*T)(src[i])
	}
}
