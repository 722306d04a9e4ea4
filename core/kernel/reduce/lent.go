package reduce

import (
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// SumLoop adds n elements to n others, each to one: dst[i] += src[i].
type SumLoop func(dst, src unsafe.Pointer, n int)

// fewest is how many elements are worth the call of a loop that is lent.
const fewest = 256

// What a library has lent: loops that use wider registers than those of this package.
var lentSums [dtype.N]SumLoop

// SetSum says how else to add elements of a type. Nil takes that back. Nothing may be accumulated meanwhile. Results are the same.
func SetSum(t dtype.Type, loop SumLoop) { lentSums[t] = loop }

// sum adds the elements of a run to those of another.
func sum[T kernel.Number](dst, src memory.Span) {
	d, s := memory.Pair[T](dst, src)
	if loop := lentSums[dst.Type]; loop != nil && len(s) >= fewest {
		loop(dst.Addr, src.Addr, len(s))
		return
	}
	for i, v := range s {
		d[i] += v
	}
}
