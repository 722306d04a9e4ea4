// Package mpi connects processes with the MPI library that is installed.
//
// It is built without MPI. When it is first used, it finds a library (search.go), determines which of three ABIs the
// library has, and fills that ABI's table of calls (calls.h, compiled once for each abi_*.h) with its functions.
package mpi

import (
	"cmp"
	"os"
	"slices"
	"sync"

	"dtl/backends/internal/dl"
	"dtl/backends/internal/environ"
	"dtl/backends/internal/supervisor"
	"dtl/core/backend"
	"dtl/core/status"
)

func init() { backend.Register(mpi) }

// mpi is the one Backend of this package: a process has one MPI.
var mpi = &provider{}

var _ backend.CommunicatorProvider = (*provider)(nil)

// provider is the backend. Its lock covers opening, starting and ending MPI, and no communication.
type provider struct {
	mu      sync.Mutex
	dirs    []string
	ready   bool // found and calls hold a library
	found   found
	calls   calls
	guarded *calls // of a library that knows of devices; nil of others, and before it is initialised
}

// Name returns "mpi".
func (*provider) Name() string { return "mpi" }

// Probe opens the library, which it looks for again until there is one, and says what is missing.
func (p *provider) Probe() error {
	_, err := p.open()
	return err
}

// Active reports whether a launcher started this process, or MPI is initialised in it. It opens nothing.
func (p *provider) Active() bool {
	if launcher(environ.Get).Name != "" {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.search()
	return slices.ContainsFunc(s.allPresent(), s.initialized)
}

// World returns a duplicate of MPI_COMM_WORLD. It initialises MPI, with MPI_THREAD_MULTIPLE, unless somebody
// has; what it initialises ends when the process does. The error is status.Communication if the launcher
// started several processes that MPI does not connect. Collective.
func (p *provider) World() (backend.ReducingCommunicator, error) {
	m, err := p.start()
	if err != nil {
		return nil, err
	}
	c, err := world(p.guard(m))
	if err != nil {
		return nil, err
	}
	if isMPICH(m) {
		unname() // no rank duplicates the world before all have started
	}
	if err := p.agree(launcher(environ.Get), c.Size()); err != nil {
		_ = c.Close() // the first error is the one to report
		return nil, err
	}
	return c, nil
}

// Adopt duplicates a communicator of the process's MPI. native is its value as a C int or pointer, which is
// what mpi4py's handle is. Somebody has initialised MPI. Collective over the original.
func (p *provider) Adopt(native uintptr) (backend.ReducingCommunicator, error) {
	m, err := p.open()
	if err != nil {
		return nil, err
	}
	if err := p.alone(); err != nil {
		return nil, err
	}
	if !m.initialized() {
		return nil, status.New(status.InvalidArgument, "a communicator was given, but MPI is not initialised in %s", p.path())
	}
	supervisor.Joined()
	c, err := adopt(p.guard(m), native)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// open finds the library and binds its functions, once.
func (p *provider) open() (calls, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ready {
		return p.calls, nil
	}
	var f found
	err := environ.With(settings(""), func() (err error) {
		f, err = p.search().find()
		return err
	})
	if err != nil {
		return calls{}, err
	}
	m, err := bind(f.abi, f.library)
	if err != nil {
		return calls{}, err
	}
	p.found, p.calls, p.ready = f, m, true
	return m, nil
}

// settings returns the environment variables with which a library of the ABI is opened and started, and UCX, which may come with MPI's plugins.
func settings(abi ABI) []environ.Setting {
	s := []environ.Setting{environ.KeepSignals}
	if onOneMachine(environ.Get) {
		s = append(s, environ.LeaveMemory)
	}
	if abi == OpenMPI {
		// Every window would print a line: that Open MPI could not lower a priority.
		s = append(s, environ.Setting{Name: "OMPI_MCA_opal_common_ucx_verbose", Value: "-1"})
		// Other operators than SUM on integers of 32 and 64 bits in windows would have wrong results over btl/sm.
		s = append(s, environ.Setting{Name: "OMPI_MCA_osc_rdma_acc_use_amo", Value: "false"})
	}
	return s
}

func (p *provider) search() search {
	return search{linker: dl.Linker, getenv: environ.Get, exists: exists, initialized: isInitialized, abiMajor: abiMajor, dirs: p.dirs}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// start opens the library and initialises MPI unless somebody has.
func (p *provider) start() (calls, error) {
	m, err := p.open()
	if err != nil {
		return calls{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.finalized() {
		return calls{}, errFinalized
	}
	if !m.initialized() {
		if err := cmp.Or(p.understood(), p.room()); err != nil {
			return calls{}, err
		}
		supervisor.Starting()
		if err := environ.With(settings(p.found.abi), m.start); err != nil {
			return calls{}, err
		}
	}
	supervisor.Joined()
	return m, nil
}

// alone refuses to guess whose a handle is where another MPI library came into the process later.
func (p *provider) alone() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.search().allPresent() {
		if l.Path() != p.found.library.Path() {
			return status.New(status.BackendUnavailable, "two MPI libraries are in the process, %s and %s; "+
				"import the other package first, or set DTL_MPI_LIB to its library", p.found.library.Path(), l.Path())
		}
	}
	return nil
}
