package gpu

import (
	"math"
	"sync"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/memory"
)

// How many elements or partials a thread takes, how many threads there are at most, and how many partials the host merges.
const (
	eachThread  = 16
	mostThreads = 1 << 17
	fewPartials = 512
)

const partialBytes = 32

// partials is memory of a device that reductions leave their partials in: one after the other, each until the host has read its last
// ones. It is made when it is first needed.
type partials struct {
	mu sync.Mutex
	at unsafe.Pointer
}

// room is how many partials there are: those of most threads, and those that they are merged to.
const room = mostThreads + mostThreads/eachThread

// ready makes the memory. The caller holds the lock.
func (p *partials) ready(on *device) (err error) {
	if p.at == nil {
		p.at, err = on.own.take(class{room * partialBytes, anyStream})
	}
	return err
}

// trim frees the memory, unless a reduction is under way.
func (p *partials) trim(on *device) error {
	if !p.mu.TryLock() {
		return nil
	}
	defer p.mu.Unlock()
	if p.at == nil {
		return nil
	}
	err := on.release(p.at)
	if err == nil {
		p.at = nil
	}
	return err
}

// threadsFor returns how many threads make partials of so many elements.
func threadsFor(n int) int {
	blocks := (n + eachThread*blockThreads - 1) / (eachThread * blockThreads)
	return max(1, min(blocks, mostThreads/blockThreads)) * blockThreads
}

// Fold queues kernels of kernels/reductions.c, and waits for what they make.
func (q *queue) Fold(r backend.Reduction, a, b memory.Span) ([][4]int64, error) {
	k := &q.on.kernels
	first, err := k.named(q.on.driven, "reductions", r.Name+"_"+r.Type.String())
	if err != nil || a.Count == 0 {
		return nil, err
	}
	merge, err := k.named(q.on.driven, "reductions", "merge_"+r.Merge)
	if err != nil {
		return nil, err
	}
	p := &q.on.partials
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.ready(q.on); err != nil {
		return nil, err
	}
	found, err := q.partials(p.at, first, merge, []uint64{
		uint64(uintptr(p.at)), uint64(uintptr(a.Addr)), uint64(uintptr(b.Addr)), uint64(a.Count), math.Float64bits(r.Number), 0,
	})
	if err != nil {
		_ = q.Synchronize() // what is queued still writes there; the error to report is the first
	}
	return found, err
}

// partials queues a kernel that makes partials at an address, and others that merge them until they are few, and returns these.
func (q *queue) partials(at unsafe.Pointer, first, merge uintptr, words []uint64) ([][4]int64, error) {
	other, n := unsafe.Add(at, mostThreads*partialBytes), threadsFor(int(words[3]))
	if err := q.on.launch(q.stream, first, n/blockThreads, blockThreads, words); err != nil {
		return nil, err
	}
	for n > fewPartials {
		fewer := (n + eachThread - 1) / eachThread
		words := []uint64{uint64(uintptr(other)), uint64(uintptr(at)), 0, uint64(n), 0, eachThread}
		if err := q.on.launch(q.stream, merge, (fewer+blockThreads-1)/blockThreads, blockThreads, words); err != nil {
			return nil, err
		}
		at, other, n = other, at, fewer
	}
	found := make([][4]int64, n)
	bytes := memory.Span{Addr: at, Count: n * partialBytes, Type: dtype.Uint8, Place: q.on.own.place}
	return found, q.Copy(memory.Span{Addr: unsafe.Pointer(&found[0]), Count: bytes.Count, Type: dtype.Uint8}, bytes)
}
