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

// TestLargeMoves moves more than the caches hold, to and from where no line of a cache begins, also onto a part of itself.
func TestLargeMoves(t *testing.T) {
	const n, all = 12<<20 + 777, 26 << 20
	source, got, want := make([]byte, all), make([]byte, all), make([]byte, all)
	for i := range source {
		source[i] = byte(i * i >> 5)
	}
	for _, ends := range [][2]int{{0, 13 << 20}, {13<<20 + 3, 5}, {1, 70}, {4096, 0}, {300, 0}} {
		copy(got, source)
		copy(want, source)
		from, to := ends[0], ends[1]
		memory.Move(unsafe.Pointer(&got[to]), unsafe.Pointer(&got[from]), n)
		copy(want[to:to+n], want[from:from+n])
		if !bytes.Equal(got, want) {
			t.Errorf("%d bytes from %d to %d differ", n, from, to)
		}
	}
}
