package mpi

/*
#include "calls.h"

#cgo noescape dtl_mpi_bcast
#cgo noescape dtl_mpi_gather
#cgo noescape dtl_mpi_scatter
#cgo noescape dtl_mpi_allgather
#cgo noescape dtl_mpi_alltoall
#cgo noescape dtl_mpi_exchange
*/
import "C"

import "dtl/core/memory"

// Flat says so of Open MPI. MPICH's collectives take no longer than two of its own.
func (c *Comm) Flat() bool { return c.m.c == &C.dtl_mpi_openmpi }

// Barrier returns when every rank has called it.
func (c *Comm) Barrier() error { return c.m.failure("MPI_Barrier", C.dtl_mpi_barrier(c.m.c, c.handle)) }

// Broadcast copies root's buf to every other rank's.
func (c *Comm) Broadcast(buf memory.Span, root int) error {
	rc := C.dtl_mpi_bcast(c.m.c, c.handle, buf.Addr, C.int64_t(buf.Count), C.int(buf.Type), C.int(root))
	return c.m.failure("MPI_Bcast", rc)
}

// Gather concatenates every rank's send, in rank order, in root's recv.
func (c *Comm) Gather(send, recv memory.Span, root int) error {
	rc := C.dtl_mpi_gather(c.m.c, c.handle, send.Addr, recv.Addr, C.int64_t(send.Count), C.int64_t(c.size),
		C.int(send.Type), C.int(root))
	return c.m.failure("MPI_Gather", rc)
}

// Scatter gives rank r the r-th equal part of root's send.
func (c *Comm) Scatter(send, recv memory.Span, root int) error {
	rc := C.dtl_mpi_scatter(c.m.c, c.handle, send.Addr, recv.Addr, C.int64_t(recv.Count), C.int64_t(c.size),
		C.int(recv.Type), C.int(root))
	return c.m.failure("MPI_Scatter", rc)
}

// Allgather is Gather with the result on every rank.
func (c *Comm) Allgather(send, recv memory.Span) error {
	rc := C.dtl_mpi_allgather(c.m.c, c.handle, send.Addr, recv.Addr, C.int64_t(send.Count), C.int64_t(c.size),
		C.int(send.Type))
	return c.m.failure("MPI_Allgather", rc)
}

// Alltoall sends the r-th equal part of send to rank r, and concatenates what arrives in rank order.
func (c *Comm) Alltoall(send, recv memory.Span) error {
	rc := C.dtl_mpi_alltoall(c.m.c, c.handle, send.Addr, recv.Addr, C.int64_t(send.Count/c.size), C.int64_t(c.size),
		C.int(send.Type))
	return c.m.failure("MPI_Alltoall", rc)
}

// Exchange sends send[r] to each rank r and fills recv[r] with what r sends here, in messages with the given tag.
func (c *Comm) Exchange(send, recv []memory.Span, tag int) error {
	var few [16]C.struct_dtl_part
	parts := few[:]
	if 2*c.size > len(few) {
		parts = make([]C.struct_dtl_part, 2*c.size)
	}
	for rank := range c.size {
		parts[rank] = part(send[rank])
		parts[c.size+rank] = part(recv[rank])
	}
	rc := C.dtl_mpi_exchange(c.m.c, c.handle, &parts[0], &parts[c.size], C.int(c.rank), C.int(c.size), C.int(tag))
	return c.m.failure("exchange of parts", rc)
}

func part(s memory.Span) C.struct_dtl_part {
	return C.struct_dtl_part{addr: C.uintptr_t(uintptr(s.Addr)), bytes: C.int64_t(s.Bytes())}
}
