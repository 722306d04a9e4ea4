package cpu

import (
	"fmt"
	"sync"
	"testing"

	"dtl/core/backend"
	"dtl/core/backend/backendtest"
)

// ranks runs a body on the n ranks of a new group.
func ranks(n int) backendtest.Run {
	return func(t *testing.T, body func(t *testing.T, c backend.ReducingCommunicator)) {
		var all sync.WaitGroup
		for _, c := range Group(n) {
			all.Go(func() { body(t, c) })
		}
		all.Wait()
	}
}

func TestCommunicator(t *testing.T) {
	for n := 1; n <= 7; n++ {
		if testing.Short() && n%3 != 1 {
			continue
		}
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) { backendtest.Communicator(t, ranks(n)) })
	}
}

func TestWindow(t *testing.T) {
	for n := 1; n <= 5; n++ {
		if testing.Short() && n%2 == 0 {
			continue
		}
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) { backendtest.Window(t, ranks(n)) })
	}
}
