package pydtl

import (
	"io"

	"dtl/core/handle"
)

// using calls f with the object that a table's handle names, which stays open meanwhile. Where the handle was closed
// by then, the object is closed here, and so its error is this call's.
func using[O io.Closer, T any](table *handle.Table[O], h int64, f func(O) (T, error)) (result T, err error) {
	ref, err := table.Acquire(handle.Handle(h))
	if err != nil {
		return result, err
	}
	defer ref.End(&err)
	return f(ref.Object)
}
