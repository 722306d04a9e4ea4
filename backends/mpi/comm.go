package mpi

/*
#include <stdlib.h>
#include "calls.h"

#cgo noescape dtl_mpi_describe
#cgo noescape dtl_mpi_split
#cgo noescape dtl_mpi_split_by_node
*/
import "C"

import (
	"sync/atomic"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/status"
)

// Comm is a communicator of MPI that this library made, so it frees it.
type Comm struct {
	m        calls
	handle   C.uint64_t
	rank     int
	size     int
	tagBound int
	traffic  *C.struct_dtl_mpi_traffic // is freed with the communicator
	draining draining
	probes   *probes // nil: MPI completes receives from any source
	freed    atomic.Bool
}

var (
	_ backend.ReducingCommunicator = (*Comm)(nil)
	_ backend.NativeCommunicator   = (*Comm)(nil)
	_ backend.ThreadLimited        = (*Comm)(nil)
	_ backend.Advancer             = (*Comm)(nil)
)

// own makes a Comm of a native communicator that this library made.
func own(m calls, handle C.uint64_t) (*Comm, error) {
	var rank, size C.int
	var tags C.int64_t
	if rc := C.dtl_mpi_describe(m.c, handle, &rank, &size, &tags); rc != 0 {
		return nil, m.failure("MPI_Comm_rank", rc)
	}
	traffic := (*C.struct_dtl_mpi_traffic)(C.calloc(1, C.sizeof_struct_dtl_mpi_traffic))
	traffic.comm = handle
	return &Comm{m: m, handle: handle, rank: int(rank), size: int(size), tagBound: int(tags), traffic: traffic}, nil
}

// world returns a duplicate of MPI_COMM_WORLD.
func world(m calls) (*Comm, error) {
	var handle C.uint64_t
	if rc := C.dtl_mpi_world(m.c, &handle); rc != 0 {
		return nil, m.failure("MPI_COMM_WORLD", rc)
	}
	return probing(duplicate(m, handle))
}

// adopt returns a duplicate of somebody else's communicator.
func adopt(m calls, native uintptr) (*Comm, error) {
	var handle C.uint64_t
	var null, inter C.int
	if rc := C.dtl_mpi_foreign(m.c, C.uintptr_t(native), &handle, &null, &inter); rc != 0 {
		return nil, m.failure("MPI_Comm_test_inter", rc)
	}
	if null != 0 {
		return nil, status.New(status.InvalidArgument, "the communicator is MPI_COMM_NULL")
	}
	if inter != 0 {
		return nil, status.New(status.InvalidArgument, "the communicator connects two groups; one of a single group is needed")
	}
	return probing(duplicate(m, handle))
}

func duplicate(m calls, handle C.uint64_t) (*Comm, error) {
	var to C.uint64_t
	if rc := C.dtl_mpi_dup(m.c, handle, &to); rc != 0 {
		return nil, m.failure("MPI_Comm_dup", rc)
	}
	return own(m, to)
}

// Rank returns the caller's rank.
func (c *Comm) Rank() int { return c.rank }

// Size returns the number of ranks.
func (c *Comm) Size() int { return c.size }

// TagBound is one more than the largest tag, MPI_TAG_UB.
func (c *Comm) TagBound() int { return c.tagBound }

// Dup returns a communicator of the same ranks whose traffic never meets this one's. Collective.
func (c *Comm) Dup() (backend.ReducingCommunicator, error) {
	d, err := duplicate(c.m, c.handle)
	if err != nil {
		return nil, err
	}
	if c.probes != nil {
		d.probes = &probes{}
	}
	return d, nil
}

// Export returns the handle of a duplicate as the library's own headers have it, a C int or pointer. It is the caller's to
// free. Collective.
func (c *Comm) Export() (uintptr, error) {
	if err := mpi.alone(); err != nil {
		return 0, err
	}
	var to C.uint64_t
	rc := C.dtl_mpi_dup(c.m.c, c.handle, &to)
	return uintptr(to), c.m.failure("MPI_Comm_dup", rc)
}

// Split returns a communicator of the ranks that gave the same color, ordered by key and then by rank; nil
// for a negative color. Collective.
func (c *Comm) Split(color, key int) (backend.ReducingCommunicator, error) {
	var to C.uint64_t
	var null C.int
	if rc := C.dtl_mpi_split(c.m.c, c.handle, C.int(color), C.int(key), &to, &null); rc != 0 {
		return nil, c.m.failure("MPI_Comm_split", rc)
	}
	if null != 0 {
		return nil, nil
	}
	part, err := own(c.m, to)
	if err == nil && c.probes != nil {
		part, err = probing(part, nil)
	}
	if err != nil {
		return nil, err
	}
	return part, nil
}

// SplitByNode returns a communicator of the ranks that share memory with this one, in their order. Collective.
func (c *Comm) SplitByNode() (backend.ReducingCommunicator, error) {
	var to C.uint64_t
	if rc := C.dtl_mpi_split_by_node(c.m.c, c.handle, &to); rc != 0 {
		return nil, c.m.failure("MPI_Comm_split_type", rc)
	}
	return owned(c.m, to)
}

// owned is own with an interface that is nil when there is an error.
func owned(m calls, handle C.uint64_t) (backend.ReducingCommunicator, error) {
	c, err := own(m, handle)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Close frees the communicator; after MPI_Finalize there is nothing to free. A second Close does nothing.
// Collective.
func (c *Comm) Close() error {
	if c.freed.Swap(true) {
		return nil
	}
	C.free(unsafe.Pointer(c.traffic))
	if c.m.finalized() {
		return nil
	}
	return c.m.failure("MPI_Comm_free", C.dtl_mpi_free(c.m.c, c.handle))
}
