package progress

import (
	"runtime"
	"sync/atomic"
	"testing"

	"dtl/core/backend"
)

// counting is a library that counts how often it is called.
type counting struct {
	backend.Communicator
	calls atomic.Int64
}

func (c *counting) Advance() error {
	c.calls.Add(1)
	return nil
}

// until waits for what another goroutine does.
func until(yes func() bool) {
	for !yes() {
		runtime.Gosched()
	}
}

func TestThreadIsThereWhileSomethingIsUnderWay(t *testing.T) {
	var on thread
	library := &counting{}
	for range 3 {
		on.begin(library)
		on.begin(library)
		before := library.calls.Load()
		until(func() bool { return library.calls.Load() > before+3 })
		on.open.Add(-2)
		until(func() bool { return !on.alive.Load() })
	}
	before := library.calls.Load()
	on.over.Store(true)
	on.begin(library)
	if on.alive.Load() || library.calls.Load() != before {
		t.Error("a thread began when the process makes no more calls")
	}
}
