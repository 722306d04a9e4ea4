package mpi

/*
#include "calls.h"

#cgo noescape dtl_mpi_reduce
#cgo noescape dtl_mpi_allreduce_at
#cgo noescape dtl_mpi_scan
#cgo noescape dtl_mpi_exscan
#cgo noescape dtl_mpi_reduce_scatter
*/
import "C"

import (
	"dtl/core/kernel"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
)

// combined returns what became of a call. MPI only copies where one rank's elements come in, lone.
func (c *Comm) combined(call string, rc C.int, recv memory.Span, op kernel.Op, lone bool) error {
	if rc != 0 || !lone {
		return c.m.failure(call, rc)
	}
	return reduce.Settle(recv, op)
}

// SlowToReduce says so of MPICH.
func (c *Comm) SlowToReduce() bool { return !c.Flat() }

// Reduce combines every rank's send in root's recv.
func (c *Comm) Reduce(send, recv memory.Span, op kernel.Op, root int) error {
	if err := op.Check(send.Type); err != nil {
		return err // the same on every rank
	}
	rc := C.dtl_mpi_reduce(c.m.c, c.handle, send.Addr, recv.Addr, C.int64_t(send.Count), C.int(send.Type), C.int(op),
		C.int(root))
	return c.combined("MPI_Reduce", rc, recv, op, c.size == 1)
}

// Allreduce is Reduce with the result on every rank.
func (c *Comm) Allreduce(send, recv memory.Span, op kernel.Op) error {
	if err := op.Check(send.Type); err != nil {
		return err // the same on every rank
	}
	rc := C.dtl_mpi_allreduce_at(c.m.c, c.handle, C.uintptr_t(uintptr(send.Addr)), C.uintptr_t(uintptr(recv.Addr)),
		C.int64_t(send.Count), C.int(send.Type), C.int(op))
	return c.combined("MPI_Allreduce", rc, recv, op, c.size == 1)
}

// Scan combines the sends of the ranks up to this one.
func (c *Comm) Scan(send, recv memory.Span, op kernel.Op) error {
	if err := op.Check(send.Type); err != nil {
		return err // the same on every rank
	}
	rc := C.dtl_mpi_scan(c.m.c, c.handle, send.Addr, recv.Addr, C.int64_t(send.Count), C.int(send.Type), C.int(op))
	return c.combined("MPI_Scan", rc, recv, op, c.rank == 0)
}

// Exscan combines the sends of the ranks before this one.
func (c *Comm) Exscan(send, recv memory.Span, op kernel.Op) error {
	if err := op.Check(send.Type); err != nil {
		return err // the same on every rank
	}
	rc := C.dtl_mpi_exscan(c.m.c, c.handle, send.Addr, recv.Addr, C.int64_t(send.Count), C.int(send.Type), C.int(op))
	return c.combined("MPI_Exscan", rc, recv, op, c.rank == 1)
}

// ReduceScatter combines the r-th equal part of every rank's send in rank r's recv.
func (c *Comm) ReduceScatter(send, recv memory.Span, op kernel.Op) error {
	if err := op.Check(send.Type); err != nil {
		return err // the same on every rank
	}
	rc := C.dtl_mpi_reduce_scatter(c.m.c, c.handle, send.Addr, recv.Addr, C.int64_t(recv.Count), C.int64_t(c.size),
		C.int(send.Type), C.int(op))
	return c.combined("MPI_Reduce_scatter_block", rc, recv, op, c.size == 1)
}
