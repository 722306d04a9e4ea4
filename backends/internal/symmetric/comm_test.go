package symmetric

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"dtl/backends/internal/symmetric/transport"
	"dtl/backends/internal/symmetric/window"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

func TestCommunicator(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) { backendtest.Communicator(t, ranks(n)) })
	}
}

// TestFabrics: processes that copy long messages from each other, those that are not let, and those that call a library.
func TestFabrics(t *testing.T) {
	for name, fabric := range map[string]func(single) transport.Fabric{
		"read":    func(s single) transport.Fabric { return reading{s, int64(os.Getpid())} },
		"calls":   func(s single) transport.Fabric { return calling{s} },
		"refused": func(s single) transport.Fabric { return reading{s, nobody} },
	} {
		t.Run(name, func(t *testing.T) {
			backendtest.Communicator(t, ranksOf(func() []*World { return worldsOf(3, 1<<20, fabric) }))
		})
	}
}

func TestMemorySpace(t *testing.T) { backendtest.MemorySpace(t, worlds(1, 64<<20)[0].heap) }

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

func symmetricSpace(c backend.ReducingCommunicator) memory.Allocator { return c.(*Comm).world.heap }

// TestWhatIsReached: only what lies in the symmetric heap.
func TestWhatIsReached(t *testing.T) {
	c := worlds(1, 1<<20)[0].comm()
	block, err := c.world.heap.Allocate(100, 8)
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
		if err != nil || w.(*window.Window).Direct(0) != row.want {
			t.Errorf("%s memory: %v, reached %v", row.name, err, !row.want)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	c.world.heap.Deallocate(block)
	if current, _ := c.world.heap.InUse(); current != 0 {
		t.Errorf("%d bytes left in use", current)
	}
}

// held is a fabric of which another process has all locks: what is free for a compare and swap is taken.
type held struct {
	transport.Fabric
	free  atomic.Bool
	found chan struct{}
}

func (f *held) CompareSwap(there, at int, cond, value uint64) uint64 {
	if f.free.Load() {
		return f.Fabric.CompareSwap(there, at, cond, value)
	}
	select {
	case f.found <- struct{}{}:
	default:
	}
	return cond + 1
}

// TestLockOfAStoppedProcess: who waits for it holds up no other call of its process.
func TestLockOfAStoppedProcess(t *testing.T) {
	w := worlds(1, 1<<20)[0]
	fabric := &held{Fabric: w.engine.Fabric, found: make(chan struct{})}
	w.engine.Fabric = fabric
	c := w.comm()
	block, err := w.heap.Allocate(16, 16)
	if err != nil {
		t.Fatal(err)
	}
	part := memory.Span{Addr: block.Addr, Count: 1, Type: dtype.Complex128}
	win, err := c.Expose(part)
	if err != nil {
		t.Fatal(err)
	}
	added := make(chan error)
	go func() { added <- win.Accumulate(memory.Of(dtype.Complex128, []complex128{2i}), 0, 0, kernel.Sum) }()
	<-fabric.found
	one := memory.Of(dtype.Int64, make([]int64, 1))
	for range 2 { // of which the second waits for who waits for the lock
		sent := c.group.Send(transport.Messages, one, 0, 7, begin)
		if _, _, err := c.RecvFor(one, 0, 7, time.Minute); err != nil {
			t.Error(err)
		}
		if _, err := sent.Wait(); err != nil {
			t.Error(err)
		}
		<-fabric.found
	}
	fabric.free.Store(true)
	if err := <-added; err != nil || memory.As[complex128](part)[0] != 2i {
		t.Errorf("%v, %v", memory.As[complex128](part)[0], err)
	}
	if err := win.Close(); err != nil {
		t.Error(err)
	}
}

// TestEnd: no call of the library comes after its end, and none returns.
func TestEnd(t *testing.T) {
	w := worlds(1, 1<<20)[0]
	c := w.comm()
	r := c.group.Receive(transport.Messages, memory.Span{}, 0, 7, begin)
	w.engine.End()
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		_, _, _ = r.Test()
	}()
	select {
	case <-returned:
		t.Error("a call has returned")
	case <-time.After(20 * time.Millisecond):
	}
	if err := c.Close(); err != nil { // which makes none
		t.Error(err)
	}
}
