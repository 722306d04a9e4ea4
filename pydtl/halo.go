package pydtl

import (
	"dtl/core/container"
	"dtl/core/handle"
)

// HaloClose closes a halo, after an exchange that is under way; its views stay valid. Its handle is invalid from then
// on. Collective where an exchange is under way, else local.
func HaloClose(h int64) (ok bool, err error) {
	defer guard(&err)
	return true, container.Halos.Close(handle.Handle(h))
}

// HaloDrop closes a halo unless an exchange is under way, and says whether it has. Local: it waits for nobody.
func HaloDrop(h int64) (dropped bool, err error) {
	defer guard(&err)
	return container.DropHalo(handle.Handle(h))
}
