package rma

import (
	"bytes"
	"sync"
	"sync/atomic"

	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/kernel"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
)

// combinesUnderLock reports whether a window of the backend takes locks of its own for what combines elements.
func combinesUnderLock(w backend.Window) bool {
	l, ok := w.(backend.LockingWindow)
	return ok && l.CombinesUnderLock()
}

// putsBesideSwaps reports whether a byte may be put into a word of a window of the backend while swaps there fail.
func putsBesideSwaps(w backend.Window) bool {
	l, ok := w.(backend.LockingWindow)
	return ok && l.PutsBesideSwaps()
}

// far reaches parts by the backend, and flushes only what there is to flush: some libraries send a message for that and wait
// for the answer. A fetch is over when it returns. Parts of ranks on this rank's node are copied to and from without the
// backend, where the kernel lets it; what is combined or swapped there goes by the backend, which is atomic with what comes of
// other nodes, unless this rank has locked the part alone.
type far struct {
	backend.Window
	comm           *comm.Comm
	swaps          bool            // to swap takes fewer messages than to fetch
	targets        []Target        // which of them this rank has locked alone
	combining      sync.Mutex      // threads of this rank that combine elements in ways that are not atomic
	last           fetched         // guarded by combining
	away           []uint64        // by rank: where a part that is copied lies in its process; 0: the backend reaches it
	begun, flushed []atomic.Uint64 // how many accesses have begun towards each target, and how many of them are over
}

// fetched is what this rank last left of an element of at most eight bytes, which it had locked alone.
type fetched struct {
	target int
	offset int64
	bytes  [8]byte
}

// newFar returns what reaches the parts of w, whose ranks have told each other where they lie.
func newFar(w backend.Window, c *comm.Comm, targets []Target, all []comm.Shared) *far {
	f := &far{Window: w, comm: c, swaps: combinesUnderLock(w), targets: targets,
		away: make([]uint64, len(all)), begun: make([]atomic.Uint64, len(all)), flushed: make([]atomic.Uint64, len(all))}
	b, own := c.BoardWith(c.Rank())
	reads := b != nil && b.Reads(own) // the memory of the others on this node
	for rank, said := range all {
		if with, _ := c.BoardWith(rank); with != nil && (reads || rank == c.Rank()) {
			f.away[rank] = uint64(said[sharedAddress])
		}
	}
	return f
}

// begin notes an access that has begun, whether or not it has failed.
func (f *far) begin(target int, err error) error {
	f.begun[target].Add(1)
	return err
}

// Put starts to write from to the target.
func (f *far) Put(from memory.Span, target int, offset int64) error {
	if at := f.away[target]; at != 0 {
		return f.write(from, target, at+uint64(offset))
	}
	return f.begin(target, f.Window.Put(from, target, offset))
}

// Get starts to read into from the target.
func (f *far) Get(into memory.Span, target int, offset int64) error {
	if at := f.away[target]; at != 0 {
		return f.read(into, target, at+uint64(offset))
	}
	return f.begin(target, f.Window.Get(into, target, offset))
}

// read copies from an address in the process of a rank on this node, and write to it.
func (f *far) read(into memory.Span, target int, addr uint64) error {
	if target == f.comm.Rank() {
		memory.Move(into.Addr, pointer(addr), into.Bytes())
		return nil
	}
	b, place := f.comm.BoardWith(target)
	return b.Read(place, into.Addr, addr, into.Bytes())
}

func (f *far) write(from memory.Span, target int, addr uint64) error {
	if target == f.comm.Rank() {
		memory.Move(pointer(addr), from.Addr, from.Bytes())
		return nil
	}
	b, place := f.comm.BoardWith(target)
	return b.Write(place, from.Addr, addr, from.Bytes())
}

// alone reports whether this rank has locked a target's part alone, so that nobody else changes it.
func (f *far) alone(target int) bool { return atomic.LoadInt32(&f.targets[target].held) == Exclusive }

// Accumulate starts to combine the target's elements with those of from.
func (f *far) Accumulate(from memory.Span, target int, offset int64, op kernel.Op) error {
	if f.takesTurns(target) {
		f.combining.Lock()
		defer f.combining.Unlock()
		if f.away[target] != 0 && f.alone(target) {
			return f.update(from, memory.Scratch(from), target, offset, op)
		}
	}
	return f.begin(target, f.Window.Accumulate(from, target, offset, op))
}

