// Package shmem connects processes with whatever OpenSHMEM library is there, where a program asks for it.
//
// No OpenSHMEM is needed to build it. The library is opened when the first communicator is made. Of the library it
// uses symmetric memory (fabric.go): puts, gets and atomic operations. Messages (link.go), communicators (split.go) and
// collectives (collective.go) are made of those.
package shmem

import (
	"strconv"
	"strings"
	"sync"

	"dtl/backends/internal/dl"
	"dtl/backends/internal/environ"
	"dtl/backends/internal/supervisor"
	"dtl/core/backend"
	"dtl/core/status"
)

func init() { backend.Register(shmem) }

// shmem is the one Backend of this package: a process has one OpenSHMEM.
var shmem = newBackend(systemPaths)

// libraries are the names under which implementations install OpenSHMEM: Open MPI's, and that of Sandia and Cray.
var libraries = []string{openMPI, "libsma.so"}

const openMPI = "liboshmem.so"

// provider is the backend. Its lock covers opening, starting and ending the library.
type provider struct {
	find func() (path string, err error)

	mu    sync.Mutex
	world *world // nil: not started
	fault error  // that came after the library was started: it cannot be started again
	ended bool
}

var (
	_ backend.CommunicatorProvider = (*provider)(nil)
	_ backend.MemoryProvider       = (*provider)(nil)
)

// newBackend returns a backend that looks for the library once, among the files that candidates returns.
func newBackend(candidates func(names []string) []string) *provider {
	return &provider{find: sync.OnceValues(func() (string, error) { return look(candidates(libraries)) })}
}

// Name returns "shmem".
func (p *provider) Name() string { return "shmem" }

// Probe reports whether an OpenSHMEM library for this machine is installed. It reads the file and does not open
// it as a library: that would bring the MPI under it into the process, which may be another than the one in use.
func (p *provider) Probe() error {
	_, err := p.find()
	return err
}

// look returns the first of the files that is an OpenSHMEM library, or what is wrong with each.
func look(paths []string) (string, error) {
	if len(paths) == 0 {
		return "", status.New(status.BackendUnavailable,
			"no OpenSHMEM library is installed: found neither %s", strings.Join(libraries, " nor "))
	}
	var faults []string
	for _, path := range paths {
		err := inspect(path)
		if err == nil {
			return path, nil
		}
		faults = append(faults, path+": "+err.Error())
	}
	return "", status.New(status.BackendUnavailable, "no usable OpenSHMEM library: %s", strings.Join(faults, "; "))
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
	return w.comm().Dup()
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
	return p.world.space
}

// unopened is the space of a process without symmetric memory.
var unopened = newSpace(nil, 0, 0)

// start opens the library and initialises it, once.
func (p *provider) start() (*world, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return nil, status.New(status.Communication, "OpenSHMEM has been finalised in this process, and cannot be started again")
	}
	if p.world != nil || p.fault != nil {
		return p.world, p.fault
	}
	var size int
	if err := environ.With(settings, func() (err error) {
		size, err = p.open()
		return err
	}); err != nil {
		return nil, err
	}
	l, err := initialise(size)
	if err == nil {
		err = agree(l.processes())
	}
	if least := layout(launched(environ.Get)).bytes(); err == nil && size <= least {
		err = status.New(status.OutOfMemory, "%s has no room for the mailboxes of %d processes, %d bytes",
			sizeVariable, l.processes(), least)
	}
	if err != nil {
		p.fault = err
		return nil, err
	}
	p.world = newWorld(l)
	live.Store(p.world)
	p.world.prepare()
	l.meet()
	return p.world, nil
}

// initialise starts the library that is open. Collective.
func initialise(size int) (l *symmetric, err error) {
	supervisor.Starting()
	err = environ.With(settings, func() (err error) {
		l, err = start(size)
		return err
	})
	if err == nil {
		supervisor.Joined()
	}
	return l, err
}

// open opens the library, and returns how much symmetric memory it will have for this one. Its errors come in time:
// what fails from then on, fails in the library, which ends the process.
func (p *provider) open() (size int, err error) {
	path, err := p.find()
	if err != nil {
		return 0, err
	}
	if launched(environ.Get) == 0 {
		return 0, status.New(status.BackendUnavailable, "no launcher started this process; start it with oshrun")
	}
	size, err = arena(environ.Get)
	if err != nil {
		return 0, err
	}
	if strings.Contains(path, openMPI) && !programEnds() {
		return 0, status.New(status.BackendUnavailable, "the program does not export _end, and Open MPI's OpenSHMEM would take "+
			"libraries' data for the program's; link it with -rdynamic")
	}
	library, err := dl.OpenGlobal(path)
	if err != nil {
		return 0, err
	}
	return size, bind(library)
}

// settings are those that a library is opened and started with.
var settings = []environ.Setting{
	environ.KeepSignals,
	{Name: "OMPI_MCA_btl", Value: "^openib"}, // with which Open MPI's shmem_finalize crashes
	{Name: sizeVariable, Value: strconv.Itoa(usual)},
}

// agree refuses to work where the launcher started other processes than the library connects.
func agree(processes int) error {
	if n := launched(environ.Get); n != processes {
		return status.New(status.Communication, "the launcher started %d processes, but OpenSHMEM connects %d; "+
			"the launcher has to be that of the library", n, processes)
	}
	return nil
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
	stop()
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
		abort(code)
	}
	return started
}
