package container

import (
	"unsafe"

	"dtl/core/memory"
)

// copyPart copies an n-dimensional part between memories of different strides.
func copyPart(dst, src unsafe.Pointer, shape, dstStrides, srcStrides []int64, itemSize int) {
	if product(shape) == 0 {
		return
	}
	if len(shape) == 1 {
		memory.Move(dst, src, int(shape[0])*itemSize) // neighbours in the last dimension lie side by side
		return
	}
	for i := range shape[0] {
		copyPart(unsafe.Add(dst, i*dstStrides[0]), unsafe.Add(src, i*srcStrides[0]), shape[1:], dstStrides[1:], srcStrides[1:], itemSize)
	}
}
