package backend

import (
	"dtl/core/kernel"
	"dtl/core/memory"
)

// WindowProvider is a Communicator whose ranks can reach each other's memory without the other's help in each call.
type WindowProvider interface {
	Communicator
	// Expose opens mem, which may have no elements and lies where it is until the window is closed, to every rank. Where
	// its elements are uint64 on every rank, each access is to one of them, whole. Collective.
	Expose(mem memory.Span) (Window, error)
}

// LockingWindow is a Window of a library that may have a lock of its own for each part, which whoever combines elements
// there takes and gives back by messages.
type LockingWindow interface {
	Window
	// CombinesUnderLock reports whether it does: Accumulate and FetchAndOp then take three messages, where Put, Get and
	// CompareAndSwap take one.
	CombinesUnderLock() bool
}

// Every stands for all targets of a window.
const Every = -1

// Window is memory of each rank of a communicator, which all of them read and write: the target's with an offset in
// bytes from where its part starts. Whoever calls has made sure that the range lies inside that part, that whoever else
// reaches for it meanwhile may, and that op is one of kernel's that the type has, for windows.
//
// Put, Get and Accumulate only begin. Their spans stay where they are, and what they hold untouched, until FlushLocal
// or Flush of the same target. Accumulate, FetchAndOp and CompareAndSwap are atomic among themselves, element
// by element.
type Window interface {
	Put(from memory.Span, target int, offset int64) error
	Get(into memory.Span, target int, offset int64) error
	// Accumulate combines the target's elements with those of from.
	Accumulate(from memory.Span, target int, offset int64, op kernel.Op) error
	// FetchAndOp is Accumulate of equally many elements that puts those that were there into into. It returns when they
	// have arrived.
	FetchAndOp(from, into memory.Span, target int, offset int64, op kernel.Op) error
	// CompareAndSwap writes swap's only element if the target's equals that of compare, bit for bit, and puts the one
	// that was there into into. It returns when it has arrived.
	CompareAndSwap(compare, swap, into memory.Span, target int, offset int64) error
	// FlushLocal returns when spans of what was begun towards a target, or Every, may be used again; Flush when it has
	// happened at the target, too.
	FlushLocal(target int) error
	Flush(target int) error
	// Sync has this rank see in its own part what others have written and completed, and others what it has.
	Sync() error
	// Close ends what was begun, and gives the window, but not its memory, back. Collective.
	Close() error
}
