//go:build cpython

package numpybridge

/*
#include "bridge.h"

#cgo noescape dtl_where
*/
import "C"

import (
	"dtl/core/comm"
)

func init() {
	comm.Program.Where = func() string {
		var text [256]C.char
		n := C.dtl_where(&text[0], C.int(len(text)))
		return C.GoStringN(&text[0], n)
	}
	comm.Program.Interrupted = func() bool { return C.dtl_interrupted() != 0 }
}
