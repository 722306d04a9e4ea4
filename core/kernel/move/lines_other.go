//go:build !amd64

package move

import "unsafe"

func lines8(dst unsafe.Pointer, dstStride int, src unsafe.Pointer, srcStride, n int) {
	lines[word8](dst, dstStride, src, srcStride, n)
}

func streamLines8(dst unsafe.Pointer, dstStride int, src unsafe.Pointer, srcStride, srcNext, n int) {
	for j := range n {
		lines8(unsafe.Add(dst, j*dstStride), dstStride, unsafe.Add(src, j*srcNext), srcStride, 1)
	}
}
