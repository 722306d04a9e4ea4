// Package environ is the environment as libraries in C see it: Go's own copy is as old as the process, and Python changes
// C's.
package environ

// #include <stdlib.h>
import "C"

import "unsafe"

// Get returns a variable, "" where it is not set.
func Get(name string) string {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	return C.GoString(C.getenv(cname))
}

// SetDefault sets a variable unless it is set.
func SetDefault(name, value string) {
	cname, cvalue := C.CString(name), C.CString(value)
	defer C.free(unsafe.Pointer(cname))
	defer C.free(unsafe.Pointer(cvalue))
	C.setenv(cname, cvalue, 0)
}

// KeepSignals has UCX, which reads this when it is loaded, leave Go's handler of SIGSEGV alone, unless the user says what
// it takes.
func KeepSignals() { SetDefault("UCX_ERROR_SIGNALS", "SIGILL,SIGBUS,SIGFPE") }

// LeaveMemory has UCX, which reads this when it is loaded, not watch how the process maps memory, unless the user says
// how it should: it would patch a dozen functions of libc, and wait some milliseconds at each. What it learns that way keeps
// its cache of registered memory right, which networks need. Without it UCX does without that cache.
func LeaveMemory() { SetDefault("UCX_MEM_MMAP_HOOK_MODE", "none") }
