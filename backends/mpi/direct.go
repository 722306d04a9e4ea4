package mpi

// #include "calls.h"
import "C"

import (
	"unsafe"

	"dtl/core/backend"
)

var _ backend.DirectCommunicator = (*Comm)(nil)

// Direct returns the calls of short messages.
func (c *Comm) Direct() backend.Direct {
	t := c.m.c
	return backend.Direct{
		Comm: uint64(c.messages()), SendFor: uintptr(unsafe.Pointer(t.send_for)), RecvFor: uintptr(unsafe.Pointer(t.recv_for)),
		WaitFor: uintptr(unsafe.Pointer(t.wait_for)), Cancel: uintptr(unsafe.Pointer(t.cancel)),
	}
}

// Adopt returns the request of a send that was started by Direct's SendFor.
func (c *Comm) Adopt(native uint64) backend.Request {
	return &request{m: c.m, call: "MPI_Isend", native: C.uint64_t(native)}
}

// Failure returns the error of Direct's SendFor.
func (c *Comm) Failure(rc int) error { return c.m.failure("MPI_Isend", C.int(rc)) }

var _ backend.NativeRequest = (*request)(nil)

// Native returns what peek knows the request by.
func (r *request) Native() (number uint64, peek uintptr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done {
		return 0, 0
	}
	return uint64(r.native), uintptr(unsafe.Pointer(r.m.c.peek))
}
