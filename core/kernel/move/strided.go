// Package move copies elements by strides, offsets and owners. Elements of equal size move alike, whatever their type.
package move

import (
	"unsafe"

	"dtl/core/memory"
)

// CopyStrided copies count units of size bytes: the i-th from src + i*srcStride to dst + i*dstStride, strides in
// bytes and of any sign. Nothing needs to be aligned. The units read and those written do not overlap, unless both
// sides are contiguous, when it is a memmove.
func CopyStrided(dst unsafe.Pointer, dstStride int, src unsafe.Pointer, srcStride int, count, size int) {
	switch {
	case count <= 0 || size <= 0:
	case count == 1, dstStride == size && srcStride == size:
		memory.Move(dst, src, count*size)
	case memory.Limit() > 0 && count*reach(dstStride, srcStride) > memory.Piece:
		memory.InPieces(count, reach(dstStride, srcStride), func(from, to int) {
			copyUnits(unsafe.Add(dst, from*dstStride), dstStride, unsafe.Add(src, from*srcStride), srcStride, to-from, size)
		})
	default:
		copyUnits(dst, dstStride, src, srcStride, count, size)
	}
}

// reach returns how many bytes a unit is from the next in memory, on the side where that is more.
func reach(dstStride, srcStride int) int { return max(abs(dstStride), abs(srcStride), 1) }

// copyUnits is CopyStrided where there are gaps on a side.
func copyUnits(dst unsafe.Pointer, dstStride int, src unsafe.Pointer, srcStride int, count, size int) {
	switch {
	case size == 8:
		copyWords[uint64](dst, dstStride, src, srcStride, count)
	case size == 4:
		copyWords[uint32](dst, dstStride, src, srcStride, count)
	case size == 2:
		copyWords[uint16](dst, dstStride, src, srcStride, count)
	case size == 1:
		copyWords[uint8](dst, dstStride, src, srcStride, count)
	case size == 16:
		copyWords[[2]uint64](dst, dstStride, src, srcStride, count)
	case size == 12:
		copyWords[[3]uint32](dst, dstStride, src, srcStride, count)
	case size == 24:
		copyWords[[3]uint64](dst, dstStride, src, srcStride, count)
	case size == 32:
		copyWords[[4]uint64](dst, dstStride, src, srcStride, count)
	default:
		for i := range count {
			memory.Move(unsafe.Add(dst, i*dstStride), unsafe.Add(src, i*srcStride), size)
		}
	}
}

// copyWords is four loads and then four stores at a time. Addresses are offsets from the first unit, so that none is
// ever formed outside the memory.
func copyWords[T any](dst unsafe.Pointer, dstStride int, src unsafe.Pointer, srcStride int, count int) {
	d, s := 0, 0
	for ; count >= 4; count -= 4 {
		a := *(*T)(unsafe.Add(src, s))
		b := *(*T)(unsafe.Add(src, s+srcStride))
		c := *(*T)(unsafe.Add(src, s+2*srcStride))
		e := *(*T)(unsafe.Add(src, s+3*srcStride))
		*(*T)(unsafe.Add(dst, d)) = a
		*(*T)(unsafe.Add(dst, d+dstStride)) = b
		*(*T)(unsafe.Add(dst, d+2*dstStride)) = c
		*(*T)(unsafe.Add(dst, d+3*dstStride)) = e
		s += 4 * srcStride
		d += 4 * dstStride
	}
	for ; count > 0; count-- {
		*(*T)(unsafe.Add(dst, d)) = *(*T)(unsafe.Add(src, s))
		s += srcStride
		d += dstStride
	}
}
