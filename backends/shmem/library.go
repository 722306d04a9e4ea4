package shmem

/*
#include <stdlib.h>
#include "calls.h"
#cgo noescape dtl_shmem_put
#cgo noescape dtl_shmem_get
#cgo nocallback dtl_shmem_put
#cgo nocallback dtl_shmem_get
#cgo nocallback dtl_shmem_post
#cgo nocallback dtl_shmem_advance
*/
import "C"

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"dtl/backends/internal/dl"
	"dtl/core/status"
)

// bind fills the table of calls with the library's functions.
func bind(library *dl.Library) error {
	for at := unsafe.Pointer(C.dtl_shmem_symbols); ; at = unsafe.Add(at, C.sizeof_struct_dtl_shmem_symbol) {
		s := (*C.struct_dtl_shmem_symbol)(at)
		if s.name == nil {
			break
		}
		p, err := library.Symbol(C.GoString(s.name))
		if err != nil {
			return err
		}
		*s.slot = p
	}
	if p, err := library.Symbol("opal_progress"); err == nil { // of the libraries under Open MPI's
		C.dtl_shmem_progress = p
	}
	return nil
}

// symmetric is the fabric of a library that is started.
type symmetric struct {
	base       *C.uint8_t
	size       int
	here, many int
}

var _ fabric = (*symmetric)(nil)

// start initialises the library and takes size bytes of its symmetric heap. Collective.
func start(size int) (*symmetric, error) {
	if rc := C.dtl_shmem_start(); rc != 0 {
		return nil, status.New(status.Communication, "shmem_init_thread: error code %d: no calls from several threads", int(rc))
	}
	l := &symmetric{size: size, here: int(C.dtl_shmem_my_pe()), many: int(C.dtl_shmem_n_pes())}
	l.base = (*C.uint8_t)(C.dtl_shmem_align(4096, C.size_t(size)))
	if l.base == nil {
		return nil, status.New(status.OutOfMemory, "the symmetric heap has no %d bytes; %s says how large it is", size, sizeVariable)
	}
	return l, nil
}

// stop ends what start has started; without that, it ends with the process. Collective.
func stop() { C.dtl_shmem_stop() }

// live is the world of the library that is started.
var live atomic.Pointer[world]

// dtl_shmem_ending is called when the process ends, before the library does. It takes no lock of the program's.
//
//export dtl_shmem_ending
func dtl_shmem_ending() {
	if w := live.Load(); w != nil {
		w.end()
	}
}

// abort ends all processes of the job.
func abort(code int) { C.dtl_shmem_abort(C.int(code)) }

// version returns the library's name and the version of the standard that it has.
func version() (name string, major, minor int) {
	text := make([]C.char, 4096)
	var high, low C.int
	C.dtl_shmem_version(&text[0], &high, &low)
	return C.GoString(&text[0]), int(high), int(low)
}

// programEnds reports whether the program says where its data end.
func programEnds() bool { return C.dtl_shmem_program_ends() != 0 }

// meet returns when all processes have called it.
func (l *symmetric) meet() { C.dtl_shmem_barrier() }

func (l *symmetric) me() int        { return l.here }
func (l *symmetric) processes() int { return l.many }

func (l *symmetric) memory() (unsafe.Pointer, int) { return unsafe.Pointer(l.base), l.size }

func (l *symmetric) at(offset int) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(l.base), offset) }

func (l *symmetric) put(there, at int, from unsafe.Pointer, n int) {
	C.dtl_shmem_put(l.at(at), from, C.size_t(n), C.int(there))
}

func (l *symmetric) get(there, at int, into unsafe.Pointer, n int) {
	C.dtl_shmem_get(into, l.at(at), C.size_t(n), C.int(there))
}

func (l *symmetric) beginPut(there, at int, from unsafe.Pointer, n int) {
	C.dtl_shmem_put_nbi(l.at(at), from, C.size_t(n), C.int(there))
}

func (l *symmetric) beginGet(there, at int, into unsafe.Pointer, n int) {
	C.dtl_shmem_get_nbi(into, l.at(at), C.size_t(n), C.int(there))
}

func (l *symmetric) quiet() { C.dtl_shmem_quiet() }

func (l *symmetric) word(at int) *C.uint64_t { return (*C.uint64_t)(l.at(at)) }

func (l *symmetric) post(there, at int, value uint64) {
	C.dtl_shmem_post(l.word(at), C.uint64_t(value), C.int(there))
}

func (l *symmetric) fetch(there, at int) uint64 {
	return uint64(C.dtl_shmem_fetch(l.word(at), C.int(there)))
}

func (l *symmetric) swap(there, at int, value uint64) uint64 {
	return uint64(C.dtl_shmem_swap(l.word(at), C.uint64_t(value), C.int(there)))
}

func (l *symmetric) add(there, at int, value uint64) uint64 {
	return uint64(C.dtl_shmem_add(l.word(at), C.uint64_t(value), C.int(there)))
}

func (l *symmetric) compareSwap(there, at int, cond, value uint64) uint64 {
	return uint64(C.dtl_shmem_compare(l.word(at), C.uint64_t(cond), C.uint64_t(value), C.int(there)))
}

func (l *symmetric) advance() { C.dtl_shmem_advance() }

func (l *symmetric) yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
