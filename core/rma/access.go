package rma

import (
	"sync/atomic"

	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// using calls f, which is an operation on an open window.
func (w *Window) using(op string, f func() error) error {
	if !w.local.enter() {
		return status.In(op, closed())
	}
	defer w.local.leave()
	return status.In(op, f())
}

// named returns the name of a call on one part, or on all.
func named(op string, target int64) string {
	if target == backend.Every {
		return op + "_all"
	}
	return op
}

func closed() error { return status.New(status.InvalidHandle, "the window is closed") }

// checkTarget returns the error of a target that is none.
func (w *Window) checkTarget(target int64) error {
	if target < 0 || target >= int64(len(w.targets)) {
		return status.New(status.OutOfBounds, "target %d outside [0, %d)", target, len(w.targets))
	}
	return nil
}

func noEpoch(target int64) error {
	return status.New(status.InvalidArgument, "no epoch is open for rank %d's part; call fence on every rank, or lock it first",
		target)
}

// checkEpoch returns the error of a target that is none, or for whose part no epoch is open.
func (w *Window) checkEpoch(target int64) error {
	if w.local.OpenFor(w.targets, target) == NoEpoch {
		return noEpoch(target)
	}
	return w.checkTarget(target)
}

// access calls f, which accesses some bytes of a target's part.
func (w *Window) access(op string, target, offset int64, bytes int, f func() error) error {
	return w.using(op, func() error {
		switch w.local.Reach(w.targets, target, offset, int64(bytes)) {
		case NoTarget:
			return w.checkTarget(target)
		case NoEpoch:
			return noEpoch(target)
		case Outside:
			return status.New(status.OutOfBounds, "%d bytes at offset %d outside [0, %d), which is rank %d's part",
				bytes, offset, w.targets[target].bytes, target)
		}
		return f()
	})
}

// Put writes elements to a target's part, from an offset in bytes on. The elements stay untouched until a flush or the
// epoch's end. With an epoch.
func (w *Window) Put(from memory.Span, target, offset int64) error {
	return w.put("rma_put", from, target, offset)
}

func (w *Window) put(op string, from memory.Span, target, offset int64) error {
	return w.access(op, target, offset, from.Bytes(), func() error {
		return w.reach.Put(from, int(target), offset)
	})
}

// Get reads elements of a target's part. They are there after a flush or the epoch's end. With an epoch.
func (w *Window) Get(into memory.Span, target, offset int64) error {
	return w.get("rma_get", into, target, offset)
}

func (w *Window) get(op string, into memory.Span, target, offset int64) error {
	return w.access(op, target, offset, into.Bytes(), func() error {
		return w.reach.Get(into, int(target), offset)
	})
}

// Accumulate combines a target's elements with those of from. All calls that combine or swap are atomic among
// themselves, element by element. With an epoch.
func (w *Window) Accumulate(from memory.Span, target, offset int64, op kernel.Op) error {
	return w.atomically("rma_accumulate", from, target, offset, op, func() error {
		return w.reach.Accumulate(from, int(target), offset, op)
	})
}

// FetchAndOp is Accumulate that puts the elements that were there into into, as many as in from. With an epoch.
func (w *Window) FetchAndOp(from, into memory.Span, target, offset int64, op kernel.Op) error {
	return w.atomically("rma_fetch_and_op", from, target, offset, op, func() error {
		if into.Type != from.Type || into.Count != from.Count {
			return status.New(status.InvalidArgument, "%d elements of %s come, but there is room for %d of %s",
				from.Count, from.Type, into.Count, into.Type)
		}
		return w.reach.FetchAndOp(from, into, int(target), offset, op)
	})
}

// CompareAndSwap writes swap's element if the target's equals that of compare, bit for bit, and puts the one that was
// there into into. With an epoch.
func (w *Window) CompareAndSwap(compare, swap, into memory.Span, target, offset int64) error {
	return w.atomically("rma_compare_and_swap", compare, target, offset, kernel.Replace, func() error {
		if compare.Count != 1 || swap.Count != 1 || into.Count != 1 || swap.Type != compare.Type || into.Type != compare.Type {
			return status.New(status.InvalidArgument, "one element is compared and swapped, not %d of %s, %d of %s and %d of %s",
				compare.Count, compare.Type, swap.Count, swap.Type, into.Count, into.Type)
		}
		return w.reach.CompareAndSwap(compare, swap, into, int(target), offset)
	})
}

// atomically is access to elements that are combined: they lie at multiples of their size, or of 8.
func (w *Window) atomically(name string, from memory.Span, target, offset int64, op kernel.Op, f func() error) error {
	return w.access(name, target, offset, from.Bytes(), func() error {
		if err := op.Check(from.Type); err != nil {
			return err
		}
		if grain := int64(min(from.Type.Size(), 8)); offset%grain != 0 {
			return status.New(status.InvalidArgument, "offset %d is no multiple of %d, where elements of %s lie",
				offset, grain, from.Type)
		}
		return f()
	})
}

// Flush returns when what this rank has begun towards a target, or Every, has happened there; or, locally, when its
// elements may be used again, and those it gets are there. With an epoch.
func (w *Window) Flush(target int64, locally bool) error {
	op := named("flush", target)
	if locally {
		op = named("flush_local", target)
	}
	return w.using(op, func() error {
		if target != backend.Every {
			if err := w.checkEpoch(target); err != nil {
				return err
			}
		} else if !w.any() {
			return status.New(status.InvalidArgument, "no epoch is open")
		}
		if locally {
			return w.reach.FlushLocal(int(target))
		}
		return w.reach.Flush(int(target))
	})
}

// any reports whether an epoch is open for any part.
func (w *Window) any() bool {
	for target := range w.targets {
		if w.local.OpenFor(w.targets, int64(target)) == Reached {
			return true
		}
	}
	return false
}

// Sync has this rank see in its part what others have written and completed, and others what it has written there.
func (w *Window) Sync() error { return w.using("sync", w.reach.Sync) }

// Fence ends the epoch that the last fence has begun, and begins one: all ranks may access all parts. What was begun
// before has happened everywhere when it returns. Collective.
func (w *Window) Fence() error {
	return w.using("fence", func() error {
		mine := w.checkUnlocked("fence")
		if mine == nil {
			mine = w.reach.Flush(backend.Every)
		}
		if err := w.comm.Agree(w.call("fence"), mine); err != nil {
			return err
		}
		atomic.StoreInt32(&w.local.fence, Fenced)
		return w.reach.Sync()
	})
}

// call is a collective call on the window.
func (w *Window) call(op string) comm.Call {
	return comm.Call{Op: op, Of: [3]int64{w.id}, On: w}
}

// View returns a rank's part of memory that the window has allocated, as elements of a type, with one more use of the
// memory, which the caller releases.
func (w *Window) View(rank int64, elements memory.Span) (r comm.Result, err error) {
	err = w.using("view", func() error {
		if err := w.checkTarget(rank); err != nil {
			return err
		}
		t := w.targets[rank]
		storage, at, q := w.storage, pointer(t.addr), backend.Queue(nil)
		if lent := w.lent; lent.Storage != nil && rank == int64(w.comm.Rank()) {
			storage, at, q = lent.Storage, lent.Base.Addr, lent.Queue
			elements.Place = lent.Base.Place
		}
		if storage == nil || at == nil && t.bytes > 0 {
			return status.New(status.Unsupported, "rank %d's part is not in this process's memory", rank)
		}
		if size := int64(max(elements.Type.Size(), 1)); t.bytes%size != 0 {
			return status.New(status.InvalidArgument, "rank %d's part of %d bytes is no whole number of %s elements of %d bytes",
				rank, t.bytes, elements.Type, size)
		}
		if err := storage.Retain(); err != nil {
			return err
		}
		elements.Addr, elements.Count = at, int(t.bytes)/elements.Type.Size()
		r = comm.Result{Array: comm.Array{Span: elements, Shape: []int64{int64(elements.Count)}}, Storage: storage, Queue: q}
		return nil
	})
	return r, err
}
