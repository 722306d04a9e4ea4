package backend

import (
	"dtl/core/kernel"
	"dtl/core/memory"
)

// WindowProvider is a Communicator whose ranks can access each other's memory without a call of its owner.
type WindowProvider interface {
	Communicator
	// Expose opens mem to every rank. mem may have no elements, and stays in place until the window is closed. Collective.
	Expose(mem memory.Span) (Window, error)
}

// AllocatingProvider is a WindowProvider whose ranks reach memory of the library's own sooner than other memory.
type AllocatingProvider interface {
	WindowProvider
	// Allocate opens so many bytes of each rank, as many on each of them or not, but at least one, and returns this rank's.
	// They are 0 at first, and gone when the window is closed. words promises that each access is to one whole uint64.
	// Collective.
	Allocate(bytes int, words bool) (Window, memory.Span, error)
}

// LockingWindow is a Window of a library that may have a lock of its own for each part, which a rank that combines elements
// there takes and releases by messages.
type LockingWindow interface {
	Window
	// CombinesUnderLock reports whether it does: Accumulate and FetchAndOp then take three messages, where Put, Get and
	// CompareAndSwap take one.
	CombinesUnderLock() bool
	// PutsBesideSwaps reports whether Put sends its message by itself, and may put one byte into a word while every
	// CompareAndSwap there compares it with another value than it has: the byte arrives, and each swap sees the word as it was
	// before or after that.
	PutsBesideSwaps() bool
}

// Every stands for all targets of a window.
const Every = -1

// Window is memory of each rank of a communicator, which all of them read and write. Each rank has a part, and offsets are
// in bytes from the start of the target's part. The caller has checked that the range is inside that part, that other
// ranks may access it at the same time, and that kernel defines op for the type and for windows.
//
// Put, Get and Accumulate only begin an access. Their spans stay in place, and are not used, until FlushLocal or Flush of
// the same target. Accumulate, FetchAndOp and CompareAndSwap are atomic with respect to each other, for each element.
type Window interface {
	Put(from memory.Span, target int, offset int64) error
	Get(into memory.Span, target int, offset int64) error
	// Accumulate combines the target's elements with those of from.
	Accumulate(from memory.Span, target int, offset int64, op kernel.Op) error
	// FetchAndOp is Accumulate that also writes the target's old elements to into, which has as many. It returns when they
	// have arrived.
	FetchAndOp(from, into memory.Span, target int, offset int64, op kernel.Op) error
	// CompareAndSwap replaces the target's element by that of swap if it equals that of compare, bit for bit, and writes
	// the old one to into. It returns when this has arrived.
	CompareAndSwap(compare, swap, into memory.Span, target int, offset int64) error
	// FlushLocal returns when the spans of accesses to a target, or to Every target, may be used again. Flush returns when
	// these accesses are complete at the target, too.
	FlushLocal(target int) error
	Flush(target int) error
	// Sync makes completed writes of other ranks visible in this rank's own part, and its own writes to the others.
	Sync() error
	// Close completes all accesses and releases the window, but not its memory. Collective.
	Close() error
}
