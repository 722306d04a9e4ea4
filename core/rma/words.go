package rma

import (
	"bytes"
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
	// unlock takes back what this rank has added to a word to have the lock. It need not have happened when this returns.
	unlock(target int, claim uint64) error
	// share notes whether this rank has a lock in shared mode, and sharers returns the ranks that have, where that is
	// known.
	share(target int, yes bool)
	sharers(target int) []int
	// ended returns how a rank has ended; "" if it may go on, or that is unknown.
	ended(rank int) string
}

var _, _ words = (*near)(nil), (*farWords)(nil)

// farWords are locks in memory that the backend opens: a word of each rank.
type farWords struct {
	backend.Window
	comm     *comm.Comm
	swaps    bool         // to swap takes fewer messages than to add
	puts     bool         // a byte may be put into a word while others fail to swap it
	operands *farOperands // in memory that stays: nobody waits until what gives a lock back has got there
}

// farOperands are what a rank needs for its locks in memory that is not Go's.
type farOperands struct {
	word     uint64    // this rank's lock, unless the backend has the memory for it
	releases [2]uint64 // what gives a lock back when it is added to a word: one that this rank has alone, and in shared mode
	nobody   [8]byte   // what gives back a lock that this rank has alone when it is put into a byte of the word
}

// farWordsBytes is how much memory newFarWords needs.
const farWordsBytes = int(unsafe.Sizeof(farOperands{}))

// newFarWords opens the locks, for which mem is memory that is not Go's. Collective.
func newFarWords(c *comm.Comm, mem unsafe.Pointer) (*farWords, error) {
	f := &farWords{comm: c, operands: (*farOperands)(mem)}
	for i, claim := range []uint64{(uint64(c.Rank()) + 1) * writer, reader} {
		f.operands.releases[i] = -claim
	}
	f.operands.word, f.operands.nobody = 0, [8]byte{}
	var err error
	f.Window, err = c.ExposeWord("window", "lock", wordAt(&f.operands.word))
	f.swaps, f.puts = combinesUnderLock(f.Window), putsBesideSwaps(f.Window)
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

// load reads the word of a lock that another rank has. That rank may need this one to go on, and to look at a word on
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

// unlock gives a lock back without waiting for that, but where the backend combines under locks. There it puts a byte into the
// word of a lock that this rank has alone, which no other rank changes meanwhile, where the number of this rank fits in that byte.
// Otherwise it swaps the word until that succeeds. A swap fails only if another rank has changed the word.
func (f *farWords) unlock(target int, claim uint64) error {
	switch {
	case f.puts && claim >= writer && claim/writer <= 0xff:
		nobody := memory.Span{Addr: unsafe.Pointer(&f.operands.nobody), Count: 1, Type: dtype.Uint8}
		return f.Put(nobody, target, writerByte)
	case !f.swaps:
		release := slices.Index(f.operands.releases[:], -claim)
		if err := f.Accumulate(wordAt(&f.operands.releases[release]), target, 0, kernel.Sum); err != nil {
			return err
		}
		return f.FlushLocal(target) // the message goes out, whatever this rank does next
	}
	for word := claim; ; {
		seen, err := f.swap(target, word, word-claim)
		if err != nil || seen == word {
			return err
		}
		word = seen
	}
}

// writerByte is which byte of a word has the lowest bits of the number of the rank that has the lock alone.
var writerByte = func() int64 {
	word := 0xff * writer
	return int64(bytes.IndexByte(unsafe.Slice((*byte)(unsafe.Pointer(&word)), 8), 0xff))
}()

func (*farWords) share(int, bool)         {}
func (*farWords) sharers(int) []int       { return nil }
func (f *farWords) ended(rank int) string { return f.comm.Left(rank) }
