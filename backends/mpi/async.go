package mpi

/*
#include "calls.h"

#cgo noescape dtl_mpi_ibcast
#cgo noescape dtl_mpi_igather
#cgo noescape dtl_mpi_iallgather
#cgo noescape dtl_mpi_iallreduce
*/
import "C"

import (
	"errors"
	"time"

	"dtl/core/backend"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

var _ backend.AsyncCommunicator = (*Comm)(nil)

// started makes a request of what a call left.
func (c *Comm) started(call string, native C.uint64_t, rc C.int) (backend.Request, error) {
	if rc != 0 {
		return nil, c.m.failure(call, rc)
	}
	return &request{m: c.m, call: call, native: native}, nil
}

// Ibarrier starts a barrier.
func (c *Comm) Ibarrier() (backend.Request, error) {
	var native C.uint64_t
	rc := C.dtl_mpi_ibarrier(c.m.c, c.handle, &native)
	return c.started("MPI_Ibarrier", native, rc)
}

// Ibroadcast starts a broadcast.
func (c *Comm) Ibroadcast(buf memory.Span, root int) (backend.Request, error) {
	var native C.uint64_t
	rc := C.dtl_mpi_ibcast(c.m.c, c.handle, buf.Addr, C.int64_t(buf.Count), C.int(buf.Type), C.int(root), &native)
	return c.started("MPI_Ibcast", native, rc)
}

// Igather starts a gather.
func (c *Comm) Igather(send, recv memory.Span, root int) (backend.Request, error) {
	var native C.uint64_t
	rc := C.dtl_mpi_igather(c.m.c, c.handle, send.Addr, recv.Addr, C.int64_t(send.Count), C.int64_t(c.size),
		C.int(send.Type), C.int(root), &native)
	return c.started("MPI_Igather", native, rc)
}

// Iallgather starts an allgather.
func (c *Comm) Iallgather(send, recv memory.Span) (backend.Request, error) {
	var native C.uint64_t
	rc := C.dtl_mpi_iallgather(c.m.c, c.handle, send.Addr, recv.Addr, C.int64_t(send.Count), C.int64_t(c.size),
		C.int(send.Type), &native)
	return c.started("MPI_Iallgather", native, rc)
}

// Iallreduce starts an allreduce, in parts of as many elements as one call takes.
func (c *Comm) Iallreduce(send, recv memory.Span, op kernel.Op) (backend.Request, error) {
	if err := op.Check(send.Type); err != nil {
		return nil, err // the same on every rank
	}
	if c.size == 1 { // where MPI only copies
		return parts(nil), c.Allreduce(send, recv, op)
	}
	limit := int(C.dtl_mpi_count_limit)
	if send.Count <= limit {
		return c.reducePart(send, recv, op)
	}
	var all parts
	for at := 0; at < send.Count; at += limit {
		end := min(at+limit, send.Count)
		r, err := c.reducePart(send.Slice(at, end), recv.Slice(at, end), op)
		if err != nil {
			_, waiting := all.Wait()
			return nil, errors.Join(err, waiting)
		}
		all = append(all, r)
	}
	return all, nil
}

func (c *Comm) reducePart(send, recv memory.Span, op kernel.Op) (backend.Request, error) {
	var native C.uint64_t
	rc := C.dtl_mpi_iallreduce(c.m.c, c.handle, send.Addr, recv.Addr, C.int64_t(send.Count), C.int(send.Type), C.int(op),
		&native)
	return c.started("MPI_Iallreduce", native, rc)
}

// parts are the requests of one operation.
type parts []backend.Request

var _ backend.Request = parts(nil)

// Wait blocks until all parts are complete.
func (p parts) Wait() (backend.Status, error) {
	var failed error
	for _, r := range p {
		_, err := r.Wait()
		failed = errors.Join(failed, err)
	}
	return backend.Status{}, failed
}

// WaitFor is Wait that comes back after about d.
func (p parts) WaitFor(d time.Duration) (backend.Status, bool, error) {
	end := time.Now().Add(d)
	for _, r := range p {
		if _, done, _ := r.WaitFor(time.Until(end)); !done {
			return backend.Status{}, false, nil
		}
	}
	st, err := p.Wait()
	return st, true, err
}

// Test reports whether all parts are complete.
func (p parts) Test() (backend.Status, bool, error) {
	for _, r := range p {
		if _, done, _ := r.Test(); !done {
			return backend.Status{}, false, nil
		}
	}
	st, err := p.Wait()
	return st, true, err
}

// Cancel says that a collective cannot be cancelled.
func (p parts) Cancel() error {
	return status.New(status.Unsupported, "only a receive can be cancelled")
}
