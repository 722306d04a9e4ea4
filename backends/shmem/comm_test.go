package shmem

import (
	"fmt"
	"testing"

	"dtl/core/backend/backendtest"
)

func TestCommunicator(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) { backendtest.Communicator(t, ranks(n)) })
	}
}

func TestMemorySpace(t *testing.T) { backendtest.MemorySpace(t, worlds(1, 64<<20)[0].space) }
