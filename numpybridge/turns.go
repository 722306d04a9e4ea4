package numpybridge

import (
	"sync"

	"dtl/core/handle"
	"dtl/core/runtime"
	"dtl/core/status"
)

// holds are the uses of contexts that hold their turns, by their handles: one each.
var holds sync.Map

// Hold takes the turn on a context for several calls of the calling thread, which are parts of op, and reports whether it
// had to be taken: else they are parts of a call that has it already, or the context is closed, and they find that out.
// The context is not closed until LetGo.
func Hold(h int64, op string) (first bool, err error) {
	ref, gone := runtime.Contexts.Acquire(handle.Handle(h))
	if gone != nil {
		return false, nil
	}
	on, err := ref.Object.Comm()
	if err == nil {
		first, err = on.Hold(op)
	}
	if !first || err != nil {
		ref.End(&err)
		return false, status.In(op, err)
	}
	holds.Store(h, &ref)
	return true, nil
}

// LetGo ends what Hold has begun. If the context was closed meanwhile, it is closed here, unless others use it.
func LetGo(h int64) error {
	held, ok := holds.LoadAndDelete(h)
	if !ok {
		return status.New(status.Internal, "nobody holds the turn on the context")
	}
	ref := held.(*handle.Ref[*runtime.Context])
	on, err := ref.Object.Comm()
	if err == nil {
		on.LetGo()
	}
	ref.End(&err)
	return err
}
