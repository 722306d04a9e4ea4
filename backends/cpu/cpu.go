// Package cpu is the backend that every process has: host memory, goroutines, and communicators whose ranks
// are goroutines of this process.
package cpu

import (
	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/status"
)

func init() {
	backend.Register(local{})
	memory.SetPager(&pages)
	memory.SetShare(func() int64 { return share() })
}

// local is the registered backend.
type local struct{}

var (
	_ backend.CommunicatorProvider = local{}
	_ backend.MemoryProvider       = local{}
	_ backend.FileProvider         = local{}
	_ backend.ExecutorProvider     = local{}
)

// The process has one host memory and one pool.
var (
	host = NewHost()
	pool = NewPool()
)

// Name returns backend.Local.
func (local) Name() string { return backend.Local }

// Probe returns nil: a process can always use itself.
func (local) Probe() error { return nil }

// Active returns false: a process alone is not one of several.
func (local) Active() bool { return false }

// World returns a communicator of this process alone, apart from all others.
func (local) World() (backend.ReducingCommunicator, error) { return Group(1)[0], nil }

// Adopt returns an error: communicators of this backend have no native handle.
func (local) Adopt(native uintptr) (backend.ReducingCommunicator, error) {
	return nil, status.New(status.Unsupported, "backend cpu has no native communicators; %#x cannot be one", native)
}

// Memory returns the process's host memory.
func (local) Memory() backend.MemorySpace { return host }

// Executor returns the process's pool.
func (local) Executor() backend.ParallelExecutor { return pool }
