package cpu

import (
	"errors"
	"testing"

	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/dtype"
	"dtl/core/memory"
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
		t.Errorf("%d of %d goroutines may be started after all loops", len(p.free), cap(p.free))
	}
}

func TestTransfer(t *testing.T) {
	a, b := []int64{1, 2, 3}, make([]int64, 3)
	if err := (Transfer{}).Copy(memory.Of(dtype.Int64, b), memory.Of(dtype.Int64, a)); err != nil || b[2] != 3 {
		t.Errorf("%v: %v", b, err)
	}
	err := Transfer{}.Copy(memory.Of(dtype.Int64, b[:2]), memory.Of(dtype.Int64, a))
	if !errors.Is(err, status.InvalidArgument) {
		t.Errorf("%v, want invalid argument", err)
	}
}
