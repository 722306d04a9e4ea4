package heap

import (
	"errors"
	"testing"
	"unsafe"

	"dtl/core/memory"
	"dtl/core/status"
)

// TestAllComesBackInOnePiece gives blocks back in an order that leaves holes first, and then takes everything.
func TestAllComesBackInOnePiece(t *testing.T) {
	const size = 1 << 16
	words := make([]uint64, size/8+8)
	start := unsafe.Pointer(unsafe.SliceData(words))
	start = unsafe.Add(start, int(-uintptr(start)&(line-1)))
	s := New(start, size, 4096, "SIZE")
	var blocks []memory.Block
	for {
		b, err := s.Allocate(1000, 8)
		if err != nil {
			if !errors.Is(err, status.OutOfMemory) {
				t.Fatal(err)
			}
			break
		}
		blocks = append(blocks, b)
	}
	if n := size / 1024; len(blocks) != n || s.AvailableMemory() != 0 {
		t.Errorf("%d blocks, %d bytes left; want %d and none", len(blocks), s.AvailableMemory(), n)
	}
	for odd := range 2 {
		for i := odd; i < len(blocks); i += 2 {
			s.Deallocate(blocks[i])
		}
	}
	whole, err := s.Allocate(size, line)
	if err != nil {
		t.Fatal(err)
	}
	if at, inside := s.Place(whole.Addr, size); at != 4096 || !inside {
		t.Errorf("all of the heap is at %d, inside: %v", at, inside)
	}
	if _, inside := s.Place(whole.Addr, size+1); inside {
		t.Error("more than the heap lies inside it")
	}
	s.Deallocate(whole)
	if current, peak := s.InUse(); current != 0 || peak != size {
		t.Errorf("%d bytes in use, %d at most; want 0 and %d", current, peak, size)
	}
}
