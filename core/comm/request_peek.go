package comm

import (
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/progress"
)

// A program that computes beside a request tests again and again whether it is complete. A call into Go takes several times as
// long as MPI's answer. So code outside Go may peek at the request: it asks MPI itself, and calls Go only if the answer is not
// that the operation is under way. Every so often it calls Go all the same, because MPI does not know all that a request does.

// requestPeek is the part of a request that code outside Go reads.
type requestPeek struct {
	owner  int64  // a number of the owner; 0: none
	test   uint64 // the address of the C function that asks MPI
	native uint64 // what the request waits for, as that knows it; 0: ask Go
	turn   uint32 // 1 while a thread uses the request: code outside Go does not wait for this
	_      [36]byte
}

// freePeeks has each requestPeek that no request uses. Code outside Go may look at one late, so their memory is never released.
var freePeeks memory.Fixed[requestPeek]

// OpenPeek returns the requestPeek of a request, for code that knows the request by a number. It returns nil if there is none,
// or if not every thread may make calls.
func (r *Request) OpenPeek(owner int64) unsafe.Pointer {
	if progress.Limited() || r.comm.engine.Mode == progress.ByCalls || !r.try() {
		return nil
	}
	defer r.unlock()
	if r.peek == nil {
		if _, ok := r.wait.(backend.NativeRequest); !ok {
			return nil
		}
		s, err := freePeeks.Get()
		if err != nil { // there need not be one
			return nil
		}
		s.take()
		r.peek = s
	}
	atomic.StoreInt64(&r.peek.owner, owner)
	return unsafe.Pointer(r.peek)
}

// lock takes the request for a goroutine that continues it.
func (r *Request) lock() {
	r.mu.Lock()
	r.peek.take()
}

func (r *Request) tryLock() bool {
	if !r.mu.TryLock() {
		return false
	}
	r.peek.take()
	return true
}

func (r *Request) unlock() {
	if s := r.peek; s != nil {
		s.native = 0
		if native, ok := r.wait.(backend.NativeRequest); ok && r.state == underWay {
			number, test := native.Native()
			s.native, s.test = number, uint64(test)
		}
		s.leave()
	}
	r.mu.Unlock()
}

// closePeek lets another request have the memory of the peek. The caller holds the lock.
func (r *Request) closePeek() {
	if s := r.peek; s != nil {
		r.peek = nil
		atomic.StoreInt64(&s.owner, 0)
		s.native = 0
		s.leave()
		freePeeks.Put(s)
	}
}

// take waits for code outside Go that looks at the request, which takes one call of MPI.
func (s *requestPeek) take() {
	if s == nil {
		return
	}
	for tries := 0; !atomic.CompareAndSwapUint32(&s.turn, 0, 1); tries++ {
		if tries < 100 {
			runtime.Gosched()
		} else {
			time.Sleep(50 * time.Microsecond)
		}
	}
}

func (s *requestPeek) leave() { atomic.StoreUint32(&s.turn, 0) }
