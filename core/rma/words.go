package rma

import (
	"slices"
	"unsafe"

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

var _, _ words = (*near)(nil), (*farWords)(nil)

// farWords are locks in memory that the backend opens: a word of each rank. A lock is given back by a swap, where that takes
// fewer messages than to add.
type farWords struct {
	backend.Window
	comm     *comm.Comm
	swaps    bool         // to swap takes fewer messages than to add
	operands *farOperands // in memory that stays: nobody waits until what is added has got there
}

// farOperands are what a rank needs for its locks in memory that is not Go's.
type farOperands struct {
	word     uint64    // this rank's lock, unless the backend has the memory for it
	releases [2]uint64 // what gives a lock back when it is added to a word: one that this rank has alone, and in shared mode
}

// farWordsBytes is how much memory newFarWords needs.
const farWordsBytes = int(unsafe.Sizeof(farOperands{}))

// newFarWords opens the locks, for which mem is memory that is not Go's. Collective.
func newFarWords(c *comm.Comm, mem unsafe.Pointer) (*farWords, error) {
	f := &farWords{comm: c, operands: (*farOperands)(mem)}
	for i, claim := range []uint64{(uint64(c.Rank()) + 1) * writer, reader} {
		f.operands.releases[i] = -claim
	}
	f.operands.word = 0
	var err error
	f.Window, err = c.ExposeWord("window", "lock", wordAt(&f.operands.word))
	f.swaps = combinesUnderLock(f.Window)
	return f, err
}

// wordAt is the span of one word.
func wordAt(at *uint64) memory.Span {
	return memory.Span{Addr: unsafe.Pointer(at), Count: 1, Type: dtype.Uint64}
}

func (f *farWords) fetch(target int, operand uint64, op kernel.Op) (uint64, error) {
	old := []uint64{0}
	err := f.FetchAndOp(memory.Of(dtype.Uint64, []uint64{operand}), memory.Of(dtype.Uint64, old), target, 0, op)
	return old[0], err
}

// load is what a rank looks with at a lock that another one has. That rank may need this one to go on, and to look at a word on
// the same node may be no call in which the library does so.
func (f *farWords) load(target int) (uint64, error) {
	if err := f.comm.Advance(); err != nil {
		return 0, err
	}
	if f.swaps {
		return f.swap(target, 0, 0)
	}
	return f.fetch(target, 0, kernel.NoOp)
}

func (f *farWords) swap(target int, old, new uint64) (uint64, error) {
	seen := []uint64{0}
	err := f.CompareAndSwap(memory.Of(dtype.Uint64, []uint64{old}), memory.Of(dtype.Uint64, []uint64{new}),
		memory.Of(dtype.Uint64, seen), target, 0)
	return seen[0], err
}

func (f *farWords) add(target int, delta uint64) error {
	release := slices.Index(f.operands.releases[:], delta)
	if release < 0 {
		_, err := f.fetch(target, delta, kernel.Sum)
		return err
	}
	if done, err := f.swapBack(target, delta); done || err != nil {
		return err
	}
	if err := f.Accumulate(wordAt(&f.operands.releases[release]), target, 0, kernel.Sum); err != nil {
		return err
	}
	return f.FlushLocal(target) // the message goes out, whatever this rank does next
}

// swapBack gives a lock back by a swap, where that takes fewer messages, and reports whether it has. The first tries the
// word of a lock that nobody else has or waits for, and the second what that has brought.
func (f *farWords) swapBack(target int, delta uint64) (bool, error) {
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

func (*farWords) share(int, bool)         {}
func (*farWords) sharers(int) []int       { return nil }
func (f *farWords) ended(rank int) string { return f.comm.Left(rank) }
