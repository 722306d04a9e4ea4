//go:build cpython

package numpybridge

/*
#include <stddef.h>

static void sort_by(void *sort, void *first, ptrdiff_t n) { ((int (*)(void *, ptrdiff_t, void *))sort)(first, n, NULL); }
*/
import "C"

import (
	"unsafe"

	"dtl/core/kernel/radix"
)

// dtl_sorter gives the core a function of NumPy that sorts unsigned numbers of size bytes, and needs neither the GIL nor
// more memory.
//
//export dtl_sorter
func dtl_sorter(size C.int, sort unsafe.Pointer) {
	defer guard(nil)
	radix.SetSorter(int(size), func(first unsafe.Pointer, n int) { C.sort_by(sort, first, C.ptrdiff_t(n)) })
}
