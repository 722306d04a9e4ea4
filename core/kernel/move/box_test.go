package move_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"dtl/core/kernel/move"
)

// boxStrides returns the strides of a box whose dimensions lie in memory in an order, the last the nearest, with so many units between
// neighbours, and how many bytes there are.
func boxStrides(shape []int64, order []int, size, apart int64) ([]int64, int64) {
	strides, next := make([]int64, len(shape)), size*apart
	for i := len(order) - 1; i >= 0; i-- {
		strides[order[i]] = next
		next *= shape[order[i]]
	}
	return strides, max(next, size)
}

// naiveBox copies a box byte by byte.
func naiveBox(dst []byte, dstStrides []int64, src []byte, srcStrides, shape []int64, size int64) {
	if len(shape) == 0 {
		copy(dst[:size], src)
		return
	}
	for i := range shape[0] {
		naiveBox(dst[i*dstStrides[0]:], dstStrides[1:], src[i*srcStrides[0]:], srcStrides[1:], shape[1:], size)
	}
}

func TestCopyBox(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	shapes := [][]int64{{}, {5}, {0, 3}, {1, 1}, {3, 1, 4}, {17, 300}, {300, 17}, {8, 8}, {2, 270, 9}, {3, 4, 5, 6}}
	for _, shape := range shapes {
		for _, size := range []int64{1, 2, 3, 4, 8, 16, 24} {
			for _, apart := range [][2]int64{{1, 1}, {2, 1}, {1, 2}} {
				t.Run(fmt.Sprintf("%v of %d bytes, %d apart", shape, size, apart), func(t *testing.T) {
					for range 4 {
						to, n := boxStrides(shape, random.Perm(len(shape)), size, apart[0])
						from, m := boxStrides(shape, random.Perm(len(shape)), size, apart[1])
						src, got, want := make([]byte, m), make([]byte, n), make([]byte, n)
						for i := range src {
							src[i] = byte(random.Uint32())
						}
						naiveBox(want, to, src, from, shape, size)
						move.CopyBox(unsafe.Pointer(&got[0]), to, unsafe.Pointer(&src[0]), from, shape, int(size))
						assert.Equal(t, want, got, "strides %v and %v", to, from)
					}
				})
			}
		}
	}
}

func TestCopyBoxBackwards(t *testing.T) {
	src, got := []uint32{1, 2, 3, 4, 5, 6}, make([]uint32, 6)
	move.CopyBox(unsafe.Pointer(&got[0]), []int64{12, 4}, unsafe.Pointer(&src[5]), []int64{-4, -8}, []int64{2, 3}, 4)
	assert.Equal(t, []uint32{6, 4, 2, 5, 3, 1}, got)
}

// Large boxes of eight bytes are written past the caches, wherever their rows begin.
func TestCopyBoxOfMuchMemory(t *testing.T) {
	const rows, columns = 707, 801
	src := make([]uint64, columns*rows)
	for i := range src {
		src[i] = uint64(i)
	}
	for _, row := range []int{801, 802, 804, 808} { // of which 8, 4, 2 rows or one take whole lines of the cache
		for first := range 8 {
			dst := make([]uint64, rows*row+8)
			move.CopyBox(unsafe.Pointer(&dst[first]), []int64{8 * int64(row), 8}, unsafe.Pointer(&src[0]), []int64{8, 8 * rows},
				[]int64{rows, columns}, 8)
			wrong := 0
			for i, got := range dst {
				r, c := (i-first)/row, (i-first)%row
				want := uint64(0) // of what lies between the rows
				if i >= first && r < rows && c < columns {
					want = uint64(c*rows + r)
				}
				if got != want {
					wrong++
				}
			}
			assert.Zero(t, wrong, "rows of %d, the first at %d", row, first)
		}
	}
}

func BenchmarkTranspose(b *testing.B) {
	for _, shape := range [][2]int64{{2000, 2000}, {500, 2000}, {501, 2000}, {1002, 2000}} {
		b.Run(fmt.Sprint(shape), func(b *testing.B) {
			n, m := shape[0], shape[1]
			src, dst := make([]uint64, n*m), make([]uint64, n*m)
			b.SetBytes(8 * n * m)
			for range b.N {
				move.CopyBox(unsafe.Pointer(&dst[0]), []int64{8 * n, 8}, unsafe.Pointer(&src[0]), []int64{8, 8 * m}, []int64{m, n}, 8)
			}
		})
	}
}
