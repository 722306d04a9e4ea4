// Package window opens memory of each rank to the others. The library accesses memory in the symmetric heap directly
// (atomics.go). No other process can access memory elsewhere, so its owner is asked (active.go), and does it whenever
// it is in a call.
package window

import (
	"bytes"
	"unsafe"

	"dtl/backends/internal/symmetric/transport"
	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// Group is what a window asks of its communicator, which no other traffic uses.
type Group interface {
	Size() int
	// Process returns the process of a rank.
	Process(rank int) int
	// Number returns one that no other communicator has that shares a process with this one.
	Number() uint32
	Allgather(send, recv memory.Span) error
	Barrier() error
	Close() error
}

// Symmetric is the symmetric heap.
type Symmetric interface {
	memory.Allocator
	// Place returns the offset in the symmetric memory of n bytes, and whether they lie in the heap.
	Place(p unsafe.Pointer, n int) (offset int, inside bool)
}

// Window is memory of each rank.
type Window struct {
	active  *Active
	heap    Symmetric
	group   Group
	own     memory.Span
	parts   []exposed // by rank
	lock    memory.Block
	closed  bool
	waiting []int // requests without a reply, by rank

	elements []complex128 // two, in which atomic operations compute, under the engine's lock; C sees them
}

var _ backend.Window = (*Window)(nil)

// exposed says where a rank's memory and lock are in the symmetric memory; at is negative where it is not there.
type exposed struct{ at, lock int }

// Open opens mem to every rank of a group. Collective.
func Open(a *Active, heap Symmetric, group Group, mem memory.Span) (*Window, error) {
	n := group.Size()
	w := &Window{
		active: a, heap: heap, group: group, own: mem.Raw(), parts: make([]exposed, n), waiting: make([]int, n),
		elements: make([]complex128, 2),
	}
	mine := []int64{-1, 0}
	if at, inside := heap.Place(mem.Addr, mem.Bytes()); inside {
		if lock, err := heap.Allocate(word, transport.CacheLine); err == nil { // else its owner is asked
			w.lock = lock
			mine[0] = int64(at)
			at, _ = heap.Place(lock.Addr, word)
			mine[1] = int64(at)
		}
	}
	of := make([]int64, 2*n)
	if err := group.Allgather(memory.Of(dtype.Int64, mine), memory.Of(dtype.Int64, of)); err != nil {
		return nil, err
	}
	for rank := range w.parts {
		w.parts[rank] = exposed{int(of[2*rank]), int(of[2*rank+1])}
	}
	a.engine.Guard(func() { a.windows[group.Number()] = w })
	return w, group.Barrier() // nobody reaches for it before all know it
}

// Direct reports whether the library reaches a rank's memory.
func (w *Window) Direct(target int) bool { return w.parts[target].at >= 0 }

// Put writes from to the target.
func (w *Window) Put(from memory.Span, target int, offset int64) error {
	return w.move(from, memory.Span{Type: from.Type}, target, offset, kernel.Replace)
}

// Get reads into from the target.
func (w *Window) Get(into memory.Span, target int, offset int64) error {
	return w.move(memory.Span{Type: into.Type}, into, target, offset, kernel.NoOp)
}

// move begins to write from to the target, or to read into from it: the one of them that has elements.
func (w *Window) move(from, into memory.Span, target int, offset int64, op kernel.Op) error {
	if from.Count == 0 && into.Count == 0 {
		return nil
	}
	e := w.active.engine
	e.Lock()
	defer e.Unlock()
	there, at := w.group.Process(target), w.parts[target].at+int(offset)
	switch {
	case !w.Direct(target):
		w.request(from, into, target, offset, op, false)
	case from.Count > 0:
		e.BeginPut(there, at, from.Addr, from.Bytes())
	default:
		e.BeginGet(there, at, into.Addr, into.Bytes())
	}
	return nil
}

// Accumulate combines the target's elements with those of from.
func (w *Window) Accumulate(from memory.Span, target int, offset int64, op kernel.Op) error {
	return w.combine(from, memory.Span{Type: from.Type}, target, offset, op)
}

// FetchAndOp is Accumulate that gives those elements that were there.
func (w *Window) FetchAndOp(from, into memory.Span, target int, offset int64, op kernel.Op) error {
	if err := w.combine(from, into, target, offset, op); err != nil || w.Direct(target) {
		return err
	}
	return w.Flush(target)
}

// combine combines the target's elements with those of from, and puts those that were there into into if that has room.
func (w *Window) combine(from, into memory.Span, target int, offset int64, op kernel.Op) error {
	if err := op.Check(from.Type); err != nil {
		return err
	}
	if from.Count == 0 && into.Count == 0 {
		return nil
	}
	e := w.active.engine
	e.Lock()
	defer e.Unlock()
	if w.Direct(target) {
		return w.update(from, into, target, int(offset), op)
	}
	if op == kernel.NoOp {
		from = memory.Span{Type: from.Type}
	}
	w.request(from, into, target, offset, op, false)
	return nil
}

// CompareAndSwap writes swap's element if the target's is that of compare.
func (w *Window) CompareAndSwap(compare, swap, into memory.Span, target int, offset int64) error {
	e := w.active.engine
	e.Lock()
	if w.Direct(target) {
		defer e.Unlock()
		return w.change(into, target, int(offset), func(was memory.Span) (memory.Span, error) {
			if bytes.Equal(memory.As[byte](was.Raw()), memory.As[byte](compare.Raw())) {
				return swap, nil
			}
			return was, nil
		})
	}
	both := memory.Scratch(memory.Span{Count: 2, Type: swap.Type})
	memory.Copy(both.Slice(0, 1), compare)
	memory.Copy(both.Slice(1, 2), swap)
	w.request(both, into, target, offset, kernel.Replace, true)
	e.Unlock()
	return w.Flush(target)
}

// FlushLocal is Flush.
func (w *Window) FlushLocal(target int) error { return w.Flush(target) }

// Flush returns when what was begun towards a target, or all, has happened.
func (w *Window) Flush(target int) error {
	e := w.active.engine
	e.Lock()
	e.Quiet()
	e.Unlock()
	for look := 0; ; look++ {
		e.Lock()
		left := w.left(target)
		if left > 0 {
			e.Progress()
			left = w.left(target)
		}
		e.Unlock()
		if left == 0 {
			return nil
		}
		e.Pause(look)
	}
}

// left returns how many requests have no reply. The caller holds the engine's lock.
func (w *Window) left(target int) (n int) {
	if target != backend.Every {
		return w.waiting[target]
	}
	for _, more := range w.waiting {
		n += more
	}
	return n
}

// Sync does what others have asked of this rank, and completes what it has written itself.
func (w *Window) Sync() error {
	e := w.active.engine
	e.Lock()
	defer e.Unlock()
	e.Progress()
	e.Quiet()
	return nil
}

// Close waits for the other ranks, after which nobody reaches for this one's memory. A second Close does nothing.
// Collective.
func (w *Window) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	if err := w.Flush(backend.Every); err != nil {
		return err
	}
	if err := w.group.Barrier(); err != nil {
		return err
	}
	w.active.engine.Guard(func() { delete(w.active.windows, w.group.Number()) })
	if w.lock.Addr != nil {
		w.heap.Deallocate(w.lock)
	}
	return w.group.Close()
}
