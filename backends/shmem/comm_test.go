package shmem

import (
	"fmt"
	"testing"

	"dtl/core/backend"
	"dtl/core/backend/backendtest"
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
