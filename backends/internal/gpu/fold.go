package gpu

import (
	"math"
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

// room is how many partials there are: those of most threads, and those that they are merged to.
const room = mostThreads + mostThreads/eachThread

// threadsFor returns how many threads make partials of so many elements.
func threadsFor(n int) int {
	blocks := (n + eachThread*blockThreads - 1) / (eachThread * blockThreads)
	return max(1, min(blocks, mostThreads/blockThreads)) * blockThreads
}

// Fold queues kernels of kernels/reductions.c, and waits for what they make.
func (q *queue) Fold(r backend.Reduction, a, b memory.Span) (found [][4]int64, err error) {
	k := &q.on.kernels
	first, err := k.named(q.on.driven, "reductions", r.Name+"_"+r.Type.String())
	if err != nil || a.Count == 0 {
		return nil, err
	}
	merge, err := k.named(q.on.driven, "reductions", "merge_"+r.Merge)
	if err != nil {
		return nil, err
	}
	err = q.scratch(room*partialBytes, func(made memory.Block) (err error) {
		found, err = q.partials(made.Addr, first, merge, []uint64{
			word(made.Addr), word(a.Addr), word(b.Addr), uint64(a.Count), math.Float64bits(r.Number), 0,
		})
		return err
	})
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
