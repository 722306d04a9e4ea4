package cpu

import (
	"errors"
	"testing"

	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/status"
)

func TestRegistered(t *testing.T) {
	p, err := backend.As[backend.CommunicatorProvider](backend.Local)
	if err != nil || p.Active() {
		t.Fatalf("active or not usable: %v", err)
	}
	c, err := p.World()
	if err != nil || c.Rank() != 0 || c.Size() != 1 {
		t.Errorf("world: %v, %v", c, err)
	}
	if _, err := p.Adopt(0x7f00); !errors.Is(err, status.Unsupported) {
		t.Errorf("adopt: %v, want unsupported", err)
	}
	m, err := backend.As[backend.MemoryProvider](backend.Local)
	if err != nil || m.Memory().Name() != "host" {
		t.Errorf("memory: %v", err)
	}
	e, err := backend.As[backend.ExecutorProvider](backend.Local)
	if err != nil || e.Executor().MaxParallelism() < 1 {
		t.Errorf("executor: %v", err)
	}
}

func TestPool(t *testing.T) {
	p := NewPool()
	backendtest.Executor(t, p)
	if len(p.free) != cap(p.free) {
		t.Errorf("%d of %d threads are free after all loops", len(p.free), cap(p.free))
	}
}
