package shmem

import (
	"unsafe"

	"dtl/backends/shmem/heap"
	"dtl/backends/shmem/library"
	"dtl/backends/shmem/transport"
	"dtl/backends/shmem/window"
)

// world is what a process has that is connected with others.
type world struct {
	engine *transport.Engine
	active *window.Active
	heap   *heap.Space
	// nextComm is the least number of a communicator that is free here. The engine guards it.
	nextComm uint32
}

// newWorld divides symmetric memory: rings, whose size is the same in all processes, and a heap.
func newWorld(f transport.Fabric) *world {
	e := transport.NewEngine(f)
	start, size := f.Memory()
	rings := e.Rings().Bytes()
	return &world{
		engine: e, active: window.NewActive(e), nextComm: 1,
		heap: heap.New(unsafe.Add(start, rings), size-rings, rings, library.SizeVariable),
	}
}

// comm returns the communicator of all processes.
func (w *world) comm() *Comm {
	all := make([]int, w.engine.Processes())
	for i := range all {
		all[i] = i
	}
	return newComm(w, all, 0)
}
