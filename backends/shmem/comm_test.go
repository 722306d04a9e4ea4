package shmem

import (
	"fmt"
	"testing"

	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/dtype"
	"dtl/core/memory"
)

func TestCommunicator(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) { backendtest.Communicator(t, ranks(n)) })
	}
}

func TestMemorySpace(t *testing.T) { backendtest.MemorySpace(t, worlds(1, 64<<20)[0].space) }

func TestWindow(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) { backendtest.Window(t, ranks(n)) })
	}
}

func TestWindowInSymmetricMemory(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) { backendtest.WindowIn(t, ranks(n), symmetricSpace) })
	}
}

func symmetricSpace(c backend.ReducingCommunicator) memory.Allocator { return c.(*Comm).world.space }

// TestWhatIsReached: only what lies in the symmetric heap.
func TestWhatIsReached(t *testing.T) {
	c := worlds(1, 1<<20)[0].comm()
	block, err := c.world.space.Allocate(100, 8)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name string
		mem  memory.Span
		want bool
	}{
		{"symmetric", memory.Span{Addr: block.Addr, Count: 100, Type: dtype.Uint8}, true},
		{"the process's own", memory.Of(dtype.Uint8, make([]uint8, 100)), false},
		{"nothing", memory.Span{Type: dtype.Uint8}, false},
	} {
		w, err := c.Expose(row.mem)
		if err != nil || w.(*window).direct(0) != row.want {
			t.Errorf("%s memory: %v, reached %v", row.name, err, !row.want)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	c.world.space.Deallocate(block)
	if current, _ := c.world.space.InUse(); current != 0 {
		t.Errorf("%d bytes left in use", current)
	}
}
