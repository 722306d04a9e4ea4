package shmem

import (
	"bytes"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// window is memory of each rank. What lies in the symmetric heap is reached by the library (direct.go); what lies
// elsewhere, no other process can reach, so its owner is asked (orders.go), and does it whenever it is in a call.
type window struct {
	comm    *Comm // of its own
	own     memory.Span
	parts   []exposed // by rank
	lock    memory.Block
	closed  bool
	waiting []int // orders under way, by rank

	elements []complex128 // two, in which atomic operations compute, under the world's lock; C sees them
}

var _ backend.Window = (*window)(nil)

// exposed says where a rank's memory and lock are in the symmetric memory; at is negative where it is not there.
type exposed struct{ at, lock int }

// Expose opens mem to every rank. Collective.
func (c *Comm) Expose(mem memory.Span) (backend.Window, error) {
	dup, err := c.Dup()
	if err != nil {
		return nil, err
	}
	own := dup.(*Comm)
	w := &window{comm: own, own: mem.Raw(), parts: make([]exposed, c.Size()), waiting: make([]int, c.Size()), elements: make([]complex128, 2)}
	mine := []int64{-1, 0}
	space := c.world.space
	if at, inside := space.place(mem.Addr, mem.Bytes()); inside {
		if w.lock, err = space.Allocate(word, line); err == nil { // else its owner is asked
			mine[0] = int64(at)
			at, _ = space.place(w.lock.Addr, word)
			mine[1] = int64(at)
		}
	}
	of := make([]int64, 2*c.Size())
	if err := own.Allgather(memory.Of(dtype.Int64, mine), memory.Of(dtype.Int64, of)); err != nil {
		return nil, err
	}
	for rank := range w.parts {
		w.parts[rank] = exposed{int(of[2*rank]), int(of[2*rank+1])}
	}
	world := c.world
	world.mu.Lock()
	world.windows[own.number] = w
	world.mu.Unlock()
	return w, own.Barrier() // nobody reaches for it before all know it
}

// direct reports whether the library reaches a rank's memory.
func (w *window) direct(target int) bool { return w.parts[target].at >= 0 }

// Put writes from to the target.
func (w *window) Put(from memory.Span, target int, offset int64) error {
	if from.Count == 0 {
		return nil
	}
	world := w.comm.world
	world.lock()
	defer world.mu.Unlock()
	if w.direct(target) {
		world.beginPut(w.comm.members[target], w.parts[target].at+int(offset), from.Addr, from.Bytes())
		return nil
	}
	w.ask(from, memory.Span{Type: from.Type}, target, offset, kernel.Replace, false)
	return nil
}

// Get reads into from the target.
func (w *window) Get(into memory.Span, target int, offset int64) error {
	if into.Count == 0 {
		return nil
	}
	world := w.comm.world
	world.lock()
	defer world.mu.Unlock()
	if w.direct(target) {
		world.beginGet(w.comm.members[target], w.parts[target].at+int(offset), into.Addr, into.Bytes())
		return nil
	}
	w.ask(memory.Span{Type: into.Type}, into, target, offset, kernel.NoOp, false)
	return nil
}

// Accumulate combines the target's elements with those of from.
func (w *window) Accumulate(from memory.Span, target int, offset int64, op kernel.Op) error {
	return w.combine(from, memory.Span{Type: from.Type}, target, offset, op)
}

// FetchAndOp is Accumulate that gives those elements that were there.
func (w *window) FetchAndOp(from, into memory.Span, target int, offset int64, op kernel.Op) error {
	if err := w.combine(from, into, target, offset, op); err != nil || w.direct(target) {
		return err
	}
	return w.Flush(target)
}

// combine combines the target's elements with those of from, and puts those that were there into into if that has room.
func (w *window) combine(from, into memory.Span, target int, offset int64, op kernel.Op) error {
	if err := op.Check(from.Type); err != nil {
		return err
	}
	if from.Count == 0 && into.Count == 0 {
		return nil
	}
	world := w.comm.world
	world.lock()
	defer world.mu.Unlock()
	if w.direct(target) {
		return w.update(from, into, target, int(offset), op)
	}
	if op == kernel.NoOp {
		from = memory.Span{Type: from.Type}
	}
	w.ask(from, into, target, offset, op, false)
	return nil
}

// CompareAndSwap writes swap's element if the target's is that of compare.
func (w *window) CompareAndSwap(compare, swap, into memory.Span, target int, offset int64) error {
	world := w.comm.world
	world.lock()
	if w.direct(target) {
		defer world.mu.Unlock()
		return w.change(into, target, int(offset), func(was memory.Span) (memory.Span, error) {
			if bytes.Equal(memory.As[byte](was.Raw()), memory.As[byte](compare.Raw())) {
				return swap, nil
			}
			return was, nil
		})
	}
	both := room(memory.Span{Count: 2, Type: swap.Type})
	memory.Copy(both.Slice(0, 1), compare)
	memory.Copy(both.Slice(1, 2), swap)
	w.ask(both, into, target, offset, kernel.Replace, true)
	world.mu.Unlock()
	return w.Flush(target)
}

// FlushLocal is Flush.
func (w *window) FlushLocal(target int) error { return w.Flush(target) }

// Flush returns when what was begun towards a target, or all, has happened.
func (w *window) Flush(target int) error {
	world := w.comm.world
	world.lock()
	world.quiet()
	world.mu.Unlock()
	for look := 0; ; look++ {
		world.lock()
		left := w.left(target)
		if left > 0 {
			world.turn()
			left = w.left(target)
		}
		world.mu.Unlock()
		if left == 0 {
			return nil
		}
		world.pause(look)
	}
}

// left returns how many orders are under way. The caller holds the world's lock.
func (w *window) left(target int) (n int) {
	if target != backend.Every {
		return w.waiting[target]
	}
	for _, more := range w.waiting {
		n += more
	}
	return n
}

// Sync moves what others have ordered of this rank, and what it has written itself.
func (w *window) Sync() error {
	world := w.comm.world
	world.lock()
	defer world.mu.Unlock()
	world.turn()
	world.quiet()
	return nil
}

// Close waits for the other ranks, after which nobody reaches for this one's memory. A second Close does nothing.
// Collective.
func (w *window) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	if err := w.Flush(backend.Every); err != nil {
		return err
	}
	if err := w.comm.Barrier(); err != nil {
		return err
	}
	world := w.comm.world
	world.mu.Lock()
	delete(world.windows, w.comm.number)
	world.mu.Unlock()
	if w.lock.Addr != nil {
		world.space.Deallocate(w.lock)
	}
	return w.comm.Close()
}
