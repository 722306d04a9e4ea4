package mpi

/*
#include "calls.h"
*/
import "C"

import (
	"sync"
	"time"

	"dtl/core/backend"
	"dtl/core/status"
)

// request is an operation under way. The native request is a value here, not memory that MPI keeps.
type request struct {
	m        calls
	call     string
	receives *Comm      // the communicator of a receive; nil: the operation is none
	mu       sync.Mutex // MPI allows one thread a request
	native   C.uint64_t
	done     bool
	status   backend.Status
	err      error
}

var _ backend.Request = (*request)(nil)

// Wait blocks until the operation is complete. A second Wait returns the same result.
func (r *request) Wait() (backend.Status, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.done {
		var st C.struct_dtl_status
		r.finish(C.dtl_mpi_wait(r.m.c, r.receives.messages(), &r.native, &st), &st)
	}
	return r.status, r.err
}

// WaitFor is Wait that comes back after about d. Another goroutine that waits for the same operation waits for its turn.
func (r *request) WaitFor(d time.Duration) (backend.Status, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.look(max(d, 0))
}

// Test reports whether the operation is complete. It is not while another goroutine waits for it.
func (r *request) Test() (backend.Status, bool, error) {
	if !r.mu.TryLock() {
		return backend.Status{}, false, nil
	}
	defer r.mu.Unlock()
	return r.look(0)
}

func (r *request) look(patience time.Duration) (backend.Status, bool, error) {
	if !r.done {
		var st C.struct_dtl_status
		var complete C.int
		rc := C.dtl_mpi_wait_for(r.m.c, r.receives.messages(), &r.native, C.int64_t(patience), &complete, &st)
		if rc == 0 && complete == 0 {
			return backend.Status{}, false, nil
		}
		r.finish(rc, &st)
	}
	return r.status, true, r.err
}

// Cancel asks MPI to take a receive back.
func (r *request) Cancel() error {
	if r.receives == nil {
		return status.New(status.Unsupported, "only a receive can be cancelled")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done {
		return nil
	}
	return r.m.failure("MPI_Cancel", C.dtl_mpi_cancel(r.m.c, r.native))
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
