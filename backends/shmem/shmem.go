// Package shmem connects processes with the OpenSHMEM library that is installed, if a program asks for it.
//
// It is built without OpenSHMEM. The library is opened when the first communicator is made. Only its symmetric memory
// is used (transport.Fabric): puts, gets and atomic operations. Messages (transport), windows (window), communicators
// (split.go) and collectives (collective.go) are made of these.
package shmem

import (
	"sync"

	"dtl/backends/internal/supervisor"
	"dtl/backends/internal/symmetric"
	"dtl/backends/internal/symmetric/heap"
	"dtl/backends/internal/symmetric/transport"
	"dtl/backends/shmem/library"
	"dtl/core/backend"
	"dtl/core/status"
)

func init() { backend.Register(shmem) }

// shmem is the one Backend of this package: a process has one OpenSHMEM.
var shmem = newBackend(library.SystemPaths)

// provider is the backend. Its lock covers opening, starting and ending the library.
type provider struct {
	find func() (path string, err error)

	mu    sync.Mutex
	world *symmetric.World // nil: not started
	fault error            // that came after the library was started: it cannot be started again
	ended bool
}

var (
	_ backend.CommunicatorProvider = (*provider)(nil)
	_ backend.MemoryProvider       = (*provider)(nil)
)

// newBackend returns a backend that looks for the library once, among the files that candidates returns.
func newBackend(candidates func(names []string) []string) *provider {
	return &provider{find: sync.OnceValues(func() (string, error) { return library.Find(candidates) })}
}

// Name returns "shmem".
func (p *provider) Name() string { return "shmem" }

// Probe reports whether an OpenSHMEM library for this machine is installed. It reads the file and does not open
// it as a library: that would bring the MPI under it into the process, which may be another than the one in use.
func (p *provider) Probe() error {
	_, err := p.find()
	return err
}

// Active returns false: the launchers of OpenSHMEM programs are those of MPI programs, and say the same in the
// environment. So a program asks for this backend by its name.
func (p *provider) Active() bool { return false }

// World returns a communicator of all processes that were started together. It starts the library unless this process
// has; that ends with the process. Collective.
func (p *provider) World() (backend.ReducingCommunicator, error) {
	w, err := p.start()
	if err != nil {
		return nil, err
	}
	return w.All()
}

// Adopt returns an error: OpenSHMEM has no communicators.
func (p *provider) Adopt(native uintptr) (backend.ReducingCommunicator, error) {
	return nil, status.New(status.Unsupported, "OpenSHMEM has no communicators; %#x cannot be one", native)
}

// Memory returns this process's part of the symmetric heap, of which there is nothing before the first World.
func (p *provider) Memory() backend.MemorySpace {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.world == nil {
		return unopened
	}
	return p.world.Heap()
}

// unopened is the space of a process without symmetric memory.
var unopened = heap.New(nil, 0, 0, library.SizeVariable)

// start opens the library and initialises it, once.
func (p *provider) start() (*symmetric.World, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return nil, status.New(status.Communication, "OpenSHMEM has been finalised in this process, and cannot be started again")
	}
	if p.world != nil || p.fault != nil {
		return p.world, p.fault
	}
	path, err := p.find()
	if err != nil {
		return nil, err
	}
	size, err := library.Open(path)
	if err != nil {
		return nil, err
	}
	l, err := library.Start(size)
	if err == nil && size <= transport.Layout(l.Processes()).Bytes() {
		err = status.New(status.OutOfMemory, "%s has no room for the mailboxes of %d processes, %d bytes",
			library.SizeVariable, l.Processes(), transport.Layout(l.Processes()).Bytes())
	}
	if err != nil {
		p.fault = err
		return nil, err
	}
	p.world = symmetric.New(l, library.SizeVariable)
	library.OnEnding(p.world.End)
	p.world.Clear()
	l.Meet()
	return p.world, nil
}

// Finalize ends OpenSHMEM now if it was started, and reports whether it was. Programs that end through C's exit need
// not call it: what is still open then ends with shmem_finalize after exit status 0, and with shmem_global_exit after any
// other where there is more than one process. A Go program's os.Exit is not one. Collective.
func Finalize() bool {
	shmem.mu.Lock()
	defer shmem.mu.Unlock()
	if shmem.world == nil || shmem.ended {
		return false
	}
	shmem.ended = true
	library.Stop()
	supervisor.Ended(0)
	return true
}

// Abort ends every process of the job with the given exit status. It returns only if OpenSHMEM is not started: false.
func Abort(code int) bool {
	shmem.mu.Lock()
	started := shmem.world != nil && !shmem.ended
	shmem.mu.Unlock()
	if started {
		supervisor.Ended(code)
		library.Abort(code)
	}
	return started
}
