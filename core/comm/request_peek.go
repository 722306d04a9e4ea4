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

// A program that computes beside a request asks again and again whether it is over, and the way into Go takes several
// times as long as MPI's answer. So code outside Go may ask MPI by itself, and come here when the answer is not that
// the operation is under way. It comes every so often all the same: there is more to a request than what MPI knows.

// sight is what such code sees of a request.
type sight struct {
	owner  int64  // a number of the owner's; 0: nobody's
	peek   uint64 // the address of a C function
	native uint64 // what the request waits for, as that knows it; 0: ask Go
	turn   uint32 // 1 while somebody is at the request: who is outside Go does not wait for it
	_      [36]byte
}

// SightBytes is for code outside Go that looks there.
const SightBytes = unsafe.Sizeof(sight{})

// sights are those that no request has.
var sights memory.Fixed[sight]

// Lend returns where the request is to be looked at, for code that knows it by a number; nil where there is no such place,
// or where not every thread may make calls.
func (r *Request) Lend(owner int64) unsafe.Pointer {
	if progress.Limited() || r.comm.engine.Mode == progress.ByCalls || !r.try() {
		return nil
	}
	defer r.unlock()
	if r.sight == nil {
		if _, ok := r.wait.(backend.NativeRequest); !ok {
			return nil
		}
		s, err := sights.Get()
		if err != nil { // there need not be one
			return nil
		}
		s.take()
		r.sight = s
	}
	atomic.StoreInt64(&r.sight.owner, owner)
	return unsafe.Pointer(r.sight)
}

// lock takes the request for whoever goes on with it.
func (r *Request) lock() {
	r.mu.Lock()
	r.sight.take()
}

func (r *Request) tryLock() bool {
	if !r.mu.TryLock() {
		return false
	}
	r.sight.take()
	return true
}

func (r *Request) unlock() {
	if s := r.sight; s != nil {
		s.native = 0
		if native, ok := r.wait.(backend.NativeRequest); ok && r.state == underWay {
			number, peek := native.Native()
			s.native, s.peek = number, uint64(peek)
		}
		s.leave()
	}
	r.mu.Unlock()
}

// withdraw lets another request have the sight. The caller holds the lock.
func (r *Request) withdraw() {
	if s := r.sight; s != nil {
		r.sight = nil
		atomic.StoreInt64(&s.owner, 0)
		s.native = 0
		s.leave()
		sights.Put(s)
	}
}

// take waits for whoever looks outside Go, which takes one call of MPI.
func (s *sight) take() {
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

func (s *sight) leave() { atomic.StoreUint32(&s.turn, 0) }
