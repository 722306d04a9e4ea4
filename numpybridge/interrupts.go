//go:build cpython

package numpybridge

/*
#include "bridge.h"

#cgo noescape dtl_where
#cgo noescape dtl_where_was
*/
import "C"

import (
	"dtl/core/comm"
	"dtl/core/watchdog"
)

func init() {
	comm.KeepTurns()
	watchdog.Program.Where = func() string { return where(0) }
	watchdog.Program.WhereIs = where
	watchdog.Program.WhereWas = whereWas
	watchdog.Program.Interrupted = func() bool { return C.dtl_interrupted() != 0 }
}

// where returns the place that a thread is at, by the system's number; the calling one's for 0.
func where(thread int) string {
	var text [256]C.char
	n := C.dtl_where(C.long(thread), &text[0], C.int(len(text)))
	return C.GoStringN(&text[0], n)
}

// whereWas returns the place from which a call was made that this rank has gone on from; "" where that is forgotten.
func whereWas(meets, number uint64) string {
	var text [256]C.char
	n := C.dtl_where_was(C.uint64_t(meets), C.uint64_t(number), &text[0], C.int(len(text)))
	return C.GoStringN(&text[0], n)
}
