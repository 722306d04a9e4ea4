package board

import (
	"sync/atomic"
	"unsafe"

	"dtl/core/memory"
)

// Local is what the threads of one rank share of a board: whose turn it is, and which meeting the rank came to last. It
// lies where it never moves, in memory that is never given back, because code that is not Go looks there too: it may
// look late, and then finds another owner or none. Who looks late counts itself among the users for a moment, so that the
// count is never set, also where another board takes the Local over.
type Local struct {
	owner         int64  // a number of the owner's; 0: the board is closed, or the fast path is not open
	turn          uint64 // who is in a collective call here: a goroutine, or OutsideGo; 0: nobody
	spins, brief  int32
	seq           uint64
	slots         uint64 // the address of the first
	broken        uint64 // the address of head.broken
	stride, extra uint64 // bytes from slot to slot, and from a slot to its long payloads
	offers        uint64 // bytes from a slot to what its rank offers
	key           uint64 // of this process, which other ranks try to read
	messages      Messages
	floor         uint64            // a meeting to which all ranks have come, as far as this one knows
	history       uint64            // a hash of all calls
	split         uint64            // the last disagreement that this rank has heard of
	at            uint64            // where the next long payload goes
	used          [longParts]uint64 // one more than the last meeting whose payload lies in each part
	group, all    uint64            // the addresses of the first group and of that of all ranks; 0: there are none
	users         int32             // messages on their way
	goesOn        int32             // 1: who needs no other in a call with a root may go on
}

// Messages is how code outside Go sends and receives short messages among the same ranks.
type Messages struct {
	Comm                              uint64 // the communicator, for these C functions
	SendFor, RecvFor, WaitFor, Cancel uintptr
	Queued, Unexpected                uintptr // of int32 that are 0 where nothing keeps a message from going straight
	Tags                              int32   // the first that is too high
	_                                 int32
}

// OutsideGo has the turn in a call that is made by code outside Go.
const OutsideGo = 1

// locals are those that have no board.
var locals memory.Fixed[Local]

// describe has code outside Go find its way on the board.
func (l *Local) describe(b *Board) {
	first := uintptr(unsafe.Pointer(b.slot(0)))
	l.seq, l.floor, l.history, l.split, l.at, l.used = 0, 0, 0, 0, 0, [longParts]uint64{}
	l.slots, l.broken = uint64(first), uint64(uintptr(unsafe.Pointer(&b.head().broken)))
	l.stride, l.extra = uint64(slotBytes), uint64(unsafe.Offsetof(slot{}.long))
	if l.group, l.all = 0, 0; b.Groups() {
		l.group = uint64(uintptr(unsafe.Pointer(b.group(0))))
		l.all = uint64(uintptr(unsafe.Pointer(b.group(groups(b.size) - 1))))
	}
	l.offers = uint64(unsafe.Offsetof(slot{}.presence))
}

// OpenFastPath tells code outside Go, which knows the owner by a number, where the board is, and how it is used: how often to
// look for another rank before it waits in other ways, how many bytes a call may lay down, and whether who needs no other may
// go on.
func (b *Board) OpenFastPath(owner int64, spins, brief int, goesOn bool, messages Messages) unsafe.Pointer {
	b.local.messages = messages
	b.local.goesOn = 0
	if goesOn {
		b.local.goesOn = 1
	}
	b.local.spins, b.local.brief = int32(spins), int32(brief)
	atomic.StoreInt64(&b.local.owner, owner)
	return unsafe.Pointer(b.local)
}

// Number returns a number that no other board of this process has while it is open: the address that OpenFastPath returns.
func (b *Board) Number() uint64 { return uint64(uintptr(unsafe.Pointer(b.local))) }

// CloseFastPath takes the board back, and returns the owner's number; 0 where nobody had it.
func (b *Board) CloseFastPath() (owner int64) { return atomic.SwapInt64(&b.local.owner, 0) }

// InUse reports whether a message is on its way that the fast path has sent.
func (b *Board) InUse() bool { return atomic.LoadInt32(&b.local.users) != 0 }

// Turn returns where it says who is in a collective call. It may be used until Forsake.
func (b *Board) Turn() *uint64 { return &b.local.turn }

// Forsake lets another board have what this one shared between threads, after Close.
func (b *Board) Forsake() { locals.Put(b.local) }
