// Package pydtl is the control plane: what Python creates, closes and queries, as flat functions on handles.
//
// gopy exports every function here, but mishandles most of Go. So parameters are int64, uintptr, float64, bool or
// string, and results are one scalar, or one scalar and an error. Each function begins with the guard, because a panic
// would end the interpreter. A test checks the package for this.
package pydtl

import (
	"errors"

	"dtl/core/comm"
	"dtl/core/status"
)

// guard ends a call: it turns a panic into an error, and an error into the text that Python's exception module reads.
func guard(err *error) {
	comm.EndCall()
	if p := recover(); p != nil {
		*err = status.Recovered(p)
	}
	if *err != nil {
		*err = errors.New(status.Encode(*err))
	}
}
