// Package local connects the processes that dtl run starts on one machine, by memory that they share. It needs no
// library.
//
// The launcher makes a file in memory without a name, and tells each process where it has the file open (job.go).
// Tasks that Slurm starts without MPI pass it to each other (slurm.go). The processes map it (segment.go), and package
// symmetric makes communicators of it.
package local

import (
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	"dtl/backends/internal/environ"
	"dtl/backends/internal/supervisor"
	"dtl/backends/internal/symmetric"
	"dtl/core/backend"
	"dtl/core/status"
)

func init() { backend.Register(local) }

// local is the one Backend of this package: a process is one rank of one job.
var local = &provider{}

// provider is the backend. Its lock covers joining the job.
type provider struct {
	mu    sync.Mutex
	world *symmetric.World // nil: not joined
	fault error            // why it could not be joined, which does not change

	joined atomic.Bool // this process is one of several
}

var _ backend.CommunicatorProvider = (*provider)(nil)

// Name returns "local".
func (*provider) Name() string { return "local" }

// Probe returns nil: every Linux has memory that processes share.
func (*provider) Probe() error { return nil }

// Active reports whether dtl run, or Slurm's srun --mpi=none, started this process as a rank that this backend connects.
func (*provider) Active() bool { return launched(environ.Get) || stepOf(environ.Get).size > 0 }

// World returns a communicator of all processes of the job, or of this one alone where none was started. Collective.
func (p *provider) World() (backend.ReducingCommunicator, error) {
	w, err := p.join()
	if err != nil {
		return nil, err
	}
	return w.All()
}

// Adopt returns an error: nobody else has communicators of this backend.
func (*provider) Adopt(native uintptr) (backend.ReducingCommunicator, error) {
	return nil, status.New(status.Unsupported, "the backend local has no communicators of others; %#x cannot be one", native)
}

// join maps the job's memory, once, and waits until all processes have.
func (p *provider) join() (*symmetric.World, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.world != nil || p.fault != nil {
		return p.world, p.fault
	}
	j, err := jobOf(environ.Get)
	if err != nil {
		p.fault = err
		return nil, err
	}
	t := stepOf(environ.Get)
	alone := j.alone() && t.size == 0
	var s *segment
	switch {
	case alone:
		s, err = private()
	case t.size > 0:
		s, err = t.join()
	default:
		supervisor.Starting()
		s, err = j.join()
	}
	if err != nil {
		p.fault = err
		return nil, err
	}
	if !alone {
		supervisor.Joined()
		p.joined.Store(true)
	}
	p.world = symmetric.New(s, "nothing") // of which no heap is left
	return p.world, nil
}

// Active reports whether this process was started as a rank that this backend connects.
func Active() bool { return local.Active() }

// Joined reports whether this process is connected with others.
func Joined() bool {
	return local.joined.Load()
}

// Program returns which of the programs of the launcher's command this process runs, from 0, or -1 where it does not say.
func Program() int {
	number, err := strconv.Atoi(environ.Get(programVariable))
	if err != nil || !launched(environ.Get) {
		return -1
	}
	return number
}

// Abort ends this process with an exit code, upon which the launcher ends the others. It returns only where Joined says no:
// false.
func Abort(code int) bool {
	if !Joined() {
		return false
	}
	supervisor.Ended(code)
	say(told)
	os.Exit(code)
	return true
}
