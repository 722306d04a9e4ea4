package move_test

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"dtl/core/kernel/move"
)

// strided copies units one byte at a time.
func strided(dst []byte, to, dstStride int, src []byte, from, srcStride, count, size int) {
	for i := range count {
		for b := range size {
			dst[to+i*dstStride+b] = src[from+i*srcStride+b]
		}
	}
}

// reach returns where the first of count units lies for all to lie in memory, which starts 3 bytes in.
func reach(stride, count, size int) (first, length int) {
	first = 3
	span := (count - 1) * stride
	if count == 0 {
		span = 0
	}
	if span < 0 {
		first, span = 3-span, -span
	}
	return first, span + size + 7
}

func TestCopyStrided(t *testing.T) {
	for _, size := range []int{1, 2, 3, 4, 5, 8, 12, 16, 20, 24, 32, 40} {
		for _, count := range []int{0, 1, 2, 3, 4, 5, 8, 9, 100} {
			for _, times := range [][2]int{{1, 1}, {1, 2}, {3, 1}, {2, 5}, {-1, 1}, {1, -2}, {-3, -1}, {-1, -1}} {
				for _, slack := range []int{0, 1} { // not a multiple of the size
					dstStride, srcStride := times[0]*(size+slack), times[1]*(size+slack)
					to, dstLength := reach(dstStride, count, size)
					from, srcLength := reach(srcStride, count, size)
					src, got, want := make([]byte, srcLength), make([]byte, dstLength), make([]byte, dstLength)
					for i := range src {
						src[i] = byte(i*7 + 1)
					}
					strided(want, to, dstStride, src, from, srcStride, count, size)
					move.CopyStrided(unsafe.Pointer(&got[to]), dstStride, unsafe.Pointer(&src[from]), srcStride, count, size)
					assert.Equal(t, want, got, "%d units of %d bytes, strides %d and %d", count, size, dstStride, srcStride)
				}
			}
		}
	}
}

// Every unit is the same one: a stride of 0.
func TestCopyStridedFromOne(t *testing.T) {
	src, dst := []uint64{7}, make([]uint64, 9)
	move.CopyStrided(unsafe.Pointer(&dst[0]), 8, unsafe.Pointer(&src[0]), 0, len(dst), 8)
	assert.Equal(t, []uint64{7, 7, 7, 7, 7, 7, 7, 7, 7}, dst)
}

func TestCopyStridedMovesWhatOverlaps(t *testing.T) {
	a := []uint64{1, 2, 3, 4, 5}
	move.CopyStrided(unsafe.Pointer(&a[1]), 8, unsafe.Pointer(&a[0]), 8, 4, 8)
	assert.Equal(t, []uint64{1, 1, 2, 3, 4}, a)
}

func BenchmarkCopyStrided(b *testing.B) {
	const bytes = 1 << 20
	dst, src := make([]byte, bytes), make([]byte, 2*bytes)
	for _, size := range []int{1, 2, 4, 8, 16, 20, 32} {
		count := bytes / size
		for name, strides := range map[string][2]int{"gather": {size, 2 * size}, "contiguous": {size, size}} {
			b.Run(fmt.Sprintf("%s %d", name, size), func(b *testing.B) {
				b.SetBytes(int64(count * size))
				for range b.N {
					move.CopyStrided(unsafe.Pointer(&dst[0]), strides[0], unsafe.Pointer(&src[0]), strides[1], count, size)
				}
			})
		}
	}
}
