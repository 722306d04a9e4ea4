package mpi

// #include "calls.h"
import "C"

import (
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

var _ backend.AllocatingProvider = (*Comm)(nil)
var _ backend.LockingWindow = (*window)(nil)

// What stands for all targets in calls.h does so in the core: a difference is a constant that does not fit.
const _ = uint(C.DTL_EVERY-backend.Every) + uint(backend.Every-C.DTL_EVERY)

// window is a window of MPI, in an epoch with all targets from beginning to end. MPI moves data towards a rank that
// computes only if the library needs no help from that rank, or a thread of it calls MPI.
type window struct {
	m      calls
	handle C.uint64_t
	closed bool
}

// Expose opens mem to every rank, with MPI_Win_create. Collective.
func (c *Comm) Expose(mem memory.Span) (backend.Window, error) {
	w := &window{m: c.m}
	if rc := C.dtl_mpi_expose(c.m.c, c.handle, address(mem), C.int64_t(mem.Bytes()), &w.handle); rc != 0 {
		return nil, c.m.failure("MPI_Win_create", rc)
	}
	return w, nil
}

// Allocate opens memory of the library's own to every rank, with MPI_Win_allocate. Collective.
func (c *Comm) Allocate(bytes int, words bool) (backend.Window, memory.Span, error) {
	w := &window{m: c.m}
	whole, base := C.int(0), C.uintptr_t(0)
	if words {
		whole = 1
	}
	if rc := C.dtl_mpi_allocate_window(c.m.c, c.handle, C.int64_t(bytes), whole, &base, &w.handle); rc != 0 {
		return nil, memory.Span{}, c.m.failure("MPI_Win_allocate, which needs room in "+sharedMemory+" of each host", rc)
	}
	mine := memory.Span{Count: bytes, Type: dtype.Uint8}
	*(*C.uintptr_t)(unsafe.Pointer(&mine.Addr)) = base
	return w, mine, nil
}

// CombinesUnderLock reports whether the library's windows have locks for what combines elements.
func (w *window) CombinesUnderLock() bool {
	var lock C.int
	return C.dtl_mpi_windows_lock(w.m.c, &lock) == 0 && lock != 0
}

// PutsBesideSwaps reports whether the library is one that sends short puts at once, and processors write and swap what comes. MPI
// promises neither. A processor writes one byte at once, and a swap of its that fails writes nothing else. Devices that reach memory
// by themselves may swap a copy of it, and Open MPI 4 keeps short puts until a flush.
func (w *window) PutsBesideSwaps() bool {
	for _, devices := range []string{"/sys/class/infiniband/*", "/sys/class/cxi/*"} {
		if found, _ := filepath.Glob(devices); found != nil { // a pattern that is right does not fail
			return false
		}
	}
	return w.CombinesUnderLock() && strings.HasPrefix(w.m.version(), "Open MPI v5.")
}

// address is a number: element memory is not Go's.
func address(s memory.Span) C.uintptr_t { return C.uintptr_t(uintptr(s.Addr)) }

// Put starts to write from to the target.
func (w *window) Put(from memory.Span, target int, offset int64) error {
	rc := C.dtl_mpi_put(w.m.c, w.handle, address(from), C.int64_t(from.Count), C.int(from.Type), C.int(target), C.int64_t(offset))
	return w.m.failure("MPI_Put", rc)
}

// Get starts to read into from the target.
func (w *window) Get(into memory.Span, target int, offset int64) error {
	rc := C.dtl_mpi_get(w.m.c, w.handle, address(into), C.int64_t(into.Count), C.int(into.Type), C.int(target), C.int64_t(offset))
	return w.m.failure("MPI_Get", rc)
}

// Accumulate starts to combine the target's elements with those of from. MIN, MAX, LAND and LOR of floating-point numbers are
// combined here, and swapped in: MPI leaves to the library what becomes of NaN, has no LAND and LOR of them, and takes no other
// operators in a window.
func (w *window) Accumulate(from memory.Span, target int, offset int64, op kernel.Op) error {
	if err := takes(op, from.Type); err != nil || op == kernel.NoOp { // which MPI has for fetching only
		return err
	}
	rc := C.dtl_mpi_accumulate(w.m.c, w.handle, address(from), C.int64_t(from.Count), C.int(from.Type), C.int(op),
		C.int(target), C.int64_t(offset))
	return w.m.failure("MPI_Accumulate", rc)
}

// FetchAndOp is Accumulate that gives those elements that were there.
func (w *window) FetchAndOp(from, into memory.Span, target int, offset int64, op kernel.Op) error {
	if err := takes(op, into.Type); err != nil {
		return err
	}
	rc := C.dtl_mpi_fetch_and_op(w.m.c, w.handle, address(from), address(into), C.int64_t(into.Count), C.int(into.Type),
		C.int(op), C.int(target), C.int64_t(offset))
	runtime.KeepAlive(from.Addr) // which may be Go's: the call is over
	runtime.KeepAlive(into.Addr)
	return w.m.failure("MPI_Get_accumulate", rc)
}

// CompareAndSwap writes swap's element if the target's is that of compare. MPI has it for at most eight bytes.
func (w *window) CompareAndSwap(compare, swap, into memory.Span, target int, offset int64) error {
	size := into.Type.Size()
	if size > 8 {
		return status.New(status.Unsupported, "MPI compares and swaps at most 8 bytes at once; %s has %d", into.Type, size)
	}
	rc := C.dtl_mpi_compare_and_swap(w.m.c, w.handle, address(compare), address(swap), address(into), C.int(size),
		C.int(target), C.int64_t(offset))
	for _, s := range [...]memory.Span{compare, swap, into} {
		runtime.KeepAlive(s.Addr)
	}
	return w.m.failure("MPI_Compare_and_swap", rc)
}

// takes returns an error unless elements of that type are combined with op in a window.
func takes(op kernel.Op, t dtype.Type) error {
	if err := op.Check(t); err != nil {
		return err
	}
	if (op == kernel.LAnd || op == kernel.LOr) && t.Size() > 8 {
		return status.New(status.Unsupported, "%s of %s in a window takes swaps of %d bytes, and MPI swaps at most 8 at once",
			op, t, t.Size())
	}
	return nil
}

// FlushLocal returns when what was begun towards target has left this rank's memory, or has come.
func (w *window) FlushLocal(target int) error {
	return w.m.failure("MPI_Win_flush_local", C.dtl_mpi_flush(w.m.c, w.handle, C.int(target), 1))
}

// Flush returns when what was begun towards target has happened there.
func (w *window) Flush(target int) error {
	return w.m.failure("MPI_Win_flush", C.dtl_mpi_flush(w.m.c, w.handle, C.int(target), 0))
}

// Sync has memory and window agree, on this rank.
func (w *window) Sync() error { return w.m.failure("MPI_Win_sync", C.dtl_mpi_sync(w.m.c, w.handle)) }

// Close ends the epoch and frees the window; after MPI_Finalize there is nothing to free. A second Close does nothing.
// Collective.
func (w *window) Close() error {
	if w.closed || w.m.finalized() {
		return nil
	}
	w.closed = true
	return w.m.failure("MPI_Win_free", C.dtl_mpi_close_window(w.m.c, w.handle))
}
