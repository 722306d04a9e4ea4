package mpi

/*
typedef int (*query)(void);
typedef int (*query_of)(int, int *);

static int ask(query f) { return f(); }

// ask_of asks whether devices of a kind are reached.
static int ask_of(query_of f, int kind) {
	int yes = 0;
	return f(kind, &yes) == 0 && yes;
}
*/
import "C"

import (
	"strings"

	"dtl/backends/internal/environ"
	"dtl/core/backend"
	"dtl/core/status"
)

// queries are the functions by which a library says that it reaches memory of devices of a backend: Open MPI's and MPICH's.
var queries = map[string][]string{
	"cuda": {"MPIX_Query_cuda_support"},
	"hip":  {"MPIX_Query_rocm_support", "MPIX_Query_hip_support"},
}

// numbers are those of the backends in MPIX_GPU_query_support, which is all that some libraries made of MPICH have.
var numbers = map[string]C.int{"cuda": 0, "hip": 2}

var _ backend.DeviceReacher = (*Comm)(nil)

// Reaches returns nil if the library takes addresses of memory of a backend's devices: as DTL_GPU_AWARE says, or else the library.
func (c *Comm) Reaches(devices string) error {
	switch environ.Get("DTL_GPU_AWARE") {
	case "1":
		return nil
	case "0":
		return status.New(status.Unsupported, "DTL_GPU_AWARE is 0")
	}
	return mpi.reaches(devices)
}

// reaches asks the library. MPI is initialised.
func (p *provider) reaches(devices string) error {
	p.mu.Lock()
	library, version := p.found.library, p.calls.version()
	p.mu.Unlock()
	if strings.Contains(version, "CRAY") && environ.Get("MPICH_GPU_SUPPORT_ENABLED") != "1" {
		return status.New(status.Unsupported, "MPICH_GPU_SUPPORT_ENABLED is not 1")
	}
	for _, name := range queries[devices] {
		if f, err := library.Symbol(name); err == nil && C.ask(C.query(f)) == 1 {
			return nil
		}
	}
	if f, err := library.Symbol("MPIX_GPU_query_support"); err == nil && C.ask_of(C.query_of(f), numbers[devices]) != 0 {
		return nil
	}
	return status.New(status.Unsupported, "%s in %s says that it does not know of GPUs", firstLine(version), library.Path())
}
