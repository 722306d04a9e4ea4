// Package rma is one-sided access: windows, which are memory of each rank that all ranks read and write without a call
// of its owner.
//
// A Window keeps track of epochs and locks, and checks ranges, in the same way everywhere. A backend.Window accesses
// the parts: that of this package on one machine, whatever backend connects the ranks, and that of the backend if they
// share no memory.
package rma

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/handle"
	"dtl/core/memory"
	"dtl/core/status"
)

// Windows are the open windows.
var Windows = handle.NewTable[*Window](handle.Window)

// Window is one rank's view of the parts of all ranks. Its methods may be called from any goroutine.
type Window struct {
	id       int64 // the same on every rank
	comm     *comm.Comm
	local    *Local
	targets  []Target
	reach    backend.Window
	words    words
	storage  *memory.Storage // of parts that the window has allocated: all on one machine, else this rank's; or nil
	segment  *memory.Storage // what the ranks share to keep each other off, or this rank's part of it
	table    *memory.Storage // of targets
	base     uint64          // of this rank's part, if the window has not allocated it
	lent     Part            // of this rank, if a device reaches it
	control  backend.Window  // of the locks; nil: they are in the segment
	forget   func()          // that the window ends with the communicator
	mu       sync.Mutex      // of beginning an epoch
	ending   sync.Once
	failed   error // of the end
	requests atomic.Int64
	detached atomic.Bool
}

// release gives the window's memory back; views keep theirs.
func (w *Window) release() {
	if w.storage != nil && w.storage != w.segment {
		w.storage.Release()
	}
	for _, s := range []*memory.Storage{w.segment, w.table} {
		if s != nil {
			s.Release()
		}
	}
	if w.lent.Storage != nil {
		w.lent.Storage.Conceal()
		if !w.lent.Base.Place.OfHost() {
			w.lent.Storage.Release()
		}
	}
}

// OpenFastPath returns where the window's epochs and parts are, for code that knows it by a number; nil where not all parts are
// in this process's memory.
func (w *Window) OpenFastPath(owner int64) unsafe.Pointer {
	if !w.local.enter() {
		return nil
	}
	defer w.local.leave()
	if w.local.direct == 0 {
		return nil
	}
	atomic.StoreInt64(&w.local.owner, owner)
	return unsafe.Pointer(w.local)
}

// Near reports whether all parts are reached without the backend: what begins is over when the call returns.
func (w *Window) Near() bool { return w.control == nil }

// Open reports whether the window has not ended.
func (w *Window) Open() bool { return atomic.LoadInt32(&w.local.open) != 0 }

// Base returns the address of this rank's part.
func (w *Window) Base() uint64 {
	if !w.local.enter() {
		return 0
	}
	defer w.local.leave()
	return cmp.Or(w.targets[w.comm.Rank()].addr, w.base)
}

// Sizes returns the bytes of each rank's part.
func (w *Window) Sizes() []int64 {
	if !w.local.enter() {
		return nil
	}
	defer w.local.leave()
	sizes := make([]int64, len(w.targets))
	for rank := range sizes {
		sizes[rank] = w.targets[rank].bytes
	}
	return sizes
}

// String describes the window for the error of ranks that do not agree.
func (w *Window) String() string { return fmt.Sprint("window ", w.id) }

// Shut ends the window on all ranks, or on none: where epochs are open on any, all get an error. Collective.
func (w *Window) Shut() error {
	if !w.local.enter() {
		return nil
	}
	err := w.comm.Agree(w.call("close"), w.unfinished())
	w.local.leave()
	if err != nil {
		return err
	}
	w.forget()
	comm.EndCall() // other threads that wait for their turn find that the window is closed
	return w.end()
}

// Detach says that nobody is left to end the epochs that are open on this rank, or that begin: the window ends with those.
func (w *Window) Detach() error {
	w.detached.Store(true)
	return nil
}

// unfinished names what is open.
func (w *Window) unfinished() error {
	var open []string
	if !w.detached.Load() {
		open = w.epochs()
	}
	switch n := w.requests.Load(); {
	case n == 1:
		open = append(open, "1 request")
	case n > 1:
		open = append(open, fmt.Sprint(n, " requests"))
	}
	if open == nil {
		return nil
	}
	return status.New(status.ViewsOut, "the window is in use: %s", strings.Join(open, ", "))
}

// epochs names those that are open.
func (w *Window) epochs() (open []string) {
	if atomic.LoadInt32(&w.local.fence) == FenceUsed {
		open = append(open, "accesses since the last fence")
	}
	if atomic.LoadInt32(&w.local.everywhere) != Unlocked {
		open = append(open, "a lock of all parts")
	}
	for rank := range w.targets {
		if atomic.LoadInt32(&w.targets[rank].held) != Unlocked {
			open = append(open, fmt.Sprintf("the lock of rank %d's part", rank))
		}
	}
	return open
}

// end ends the window here. Collective where the backend reaches the parts.
func (w *Window) end() error {
	w.ending.Do(func() {
		w.local.end()
		for rank := range w.targets {
			if held := atomic.LoadInt32(&w.targets[rank].held); held == Shared || held == Exclusive {
				_ = w.free(rank, held) // whoever waits for it learns it from what is there
			}
			if atomic.LoadInt32(&w.local.everywhere) == Shared {
				_ = w.free(rank, Shared)
			}
		}
		w.failed = w.reach.Close()
		if w.control != nil {
			if err := w.control.Close(); w.failed == nil {
				w.failed = err
			}
		}
		w.release()
	})
	return w.failed
}

// Close lets go of what is left of a window that Shut has ended, or its communicator's Close. Nobody uses it after that.
func (w *Window) Close() error {
	locals.Put(w.local)
	return nil
}

// Close ends the window that a handle names, unless it is in use on any rank: then nothing has happened. Collective.
func Close(h handle.Handle) (err error) {
	ref, err := Windows.Acquire(h)
	if err != nil {
		return status.In("close", err)
	}
	err = ref.Object.Shut()
	ref.End(&err)
	if err != nil {
		return status.In("close", err)
	}
	return Windows.Close(h)
}
