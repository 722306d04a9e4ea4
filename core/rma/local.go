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
	unfenced int32 = iota // there was none, or locks came after it
	fenced                // nobody has used the epoch that it opened
	used
)

// target is what this rank knows of another's part.
type target struct {
	addr  uint64 // in this process; 0: elsewhere
	bytes int64
	guard uint64 // the address of what those take who combine elements there
	held  int32  // how this rank has locked it
	_     int32
}

// How a rank has locked a part.
const (
	unlocked int32 = iota
	shared
	exclusive
	wanted // it waits
	ending // it waits for the accesses, and unlocks
)

// LocalBytes and TargetBytes are for code outside Go that looks there.
const (
	LocalBytes  = unsafe.Sizeof(Local{})
	TargetBytes = unsafe.Sizeof(target{})
)

// A Local is a whole cache line.
const _ = uint(64-LocalBytes) + uint(LocalBytes-64)

// locals are those that no window has.
var locals memory.Fixed[Local]

// prepare begins the life of a window that is not open yet. It leaves users alone: whoever looks late at what the Local was
// before counts itself there for a moment.
func (l *Local) prepare(rank, size int, targets uint64) {
	l.rank, l.size, l.targets = int32(rank), int32(size), targets
	l.fence, l.everywhere, l.direct = unfenced, unlocked, 0
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
