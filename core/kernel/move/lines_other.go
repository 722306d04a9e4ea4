//go:build !amd64

package move

import "unsafe"

func lines8(dst unsafe.Pointer, dstStride int, src unsafe.Pointer, srcStride, n int) {
	lines[word8](dst, dstStride, src, srcStride, n)
}

func streamLines8(dst unsafe.Pointer, dstStride int, src unsafe.Pointer, srcStride, n int) {
	lines8(dst, dstStride, src, srcStride, n)
}
