package mpi

import (
	"slices"

	"dtl/backends/internal/supervisor"
)

// Description says which MPI library is used, or would be.
type Description struct {
	Path        string
	ABI         ABI
	Version     string // the first line of the library's own description
	Source      string // why this one
	ThreadLevel int    // as ThreadLevel gives it
}

// Describe opens the library and says which it is. It does not initialise MPI. The error is
// status.BackendUnavailable and says what is missing.
func Describe() (Description, error) {
	m, err := mpi.open()
	if err != nil {
		return Description{}, err
	}
	return Description{
		Path:        mpi.path(),
		ABI:         mpi.found.abi,
		Version:     firstLine(m.version()),
		Source:      mpi.found.source,
		ThreadLevel: ThreadLevel(),
	}, nil
}

// SearchIn has dir searched for an MPI library before the default search path. It has no effect once a
// library is open.
func SearchIn(dir string) {
	mpi.mu.Lock()
	defer mpi.mu.Unlock()
	if !slices.Contains(mpi.dirs, dir) {
		mpi.dirs = append(mpi.dirs, dir)
	}
}

// Active reports whether a launcher started this process, or MPI is initialised in it. It opens nothing.
func Active() bool { return mpi.Active() }

// opened returns the calls of the library, and whether one is open.
func opened() (calls, bool) {
	mpi.mu.Lock()
	defer mpi.mu.Unlock()
	return mpi.calls, mpi.ready
}

// Initialized reports whether MPI is initialised, by whomever, and not finalised, in the library that is
// open. It opens nothing.
func Initialized() bool {
	m, ok := opened()
	return ok && m.initialized() && !m.finalized()
}

// ThreadLevel returns the thread level that MPI gave: 0 single, 1 funneled, 2 serialized, 3 multiple; -1
// while MPI is not initialised.
func ThreadLevel() int {
	m, ok := opened()
	if !ok || !m.initialized() || m.finalized() {
		return -1
	}
	level, err := m.threadLevel()
	if err != nil {
		return -1
	}
	return level
}

// Program returns which of the programs of the launcher's command this process runs, from 0: MPI_APPNUM. It is -1 while
// MPI is not initialised, and where the library does not know.
func Program() int {
	m, ok := opened()
	if !ok || !m.initialized() || m.finalized() {
		return -1
	}
	number, err := m.program()
	if err != nil {
		return -1
	}
	return number
}

// Abort ends every process of the job with the given exit status. It returns only if MPI is not initialised
// in the library that is open, false, or could not abort.
func Abort(code int) (bool, error) {
	if !Initialized() {
		return false, nil
	}
	m, _ := opened()
	supervisor.Ended(code)
	return true, m.abort(code)
}

// Finalize ends MPI now if this package initialised it, and reports whether it did. Programs that end
// through C's exit need not call it: what is still open then ends with MPI_Finalize after exit status 0, and with
// MPI_Abort after any other where there is more than one rank. A Go program's os.Exit is not one. Collective.
func Finalize() (bool, error) {
	m, ok := opened()
	if !ok {
		return false, nil
	}
	mpi.mu.Lock()
	defer mpi.mu.Unlock()
	ours, err := m.stop()
	if ours && err == nil {
		supervisor.Ended(0)
	}
	return ours, err
}
