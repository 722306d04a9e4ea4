//go:build cpython

package numpybridge

/*
#include "bridge.h"

#cgo noescape dtl_where
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
	watchdog.Program.Interrupted = func() bool { return C.dtl_interrupted() != 0 }
}

// where returns the place that a thread is at, by the system's number; the calling one's for 0.
func where(thread int) string {
	var text [256]C.char
	n := C.dtl_where(C.long(thread), &text[0], C.int(len(text)))
	return C.GoStringN(&text[0], n)
}
