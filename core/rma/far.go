package rma

import (
	"slices"
	"sync/atomic"

	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/kernel"
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
	comm *comm.Comm
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
	return farWords{w, c, releases}
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
		if err := f.Accumulate(memory.Of(dtype.Uint64, f.releases[at:at+1]), target, 0, kernel.Sum); err != nil {
			return err
		}
		return f.FlushLocal(target) // the message goes out, whatever this rank does next
	}
	_, err := f.fetch(target, delta, kernel.Sum)
	return err
}

func (farWords) share(int, bool)         {}
func (farWords) sharers(int) []int       { return nil }
func (f farWords) ended(rank int) string { return f.comm.Left(rank) }

// far reaches parts by the backend, and flushes only what there is to flush: some libraries send a message for that and wait
// for the answer. A fetch is over when it returns.
type far struct {
	backend.Window
	rank           int
	begun, flushed []atomic.Uint64 // how many accesses have begun towards each target, and how many of them are over
}

func newFar(w backend.Window, rank, size int) *far {
	return &far{Window: w, rank: rank, begun: make([]atomic.Uint64, size), flushed: make([]atomic.Uint64, size)}
}

// begin notes an access that has begun, whether or not it has failed.
func (f *far) begin(target int, err error) error {
	f.begun[target].Add(1)
	return err
}

// Put starts to write from to the target.
func (f *far) Put(from memory.Span, target int, offset int64) error {
	return f.begin(target, f.Window.Put(from, target, offset))
}

// Get starts to read into from the target.
func (f *far) Get(into memory.Span, target int, offset int64) error {
	return f.begin(target, f.Window.Get(into, target, offset))
}

// Accumulate starts to combine the target's elements with those of from.
func (f *far) Accumulate(from memory.Span, target int, offset int64, op kernel.Op) error {
	return f.begin(target, f.Window.Accumulate(from, target, offset, op))
}

// Flush returns when what was begun towards target has happened there.
func (f *far) Flush(target int) error {
	if target == backend.Every {
		return f.flushAll()
	}
	begun := f.begun[target].Load()
	if begun == f.flushed[target].Load() && target != f.rank { // this rank's processor may have something to do
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
