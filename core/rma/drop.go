package rma

import "dtl/core/handle"

// Drop lets go of the window that a handle names, if that takes nobody else: its communicator was closed, or has one
// rank and no request of the window is under way. It reports whether it has. Locks and accesses of the window go with it.
// It never waits for another rank, so who forgets a window at a time of its own calls it, and keeps the handle if the
// window is there still: closing the communicator ends it, whatever epochs are open. Local.
func Drop(h handle.Handle) (dropped bool, err error) {
	ref, err := Windows.Acquire(h)
	if err != nil {
		return false, err
	}
	w := ref.Object
	if w.Open() {
		if w.comm.Size() > 1 || w.requests.Load() > 0 {
			_ = w.Detach() // which never fails
			return false, ref.Release()
		}
		w.forget()
		_ = w.end() // of memory of this process alone, which is unmapped
	}
	if err := ref.Release(); err != nil {
		return false, err
	}
	return true, Windows.Close(h)
}
