package move_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"dtl/core/kernel/move"
)

// TestRearrange also has sizes that no word has.
func TestRearrange(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{1, 2, 3, 4, 8, 11, 16, 40} {
		for _, n := range []int{0, 1, 2, 50} {
			t.Run(fmt.Sprintf("%d of %d bytes", n, size), func(t *testing.T) {
				src, dst := make([]byte, (n+1)*size), make([]byte, (n+1)*size)
				for i := range src {
					src[i] = byte(random.Uint32())
				}
				want := make([]byte, len(dst))
				to, from := random.Perm(n), make([]int, n)
				for i := range from {
					from[i] = random.IntN(n) // an element may go to several places
					copy(want[to[i]*size:(to[i]+1)*size], src[from[i]*size:])
				}
				move.Rearrange(unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), to, from, size)
				assert.Equal(t, want, dst)
			})
		}
	}
}

// TestGather also has sizes that no word has, and lists longer than what is read ahead.
func TestGather(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, size := range []int{1, 2, 3, 4, 8, 11, 16, 40} {
		for _, n := range []int{0, 1, 2, 63, 64, 65, 66, 300} {
			src, dst, want := make([]byte, 100*size), make([]byte, (n+1)*size), make([]byte, (n+1)*size)
			for i := range src {
				src[i] = byte(random.Uint32())
			}
			offsets := make([]int64, n)
			for i := range offsets {
				at := max(random.IntN(150)-50, -1)
				offsets[i] = int64(at * size)
				copy(want[i*size:(i+1)*size], src[max(at, 0)*size:])
			}
			move.Gather(unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), offsets, size)
			assert.Equal(t, want, dst, "%d of %d bytes", n, size)
		}
	}
}

// TestByOwner packs elements by owner, and unpacks them.
func TestByOwner(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const n, ranks = 100, 5
	owners, counts := make([]int32, n), [ranks + 1]int{}
	for i := range owners {
		owners[i] = int32(random.IntN(ranks))
		counts[owners[i]+1]++
	}
	for rank := range ranks {
		counts[rank+1] += counts[rank]
	}
	for _, size := range []int{1, 2, 4, 5, 8, 12, 16, 40} {
		src, packed, back := make([]byte, n*size), make([]byte, n*size), make([]byte, n*size)
		for i := range src {
			src[i] = byte(random.Uint32())
		}
		next := append([]int{}, counts[:ranks]...)
		move.PackByOwner(unsafe.Pointer(&packed[0]), unsafe.Pointer(&src[0]), owners, next, size)
		assert.Equal(t, counts[1:], next)
		var want []byte
		for rank := range int32(ranks) {
			for i, owner := range owners {
				if owner == rank {
					want = append(want, src[i*size:(i+1)*size]...)
				}
			}
		}
		assert.Equal(t, want, packed)
		move.UnpackByOwner(unsafe.Pointer(&back[0]), unsafe.Pointer(&packed[0]), owners, append([]int{}, counts[:ranks]...), size)
		assert.Equal(t, src, back)
	}
}