// FetchAndOp combines, and fetches what was there. Of a part that this rank has locked alone it swaps an element, where that
// takes fewer messages, or copies the elements here and back, where the backend is not needed for that: nobody else changes
// them meanwhile but this rank's threads, which take turns.
func (f *far) FetchAndOp(from, into memory.Span, target int, offset int64, op kernel.Op) error {
	if !f.takesTurns(target) {
		return f.Window.FetchAndOp(from, into, target, offset, op)
	}
	f.combining.Lock()
	defer f.combining.Unlock()
	switch {
	case !f.alone(target):
	case f.away[target] != 0:
		return f.update(from, into, target, offset, op)
	case f.swaps && into.Count == 1 && into.Type.Size() <= 8 && (op == kernel.Sum || op == kernel.Replace):
		return f.swapIn(from, into, target, offset, op)
	}
	return f.Window.FetchAndOp(from, into, target, offset, op)
}

// CompareAndSwap writes swap's element if the target's is that of compare.
func (f *far) CompareAndSwap(compare, swap, into memory.Span, target int, offset int64) error {
	if f.away[target] != 0 {
		f.combining.Lock()
		defer f.combining.Unlock()
		if f.alone(target) {
			at := f.away[target] + uint64(offset)
			err := f.read(into, target, at)
			if err == nil && bytes.Equal(memory.As[byte](into.Raw()), memory.As[byte](compare.Raw())) {
				err = f.write(swap, target, at)
			}
			return err
		}
	}
	return f.Window.CompareAndSwap(compare, swap, into, target, offset)
}

// takesTurns reports whether this rank's threads take turns to combine elements of a target's part.
func (f *far) takesTurns(target int) bool { return f.swaps || f.away[target] != 0 }

// update combines elements on this node with those of from, and reads into into what was there.
func (f *far) update(from, into memory.Span, target int, offset int64, op kernel.Op) error {
	if into.Count == 0 {
		return nil
	}
	at := f.away[target] + uint64(offset)
	if err := f.read(into, target, at); err != nil || op == kernel.NoOp {
		return err
	}
	next := memory.Scratch(into)
	memory.Copy(next, into)
	if err := reduce.Update(next, from, op); err != nil {
		return err
	}
	return f.write(next, target, at)
}

// swapIn swaps an element for what an operator makes of it and from. It first tries the value that this rank has left there:
// if that is still there, one message is enough. What this rank has begun to combine comes first.
func (f *far) swapIn(from, into memory.Span, target int, offset int64, op kernel.Op) error {
	if f.begun[target].Load() != f.flushed[target].Load() {
		if err := f.flush(target); err != nil {
			return err
		}
	}
	next, seen := memory.Scratch(into), memory.Scratch(into)
	was, will, found := memory.As[byte](into.Raw()), memory.As[byte](next.Raw()), memory.As[byte](seen.Raw())
	clear(was)
	if f.last.target == target && f.last.offset == offset {
		copy(was, f.last.bytes[:])
	}
	for {
		memory.Copy(next, into)
		if err := reduce.Update(next, from, op); err != nil {
			return err
		}
		if err := f.Window.CompareAndSwap(into, next, seen, target, offset); err != nil {
			return err
		}
		if bytes.Equal(found, was) {
			f.last = fetched{target: target, offset: offset}
			copy(f.last.bytes[:], will)
			return nil
		}
		copy(was, found)
	}
}

// Flush returns when what was begun towards target has happened there.
func (f *far) Flush(target int) error {
	if target == backend.Every {
		return f.flushAll()
	}
	if f.takesTurns(target) { // other threads end what they combine here: a lock may be given back after this
		f.combining.Lock()
		defer f.combining.Unlock()
	}
	return f.flush(target)
}

func (f *far) flush(target int) error {
	begun := f.begun[target].Load()
	if begun == f.flushed[target].Load() && target != f.comm.Rank() { // this rank's processor may have something to do
		return nil
	}
	err := f.Window.Flush(target)
	if err == nil {
		f.over(target, begun)
	}
	return err
}

func (f *far) flushAll() error {
	begun := make([]uint64, len(f.begun))
	for target := range begun {
		begun[target] = f.begun[target].Load()
	}
	err := f.Window.Flush(backend.Every)
	if err == nil {
		for target, n := range begun {
			f.over(target, n)
		}
	}
	return err
}

// over notes that so many accesses towards a target are over.
func (f *far) over(target int, n uint64) {
	for {
		known := f.flushed[target].Load()
		if known >= n || f.flushed[target].CompareAndSwap(known, n) {
			return
		}
	}
}
