package rma

import (
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"dtl/core/memory"
)

// Local is what this rank knows of a window: its epochs, and where the parts are. It lies where it never moves, in
// memory that is never given back, because code that is not Go looks there too: it may look late, and then finds another
// owner or none.
type Local struct {
	owner      int64 // the window's handle; 0: it is closed, or nobody outside Go knows it
	users      int32 // calls on their way
	rank, size int32
	open       int32 // 1 until the window ends
	fence      int32 // what became of the last one
	everywhere int32 // 1 between lock_all and unlock_all
	direct     int32 // 1 where every part lies in this process
	_          int32
	targets    uint64 // the address of the first
	_          [16]byte
}

// What became of the last fence.
const (
	Unfenced int32 = iota // there was none, or locks came after it
	Fenced                // nobody has used the epoch that it opened
	FenceUsed
)

// Target is what this rank knows of another's part.
type Target struct {
	addr  uint64 // in this process; 0: elsewhere
	bytes int64
	guard uint64 // the address of what those take who combine elements there
	held  int32  // how this rank has locked it
	_     int32
}

// How a rank has locked a part.
const (
	Unlocked int32 = iota
	Shared
	Exclusive
	wanted // it waits
	ending // it waits for the accesses, and unlocks
)

// A Local is a whole cache line.
const _ = uint(64-unsafe.Sizeof(Local{})) + uint(unsafe.Sizeof(Local{})-64)

// Reach says whether a rank may access some bytes of a part.
type Reach int32

// What keeps a rank from an access.
const (
	Reached  Reach = iota // nothing does
	NoTarget              // there is no such rank
	NoEpoch               // no epoch is open for its part
	Outside               // the part has no such bytes
)

// OpenFor reports, as Reached, that there is a target and an epoch is open for it.
func (l *Local) OpenFor(targets []Target, target int64) Reach {
	if target < 0 || target >= int64(len(targets)) {
		return NoTarget
	}
	held := atomic.LoadInt32(&targets[target].held)
	if held == Shared || held == Exclusive || atomic.LoadInt32(&l.everywhere) == Shared || atomic.LoadInt32(&l.fence) != Unfenced {
		return Reached
	}
	return NoEpoch
}

// Reach reports whether this rank may access some bytes of a target's part. If so, it uses the epoch of the last fence. Code
// outside Go decides by itself where nothing is wrong (numpybridge/protocol.h), and decides the same.
func (l *Local) Reach(targets []Target, target, offset, bytes int64) Reach {
	if reach := l.OpenFor(targets, target); reach != Reached {
		return reach
	}
	if size := targets[target].bytes; offset < 0 || offset > size || bytes < 0 || bytes > size-offset {
		return Outside
	}
	atomic.CompareAndSwapInt32(&l.fence, Fenced, FenceUsed)
	return Reached
}

// locals has each Local that no window uses.
var locals memory.Fixed[Local]

// prepare begins the life of a window that is not open yet. It leaves users alone: whoever looks late at what the Local was
// before counts itself there for a moment.
func (l *Local) prepare(rank, size int, targets uint64) {
	l.rank, l.size, l.targets = int32(rank), int32(size), targets
	l.fence, l.everywhere, l.direct = Unfenced, Unlocked, 0
}

// enter is called before each use of the window, and leave after it where the answer was yes.
func (l *Local) enter() bool {
	atomic.AddInt32(&l.users, 1)
	if atomic.LoadInt32(&l.open) != 0 {
		return true
	}
	l.leave()
	return false
}

func (l *Local) leave() { atomic.AddInt32(&l.users, -1) }

// end returns when nobody uses the window any more.
func (l *Local) end() {
	atomic.StoreInt64(&l.owner, 0)
	atomic.StoreInt32(&l.open, 0)
	for tries := 0; atomic.LoadInt32(&l.users) != 0; tries++ {
		if tries < 100 {
			runtime.Gosched()
		} else {
			time.Sleep(50 * time.Microsecond)
		}
	}
}
