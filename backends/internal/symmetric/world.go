package symmetric

import (
	"unsafe"

	"dtl/backends/internal/symmetric/heap"
	"dtl/backends/internal/symmetric/transport"
	"dtl/backends/internal/symmetric/window"
	"dtl/core/backend"
)

// World is what a process has that is connected with others.
type World struct {
	engine *transport.Engine
	active *window.Active
	heap   *heap.Space
	// nextComm is the least number of a communicator that is free here. The engine guards it.
	nextComm uint32
}

// New divides symmetric memory: rings, whose size is the same in all processes, and a heap. hint is named where the heap is
// full.
func New(f transport.Fabric, hint string) *World {
	e := transport.NewEngine(f)
	start, size := f.Memory()
	rings := e.Rings().Bytes()
	return &World{
		engine: e, active: window.NewActive(e), nextComm: 1,
		heap: heap.New(unsafe.Add(start, rings), size-rings, rings, hint),
	}
}

// Clear empties this process's rings; nobody sends before all processes have.
func (w *World) Clear() { w.engine.Clear() }

// End returns when no call of the fabric is under way, and none will be, or after a second. It takes no other lock.
func (w *World) End() { w.engine.End() }

// Heap returns this process's part of the memory beside the rings.
func (w *World) Heap() backend.MemorySpace { return w.heap }

// All returns a communicator of all processes. Collective.
func (w *World) All() (backend.ReducingCommunicator, error) { return w.comm().Dup() }

// comm returns the communicator of all processes from which those are made that have a number of their own.
func (w *World) comm() *Comm {
	all := make([]int, w.engine.Processes())
	for i := range all {
		all[i] = i
	}
	return newComm(w, all, 0)
}
