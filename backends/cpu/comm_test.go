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
	for _, n := range backendtest.Sizes(t, 7) {
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) { backendtest.Communicator(t, ranks(n)) })
	}
}

func TestWindow(t *testing.T) {
	for _, n := range backendtest.Sizes(t, 5) {
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) { backendtest.Window(t, ranks(n)) })
	}
}
