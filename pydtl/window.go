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

// WindowDrop lets a window go that its context has ended, or that has no other ranks and no requests, and says whether
// it has. Local: it waits for nobody.
func WindowDrop(h int64) (dropped bool, err error) {
	defer guard(&err)
	return rma.Drop(handle.Handle(h))
}
