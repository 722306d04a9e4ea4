// Package pydtl is the control plane: what Python creates, closes and asks, as flat functions over handles.
//
// gopy exports every function here. It mishandles most of Go, so parameters are int64, uintptr, float64, bool or
// string, results are one scalar, or one scalar and an error, and each function starts with the guard: a panic
// would end the interpreter. A test holds the package to this.
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
