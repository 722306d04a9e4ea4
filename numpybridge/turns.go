package numpybridge

import (
	"sync"

	"dtl/core/handle"
	"dtl/core/runtime"
	"dtl/core/status"
)

// holds are the uses of contexts that hold their turns, by their handles: one each.
var holds sync.Map

// TakeTurn takes the turn on a context for several calls of the calling thread, which are parts of op, and reports whether it
// had to be taken: else they are parts of a call that has it already, or the context is closed, and they find that out.
// The context is not closed until EndTurn.
func TakeTurn(h int64, op string) (first bool, err error) {
	ref, gone := runtime.Contexts.Acquire(handle.Handle(h))
	if gone != nil {
		return false, nil
	}
	on, err := ref.Object.Comm()
	if err == nil {
		first, err = on.TakeTurn(op)
	}
	if !first || err != nil {
		ref.End(&err)
		return false, status.In(op, err)
	}
	holds.Store(h, &ref)
	return true, nil
}

// EndTurn ends the turn that TakeTurn has taken. If the context was closed meanwhile, it is closed here, unless others use it.
func EndTurn(h int64) error {
	held, ok := holds.LoadAndDelete(h)
	if !ok {
		return status.New(status.Internal, "nobody holds the turn on the context")
	}
	ref := held.(*handle.Ref[*runtime.Context])
	on, err := ref.Object.Comm()
	if err == nil {
		on.EndTurn()
	}
	ref.End(&err)
	return err
}
