//go:build cpython

package numpybridge

// #include "loops.h"
import "C"

import (
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/kernel/fold"
	"dtl/core/kernel/radix"
	loops "dtl/core/kernel/reduce"
	_ "dtl/core/kernel/rows"          // find.h, hash.h and rows.h are included here
	_ "dtl/core/kernel/scan/overflow" // marks.h is included here
	_ "dtl/core/kernel/sparse"        // split.h and triplets.h are included here
	"dtl/core/transfer"
)

// dtl_sorter gives the core a function of NumPy that sorts numbers of a type, and needs neither the GIL nor more memory.
//
//export dtl_sorter
func dtl_sorter(number C.int, sort unsafe.Pointer) {
	defer guard(nil)
	radix.SetSorter(dtype.Type(number), func(first unsafe.Pointer, n int) {
		C.dtl_sort(C.dtl_sort_loop(sort), first, C.ptrdiff_t(n))
	})
}

func init() {
	radix.SetDistinct(func(first unsafe.Pointer, n int) bool { return C.dtl_are_distinct(first, C.ptrdiff_t(n)) != 0 })
	for _, t := range []dtype.Type{dtype.Float64, dtype.Float32} {
		lendSums(t, C.int(t.Size()))
	}
	floatSums = func(size int64, seen *int64) transfer.Combine {
		return func(dst unsafe.Pointer, dstStride int, src unsafe.Pointer, srcStride, count, bytes int) {
			*seen |= int64(C.dtl_add_floats(C.int(size), (*C.char)(dst), C.ptrdiff_t(dstStride), (*C.char)(src), C.ptrdiff_t(srcStride),
				C.ptrdiff_t(count), C.ptrdiff_t(bytes)))
		}
	}
}

// lendSums gives the core loops that add up floats of a type, of a size.
func lendSums(t dtype.Type, size C.int) {
	fold.SetSum(t, func(first unsafe.Pointer, n int, sum *[2]float64) {
		C.dtl_add_elements(size, first, C.ptrdiff_t(n), (*C.double)(&sum[0]))
	})
	fold.SetDot(t, func(a, b unsafe.Pointer, n int, sum *[2]float64) {
		C.dtl_add_products(size, a, b, C.ptrdiff_t(n), (*C.double)(&sum[0]))
	})
	fold.SetMoments(t, func(first unsafe.Pointer, n int, moments *[3]float64) {
		C.dtl_moments(size, first, C.ptrdiff_t(n), (*C.double)(&moments[0]))
	})
}

// dtl_extremes gives the core a loop of NumPy that finds the least, or the greatest, of many elements of a type.
//
//export dtl_extremes
func dtl_extremes(number, greatest C.int, loop unsafe.Pointer) {
	defer guard(nil)
	t := dtype.Type(number)
	fold.SetExtreme(t, greatest != 0, func(first unsafe.Pointer, n int, found unsafe.Pointer) {
		C.dtl_extreme(C.dtl_loop(loop), first, C.ptrdiff_t(n), C.ptrdiff_t(t.Size()), found)
	})
}

// dtl_extreme_places gives the core a function of NumPy that finds where the least, or the greatest, of many elements of a type is.
//
//export dtl_extreme_places
func dtl_extreme_places(number, greatest C.int, loop unsafe.Pointer) {
	defer guard(nil)
	fold.SetPlace(dtype.Type(number), greatest != 0, func(first unsafe.Pointer, n int) int {
		var place C.ptrdiff_t
		C.dtl_extreme_at(C.dtl_place_loop(loop), first, C.ptrdiff_t(n), &place)
		return int(place)
	})
}

// dtl_sums gives the core a loop of NumPy that adds elements of a type.
//
//export dtl_sums
func dtl_sums(number C.int, loop unsafe.Pointer) {
	defer guard(nil)
	t := dtype.Type(number)
	loops.SetSum(t, func(dst, src unsafe.Pointer, n int) {
		C.dtl_add(C.dtl_loop(loop), dst, src, C.ptrdiff_t(n), C.ptrdiff_t(t.Size()))
	})
}
