package mpi

/*
#include "calls.h"

#cgo noescape dtl_mpi_send
#cgo noescape dtl_mpi_recv
#cgo noescape dtl_mpi_probe
#cgo noescape dtl_mpi_iprobe
*/
import "C"

import (
	"sync"

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
	return backend.Status{Source: int(st.source), Tag: int(st.tag), Bytes: int(st.bytes)}
}

// Send returns when buf may be used again, which can be before the message is received.
func (c *Comm) Send(buf memory.Span, dest, tag int) error {
	rc := C.dtl_mpi_send(c.m.c, c.handle, buf.Addr, C.int64_t(buf.Count), C.int(buf.Type), C.int(dest), C.int(tag))
	return c.m.failure("MPI_Send", rc)
}

// Recv fills the front of buf with a message of at most its length.
func (c *Comm) Recv(buf memory.Span, source, tag int) (backend.Status, error) {
	var st C.struct_dtl_status
	rc := C.dtl_mpi_recv(c.m.c, c.handle, buf.Addr, C.int64_t(buf.Count), C.int(buf.Type), C.int(source), C.int(tag), &st)
	if rc != 0 {
		return backend.Status{}, c.m.failure("MPI_Recv", rc)
	}
	return statusOf(&st), nil
}

// Isend starts a send. buf is memory of C, or pinned, and stays with the operation until it is complete.
func (c *Comm) Isend(buf memory.Span, dest, tag int) (backend.Request, error) {
	r := &request{m: c.m, call: "MPI_Isend"}
	rc := C.dtl_mpi_isend(c.m.c, c.handle, buf.Addr, C.int64_t(buf.Count), C.int(buf.Type), C.int(dest), C.int(tag), &r.native)
	if rc != 0 {
		return nil, c.m.failure("MPI_Isend", rc)
	}
	return r, nil
}

// Irecv starts a receive. buf is memory of C, or pinned, and stays with the operation until it is complete. The
// caller knows that the message fits: Open MPI writes a long one past the end before it reports the truncation,
// and unlike Recv this call cannot look at the length first.
func (c *Comm) Irecv(buf memory.Span, source, tag int) (backend.Request, error) {
	r := &request{m: c.m, call: "MPI_Irecv"}
	rc := C.dtl_mpi_irecv(c.m.c, c.handle, buf.Addr, C.int64_t(buf.Count), C.int(buf.Type), C.int(source), C.int(tag), &r.native)
	if rc != 0 {
		return nil, c.m.failure("MPI_Irecv", rc)
	}
	return r, nil
}

// Probe waits for a message without receiving it.
func (c *Comm) Probe(source, tag int) (backend.Status, error) {
	var st C.struct_dtl_status
	if rc := C.dtl_mpi_probe(c.m.c, c.handle, C.int(source), C.int(tag), &st); rc != 0 {
		return backend.Status{}, c.m.failure("MPI_Probe", rc)
	}
	return statusOf(&st), nil
}

// Iprobe reports whether such a message is there.
func (c *Comm) Iprobe(source, tag int) (backend.Status, bool, error) {
	var st C.struct_dtl_status
	var found C.int
	rc := C.dtl_mpi_iprobe(c.m.c, c.handle, C.int(source), C.int(tag), &found, &st)
	if rc != 0 || found == 0 {
		return backend.Status{}, false, c.m.failure("MPI_Iprobe", rc)
	}
	return statusOf(&st), true, nil
}

// request is an operation under way. The native request is a value here, not memory that MPI keeps.
type request struct {
	m      calls
	call   string
	mu     sync.Mutex // MPI allows one thread a request
	native C.uint64_t
	done   bool
	status backend.Status
	err    error
}

var _ backend.Request = (*request)(nil)

// Wait blocks until the operation is complete. A second Wait returns the same result.
func (r *request) Wait() (backend.Status, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.done {
		var st C.struct_dtl_status
		r.finish(C.dtl_mpi_wait(r.m.c, &r.native, &st), &st)
	}
	return r.status, r.err
}

// Test reports whether the operation is complete. It is not while another goroutine waits for it.
func (r *request) Test() (backend.Status, bool, error) {
	if !r.mu.TryLock() {
		return backend.Status{}, false, nil
	}
	defer r.mu.Unlock()
	if !r.done {
		var st C.struct_dtl_status
		var complete C.int
		rc := C.dtl_mpi_test(r.m.c, &r.native, &complete, &st)
		if rc == 0 && complete == 0 {
			return backend.Status{}, false, nil
		}
		r.finish(rc, &st)
	}
	return r.status, true, r.err
}

// finish records the result.
func (r *request) finish(rc C.int, st *C.struct_dtl_status) {
	r.done = true
	if rc != 0 {
		r.err = r.m.failure(r.call, rc)
		return
	}
	r.status = statusOf(st)
}
