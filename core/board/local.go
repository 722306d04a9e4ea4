package board

import (
	"sync/atomic"
	"unsafe"

	"dtl/core/memory"
)

// Local is what the threads of one rank share of a board: whose turn it is, and which meeting the rank came to last. It
// never moves, and its memory is never released, because code outside Go looks there, too. That code may look when the
// board is closed, and then finds another owner or none. It counts itself among the users for a moment, even then. So the
// count is never set, even if another board takes the Local over.
type Local struct {
	owner         int64  // a number of the owner's; 0: the board is closed, or the fast path is not open
	turn          uint64 // which goroutine is in a collective call here, or OutsideGo; 0: none
	spins, most   int32
	seq           uint64
	slots         uint64 // the address of the first
	broken        uint64 // the address of head.broken
	stride, extra uint64 // bytes from slot to slot, and from a slot to its long payloads
	offers        uint64 // bytes from a slot to what its rank offers
	key           uint64 // of this process, which other ranks try to read
	messages      Messages
	floor         uint64 // a meeting to which all ranks have come, as far as this one knows
	history       uint64 // a hash of all calls
	split         uint64 // the last disagreement of which this rank has learned
	payloads      ring   // of those up to MaxPayload
	longer        ring   // of those in the extension
	extension     uint64 // its address, if it may be used; else 0
	group, all    uint64 // the addresses of the first group and of that of all ranks; 0: there are none
	users         int32  // messages that are being sent or received
	goesOn        int32  // 1: a rank that needs no other in a call with a root may go on
}

// Messages is how code outside Go sends and receives short messages among the same ranks.
type Messages struct {
	Comm                              uint64 // the communicator, for these C functions
	SendFor, RecvFor, WaitFor, Cancel uintptr
	Queued, Unexpected                uintptr // of int32 that are 0 if messages can be sent and received at once
	Tags                              int32   // the first that is too high
	_                                 int32
}

// OutsideGo stands for the goroutine in a call that is made by code outside Go.
const OutsideGo = 1

// locals has each Local that no board uses.
var locals memory.Fixed[Local]

// describe writes down what code outside Go needs to know of the board.
func (l *Local) describe(b *Board) {
	first := uintptr(unsafe.Pointer(b.slot(0)))
	l.seq, l.floor, l.history, l.split, l.payloads, l.longer, l.extension = 0, 0, 0, 0, ring{}, ring{}, 0
	l.slots, l.broken = uint64(first), uint64(uintptr(unsafe.Pointer(&b.head().broken)))
	l.stride, l.extra = uint64(slotBytes), uint64(unsafe.Offsetof(slot{}.long))
	if l.group, l.all = 0, 0; b.Groups() {
		l.group = uint64(uintptr(unsafe.Pointer(b.group(0))))
		l.all = uint64(uintptr(unsafe.Pointer(b.group(groups(b.size) - 1))))
	}
	l.offers = uint64(unsafe.Offsetof(slot{}.presence))
}

// OpenFastPath tells code outside Go, which knows the owner by a number, where the board is and how to use it: how often to
// look for another rank before it waits in other ways, how many bytes a call may write, and whether a rank that needs no
// other may go on.
func (b *Board) OpenFastPath(owner int64, spins, most int, goesOn bool, messages Messages) unsafe.Pointer {
	b.local.messages = messages
	b.local.goesOn = 0
	if goesOn {
		b.local.goesOn = 1
	}
	b.local.spins, b.local.most = int32(spins), int32(most)
	atomic.StoreInt64(&b.local.owner, owner)
	return unsafe.Pointer(b.local)
}

// Number returns a number that no other board of this process has while it is open: the address that OpenFastPath returns.
func (b *Board) Number() uint64 { return uint64(uintptr(unsafe.Pointer(b.local))) }

// CloseFastPath ends this, and returns the owner's number; 0 if there was none.
func (b *Board) CloseFastPath() (owner int64) { return atomic.SwapInt64(&b.local.owner, 0) }

// InUse reports whether the fast path is sending or receiving a message.
func (b *Board) InUse() bool { return atomic.LoadInt32(&b.local.users) != 0 }

// Turn returns the address of the word that says which goroutine is in a collective call. It is valid until Recycle.
func (b *Board) Turn() *uint64 { return &b.local.turn }

// Recycle lets another board use the Local of this one, after Close.
func (b *Board) Recycle() { locals.Put(b.local) }
