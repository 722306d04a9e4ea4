package mpi

/*
#include "calls.h"

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

// numbers has the number that MPIX_GPU_query_support takes for each backend. Some libraries made of MPICH have no other way to ask.
var numbers = map[string]C.int{"cuda": 0, "hip": 2}

var _ backend.DeviceAware = (*Comm)(nil)

// IsAware returns nil if the library takes addresses of memory of a device.
func (c *Comm) IsAware(device backend.Device) error {
	err := mpi.knows(device.Backend())
	if err == nil {
		by := device.Current()
		C.dtl_mpi_guard_by(C.struct_dtl_mpi_device{number: by.Device, enter: (*[0]byte)(by.Enter), leave: (*[0]byte)(by.Leave)})
	}
	return err
}

// guard has the calls of a library that knows of devices guarded, before there is any communicator.
func (p *provider) guard(m calls) calls {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.guarded == nil && (p.says("cuda") == nil || p.says("hip") == nil) {
		p.guarded = &calls{C.dtl_mpi_guarded(m.c)}
	}
	if p.guarded != nil {
		return *p.guarded
	}
	return m
}

// knows returns nil if the library takes memory of a backend's devices, or says why it does not.
func (p *provider) knows(devices string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.says(devices); err != nil || p.guarded != nil {
		return err
	}
	return status.New(status.Unsupported, "DTL_GPU_AWARE was set when MPI was in use already")
}

// says returns what DTL_GPU_AWARE says, or else the library, which is initialised. The caller holds the lock.
func (p *provider) says(devices string) error {
	switch environ.Get("DTL_GPU_AWARE") {
	case "1":
		return nil
	case "0":
		return status.New(status.Unsupported, "DTL_GPU_AWARE is 0")
	}
	library, version := p.found.library, p.calls.version()
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
