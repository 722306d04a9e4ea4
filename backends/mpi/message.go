package mpi

/*
#include "calls.h"

#cgo noescape dtl_mpi_try_recv
*/
import "C"

import (
	"time"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/memory"
)

// The wildcards of calls.h are those of the core: a difference is a constant that does not fit.
const (
	_ = uint(C.DTL_ANY_SOURCE-backend.AnySource) + uint(backend.AnySource-C.DTL_ANY_SOURCE)
	_ = uint(C.DTL_ANY_TAG-backend.AnyTag) + uint(backend.AnyTag-C.DTL_ANY_TAG)
	_ = uint(C.DTL_PROC_NULL-backend.ProcNull) + uint(backend.ProcNull-C.DTL_PROC_NULL)
)

func statusOf(st *C.struct_dtl_status) backend.Status {
	return backend.Status{Source: int(st.source), Tag: int(st.tag), Bytes: int(st.bytes), Cancelled: st.cancelled != 0}
}

// justStart is a patience: not even one look at what was started.
const justStart time.Duration = -1

// SendFor starts a send and waits for it, at most about patience.
func (c *Comm) SendFor(buf memory.Span, dest, tag int, patience time.Duration) (backend.Request, error) {
	b := c.send(buf, dest, tag, max(patience, 0))
	if b.request == 0 {
		return nil, c.m.failure("MPI_Isend", b.rc)
	}
	return &request{m: c.m, call: "MPI_Isend", native: b.request}, c.m.failure("MPI_Isend", b.rc)
}

// RecvFor starts a receive and waits for it, at most about patience. Open MPI writes a message that is longer than buf
// past its end, before it reports the truncation.
func (c *Comm) RecvFor(buf memory.Span, source, tag int, patience time.Duration) (backend.Status, backend.Request, error) {
	if p := c.probe(buf, source, tag); p != nil {
		st, done, err := p.WaitFor(patience)
		if done {
			return st, nil, err
		}
		return backend.Status{}, p, nil
	}
	b := c.recv(buf, source, tag, max(patience, 0))
	if b.rc != 0 {
		return backend.Status{}, nil, c.m.failure("MPI_Irecv", b.rc)
	}
	if b.request != 0 {
		return backend.Status{}, &request{m: c.m, call: "MPI_Irecv", native: b.request, receives: c}, nil
	}
	return statusOf(&b.st), nil, nil
}

// Isend starts a send. buf is memory of C, or pinned, and stays with the operation until it is complete.
func (c *Comm) Isend(buf memory.Span, dest, tag int) (backend.Request, error) {
	b := c.send(buf, dest, tag, justStart)
	if b.rc != 0 {
		return nil, c.m.failure("MPI_Isend", b.rc)
	}
	return &request{m: c.m, call: "MPI_Isend", native: b.request}, nil
}

// Irecv starts a receive. buf is memory of C, or pinned, and stays with the operation until it is complete.
func (c *Comm) Irecv(buf memory.Span, source, tag int) (backend.Request, error) {
	if p := c.probe(buf, source, tag); p != nil {
		return p, nil
	}
	b := c.recv(buf, source, tag, justStart)
	if b.rc != 0 {
		return nil, c.m.failure("MPI_Irecv", b.rc)
	}
	return &request{m: c.m, call: "MPI_Irecv", native: b.request, receives: c}, nil
}

func (c *Comm) send(buf memory.Span, dest, tag int, patience time.Duration) C.struct_dtl_begun {
	return C.dtl_mpi_send_at(c.m.at(), c.messages(), C.uintptr_t(uintptr(buf.Addr)), C.int64_t(buf.Count), C.int(buf.Type),
		C.int(dest), C.int(tag), C.int64_t(patience))
}

func (c *Comm) recv(buf memory.Span, source, tag int, patience time.Duration) C.struct_dtl_begun {
	return C.dtl_mpi_recv_at(c.m.at(), c.messages(), C.uintptr_t(uintptr(buf.Addr)), C.int64_t(buf.Count), C.int(buf.Type),
		C.int(source), C.int(tag), C.int64_t(patience))
}

// at is the table's address, which is C's: nobody need look at what it points to.
func (m calls) at() C.uintptr_t { return C.uintptr_t(uintptr(unsafe.Pointer(m.c))) }

// TryRecv receives a message that is there already.
func (c *Comm) TryRecv(buf memory.Span, source, tag int) (backend.Status, bool, error) {
	if p := c.probe(buf, source, tag); p != nil {
		return p.once()
	}
	var st C.struct_dtl_status
	var found C.int
	rc := C.dtl_mpi_try_recv(c.m.c, c.messages(), buf.Addr, C.int64_t(buf.Count), C.int(buf.Type), C.int(source), C.int(tag),
		&found, &st)
	if rc != 0 || found == 0 {
		return backend.Status{}, false, c.m.failure("MPI_Improbe", rc)
	}
	return statusOf(&st), true, nil
}
