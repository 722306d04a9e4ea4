package mpi

/*
#include "calls.h"

#cgo noescape dtl_mpi_bcast
#cgo noescape dtl_mpi_gather
#cgo noescape dtl_mpi_scatter
#cgo noescape dtl_mpi_allgather
#cgo noescape dtl_mpi_alltoall
*/
import "C"

import "dtl/core/memory"

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
