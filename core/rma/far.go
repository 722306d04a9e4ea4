package rma

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
)

// words are the locks of all parts, one a rank.
type words interface {
	load(target int) (uint64, error)
	// swap writes new where old is there, and returns what was.
	swap(target int, old, new uint64) (uint64, error)
	add(target int, delta uint64) error
	// share notes whether this rank has a lock in shared mode, and sharers returns the ranks that have, where that is
	// known.
	share(target int, yes bool)
	sharers(target int) []int
	// ended returns how a rank has ended; "" if it may go on, or that is unknown.
	ended(rank int) string
}

var _, _ words = (*near)(nil), farWords{}

// farWords are locks in memory that the backend opens: a word of each rank.
type farWords struct {
	backend.Window
	comm  *comm.Comm
	swaps bool // to swap takes fewer messages than to add
	// What giving a lock back adds to a word, in memory that stays: nobody waits until it has got there.
	releases []uint64
}

// farSlots is how many words of memory a rank needs for its lock, and for what it adds to those of others.
const farSlots = 3

func newFarWords(w backend.Window, c *comm.Comm, slots []uint64) farWords {
	releases := slots[1:]
	for at, claim := range []uint64{(uint64(c.Rank()) + 1) * writer, reader} {
		releases[at] = -claim
	}
	return farWords{w, c, combinesUnderLock(w), releases}
}

// combinesUnderLock reports whether a window of the backend takes locks of its own for what combines elements.
func combinesUnderLock(w backend.Window) bool {
	l, ok := w.(backend.LockingWindow)
	return ok && l.CombinesUnderLock()
}

func (f farWords) fetch(target int, operand uint64, op kernel.Op) (uint64, error) {
	old := []uint64{0}
	err := f.FetchAndOp(memory.Of(dtype.Uint64, []uint64{operand}), memory.Of(dtype.Uint64, old), target, 0, op)
	return old[0], err
}

func (f farWords) load(target int) (uint64, error) { return f.fetch(target, 0, kernel.NoOp) }

func (f farWords) swap(target int, old, new uint64) (uint64, error) {
	seen := []uint64{0}
	err := f.CompareAndSwap(memory.Of(dtype.Uint64, []uint64{old}), memory.Of(dtype.Uint64, []uint64{new}),
		memory.Of(dtype.Uint64, seen), target, 0)
	return seen[0], err
}

func (f farWords) add(target int, delta uint64) error {
	if at := slices.Index(f.releases, delta); at >= 0 {
		if done, err := f.swapBack(target, delta); done || err != nil {
			return err
		}
		if err := f.Accumulate(memory.Of(dtype.Uint64, f.releases[at:at+1]), target, 0, kernel.Sum); err != nil {
			return err
		}
		return f.FlushLocal(target) // the message goes out, whatever this rank does next
	}
	_, err := f.fetch(target, delta, kernel.Sum)
	return err
}

// swapBack gives a lock back by a swap, where that takes fewer messages, and reports whether it has. The first tries the
// word of a lock that nobody else has or waits for, and the second what that has brought.
func (f farWords) swapBack(target int, delta uint64) (bool, error) {
	if !f.swaps {
		return false, nil
	}
	word := -delta
	for range 2 {
		seen, err := f.swap(target, word, word+delta)
		if err != nil || seen == word {
			return err == nil, err
		}
		word = seen
	}
	return false, nil
}

func (farWords) share(int, bool)         {}
func (farWords) sharers(int) []int       { return nil }
func (f farWords) ended(rank int) string { return f.comm.Left(rank) }

// far reaches parts by the backend, and flushes only what there is to flush: some libraries send a message for that and wait
// for the answer. A fetch is over when it returns. Parts of ranks on this rank's node are copied to and from without the
// backend, where the kernel lets it; what is combined or swapped there goes by the backend, which is atomic with what comes of
// other nodes.
type far struct {
	backend.Window
	comm           *comm.Comm
	swaps          bool            // to get and to swap takes fewer messages than to fetch
	targets        []Target        // which of them this rank has locked alone
	combining      sync.Mutex      // where swaps is set: threads of this rank that combine elements
	away           []uint64        // by rank: where a part that is copied lies in its process; 0: the backend reaches it
	begun, flushed []atomic.Uint64 // how many accesses have begun towards each target, and how many of them are over
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

// Accumulate starts to combine the target's elements with those of from.
func (f *far) Accumulate(from memory.Span, target int, offset int64, op kernel.Op) error {
	if f.swaps {
		f.combining.Lock()
		defer f.combining.Unlock()
	}
	return f.begin(target, f.Window.Accumulate(from, target, offset, op))
}

// FetchAndOp combines, and fetches what was there. Of a part that this rank has locked alone it gets an element and swaps it,
// where that takes fewer messages: nobody else changes it meanwhile but this rank's threads, which take turns.
func (f *far) FetchAndOp(from, into memory.Span, target int, offset int64, op kernel.Op) error {
	if !f.swaps {
		return f.Window.FetchAndOp(from, into, target, offset, op)
	}
	f.combining.Lock()
	defer f.combining.Unlock()
	if into.Count != 1 || into.Type.Size() > 8 || op != kernel.Sum && op != kernel.Replace ||
		atomic.LoadInt32(&f.targets[target].held) != Exclusive {
		return f.Window.FetchAndOp(from, into, target, offset, op)
	}
	if f.begun[target].Load() != f.flushed[target].Load() { // what this rank combined before comes first
		if err := f.Flush(target); err != nil {
			return err
		}
	}
	if err := f.Window.Get(into, target, offset); err != nil {
		return err
	}
	if err := f.Window.FlushLocal(target); err != nil {
		return err
	}
	return f.swapIn(from, into, target, offset, op)
}

// swapIn swaps an element, which into has got, for what an operator makes of it and from.
func (f *far) swapIn(from, into memory.Span, target int, offset int64, op kernel.Op) error {
	words := make([]uint64, 2)
	next := memory.Span{Addr: unsafe.Pointer(&words[0]), Count: 1, Type: into.Type}
	seen := memory.Span{Addr: unsafe.Pointer(&words[1]), Count: 1, Type: into.Type}
	for {
		memory.Copy(next, into)
		if err := reduce.Update(next, from, op); err != nil {
			return err
		}
		if err := f.Window.CompareAndSwap(into, next, seen, target, offset); err != nil {
			return err
		}
		if bytes.Equal(memory.As[byte](seen.Raw()), memory.As[byte](into.Raw())) {
			return nil
		}
		memory.Copy(into, seen)
	}
}

// Flush returns when what was begun towards target has happened there.
func (f *far) Flush(target int) error {
	if target == backend.Every {
		return f.flushAll()
	}
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
