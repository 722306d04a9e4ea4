// Package shmem is the OpenSHMEM backend: so far, it knows whether this machine has the library.
package shmem

import (
	"strings"
	"sync"

	"dtl/core/backend"
	"dtl/core/status"
)

func init() { backend.Register(newBackend(systemPaths)) }

// libraries are the names under which implementations install OpenSHMEM: Open MPI's, and that of Sandia and Cray.
var libraries = []string{"liboshmem.so", "libsma.so"}

type shmem struct{ probe func() error }

// newBackend returns a backend that looks for the library once, among the files that candidates returns.
func newBackend(candidates func(names []string) []string) *shmem {
	return &shmem{sync.OnceValue(func() error { return look(candidates(libraries)) })}
}

// Name returns "shmem".
func (s *shmem) Name() string { return "shmem" }

// Probe reports whether an OpenSHMEM library for this machine is installed. It reads the file and does not open
// it as a library: that would bring the MPI under it into the process, which may be another than the one in use.
func (s *shmem) Probe() error { return s.probe() }

// look returns nil if one of the files is an OpenSHMEM library, else what is wrong with each.
func look(paths []string) error {
	if len(paths) == 0 {
		return status.New(status.BackendUnavailable,
			"no OpenSHMEM library is installed: found neither %s", strings.Join(libraries, " nor "))
	}
	var faults []string
	for _, path := range paths {
		err := inspect(path)
		if err == nil {
			return nil
		}
		faults = append(faults, path+": "+err.Error())
	}
	return status.New(status.BackendUnavailable, "no usable OpenSHMEM library: %s", strings.Join(faults, "; "))
}
