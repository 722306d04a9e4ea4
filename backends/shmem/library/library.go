// Package library finds, starts and ends an OpenSHMEM library, of which a process has one, and implements
// transport.Fabric with its calls.
package library

/*
#include <stdlib.h>
#include "calls.h"
#cgo noescape dtl_shmem_put
#cgo noescape dtl_shmem_get
#cgo nocallback dtl_shmem_put
#cgo nocallback dtl_shmem_get
#cgo nocallback dtl_shmem_advance
*/
import "C"

import (
	"sync/atomic"
	"unsafe"

	"dtl/backends/internal/dl"
	"dtl/backends/internal/symmetric/transport"
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

// Symmetric is the fabric of a library that is started.
type Symmetric struct {
	base       *C.uint8_t
	size       int
	here, many int
}

var _ transport.Fabric = (*Symmetric)(nil)

// start initialises the library and takes size bytes of its symmetric heap. Collective.
func start(size int) (*Symmetric, error) {
	if rc := C.dtl_shmem_start(); rc != 0 {
		return nil, status.New(status.Communication, "shmem_init_thread: error code %d: no calls from several threads", int(rc))
	}
	l := &Symmetric{size: size, here: int(C.dtl_shmem_my_pe()), many: int(C.dtl_shmem_n_pes())}
	l.base = (*C.uint8_t)(C.dtl_shmem_align(4096, C.size_t(size)))
	if l.base == nil {
		return nil, status.New(status.OutOfMemory, "the symmetric heap has no %d bytes; %s says how large it is", size, SizeVariable)
	}
	return l, nil
}

// Stop ends what Start has started; without that, it ends with the process. Collective.
func Stop() { C.dtl_shmem_stop() }

// ending is the function that OnEnding has set.
var ending atomic.Pointer[func()]

// OnEnding has f called when the process ends, before the library does. It takes no lock of the program's.
func OnEnding(f func()) { ending.Store(&f) }

//export dtl_shmem_ending
func dtl_shmem_ending() {
	if f := ending.Load(); f != nil {
		(*f)()
	}
}

// Abort ends all processes of the job.
func Abort(code int) { C.dtl_shmem_abort(C.int(code)) }

// Version returns the library's name and the version of the standard that it has.
func Version() (name string, major, minor int) {
	text := make([]C.char, 4096)
	var high, low C.int
	C.dtl_shmem_version(&text[0], &high, &low)
	return C.GoString(&text[0]), int(high), int(low)
}

// programEnds reports whether the program says where its data end.
func programEnds() bool { return C.dtl_shmem_program_ends() != 0 }

// Meet returns when all processes have called it.
func (l *Symmetric) Meet() { C.dtl_shmem_barrier() }

// Me returns this process.
func (l *Symmetric) Me() int { return l.here }

// Processes returns how many there are.
func (l *Symmetric) Processes() int { return l.many }

// Memory returns what the library gave to this backend.
func (l *Symmetric) Memory() (unsafe.Pointer, int) { return unsafe.Pointer(l.base), l.size }

func (l *Symmetric) at(offset int) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(l.base), offset) }

// Put writes n bytes, and returns when from may be used again.
func (l *Symmetric) Put(there, at int, from unsafe.Pointer, n int) {
	C.dtl_shmem_put(l.at(at), from, C.size_t(n), C.int(there))
}

// Get reads n bytes.
func (l *Symmetric) Get(there, at int, into unsafe.Pointer, n int) {
	C.dtl_shmem_get(into, l.at(at), C.size_t(n), C.int(there))
}

// BeginPut starts a Put.
func (l *Symmetric) BeginPut(there, at int, from unsafe.Pointer, n int) {
	C.dtl_shmem_put_nbi(l.at(at), from, C.size_t(n), C.int(there))
}

// BeginGet starts a Get.
func (l *Symmetric) BeginGet(there, at int, into unsafe.Pointer, n int) {
	C.dtl_shmem_get_nbi(into, l.at(at), C.size_t(n), C.int(there))
}

// Quiet returns when everything that was started has happened.
func (l *Symmetric) Quiet() { C.dtl_shmem_quiet() }

func (l *Symmetric) word(at int) *C.uint64_t { return (*C.uint64_t)(l.at(at)) }

// Fetch reads a word.
func (l *Symmetric) Fetch(there, at int) uint64 {
	return uint64(C.dtl_shmem_fetch(l.word(at), C.int(there)))
}

// Swap writes a word, and returns the one that was there.
func (l *Symmetric) Swap(there, at int, value uint64) uint64 {
	return uint64(C.dtl_shmem_swap(l.word(at), C.uint64_t(value), C.int(there)))
}

// Add adds to a word, and returns the one that was there.
func (l *Symmetric) Add(there, at int, value uint64) uint64 {
	return uint64(C.dtl_shmem_add(l.word(at), C.uint64_t(value), C.int(there)))
}

// CompareSwap writes a word where there is cond, and returns what was there.
func (l *Symmetric) CompareSwap(there, at int, cond, value uint64) uint64 {
	return uint64(C.dtl_shmem_compare(l.word(at), C.uint64_t(cond), C.uint64_t(value), C.int(there)))
}

// Advance has the library move what others have sent.
func (l *Symmetric) Advance() { C.dtl_shmem_advance() }

// Native returns the library's functions for what C writes.
func (l *Symmetric) Native() transport.Native {
	return transport.Native{
		Put: unsafe.Pointer(C.dtl_shmem_put), Post: unsafe.Pointer(C.dtl_shmem_post), Advance: unsafe.Pointer(C.dtl_shmem_advance),
	}
}
