package pydtl

import (
	"dtl/core/handle"
	"dtl/core/rma"
)

// WindowClose closes a window on all ranks, or on none: where one uses it still, all get an error. Its handle is invalid
// from then on; views stay valid. Collective, unless the context is closed.
func WindowClose(h int64) (ok bool, err error) {
	defer guard(&err)
	return true, rma.Close(handle.Handle(h))
}
