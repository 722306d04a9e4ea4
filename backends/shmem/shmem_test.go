package shmem

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"dtl/core/backend"
	"dtl/core/status"
)

func TestProbeLooksOnce(t *testing.T) {
	var looks atomic.Int64
	b := newBackend(func([]string) []string { looks.Add(1); return nil })
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { _ = b.Probe() })
	}
	all.Wait()
	if looks.Load() != 1 {
		t.Errorf("looked %d times, want once", looks.Load())
	}
}

func TestRegistered(t *testing.T) {
	if err := backend.Probe("shmem"); err != nil && !errors.Is(err, status.BackendUnavailable) {
		t.Errorf("got %v, want nil or status.BackendUnavailable", err)
	}
	b, err := backend.Lookup("shmem")
	if err != nil || b.Name() != "shmem" {
		t.Errorf("Lookup: %v, %v", b, err)
	}
}
