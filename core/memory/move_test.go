package memory_test

import (
	"bytes"
	"testing"
	"unsafe"

	"dtl/core/memory"
)

// TestMoveOverlaps moves by distances around the pieces, forwards and backwards, as copy does.
func TestMoveOverlaps(t *testing.T) {
	const size = 200_000
	for _, n := range []int{0, 1, 1984, 65_535, 65_536, 150_000} {
		for _, by := range []int{-40_000, -1984, -1, 0, 1, 1983, 40_000} {
			got, want := make([]byte, size), make([]byte, size)
			for i := range got {
				got[i] = byte(i * i >> 3)
				want[i] = got[i]
			}
			from := 45_000
			to := from + by
			if to+n > size || from+n > size {
				continue
			}
			memory.Move(unsafe.Pointer(&got[to]), unsafe.Pointer(&got[from]), n)
			copy(want[to:to+n], want[from:from+n])
			if !bytes.Equal(got, want) {
				t.Errorf("%d bytes by %d differ", n, by)
			}
		}
	}
}
