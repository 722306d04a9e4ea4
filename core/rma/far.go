package rma

import (
	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// words are the locks of all parts, one a rank.
type words interface {
	load(target int) (uint64, error)
	// swap writes new where old is there, and reports whether it was.
	swap(target int, old, new uint64) (bool, error)
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
}

func (f farWords) fetch(target int, operand uint64, op kernel.Op) (uint64, error) {
	old := []uint64{0}
	err := f.FetchAndOp(memory.Of(dtype.Uint64, []uint64{operand}), memory.Of(dtype.Uint64, old), target, 0, op)
	return old[0], err
}

func (f farWords) load(target int) (uint64, error) { return f.fetch(target, 0, kernel.NoOp) }

func (f farWords) swap(target int, old, new uint64) (bool, error) {
	seen := []uint64{0}
	err := f.CompareAndSwap(memory.Of(dtype.Uint64, []uint64{old}), memory.Of(dtype.Uint64, []uint64{new}),
		memory.Of(dtype.Uint64, seen), target, 0)
	return err == nil && seen[0] == old, err
}

func (f farWords) add(target int, delta uint64) error {
	_, err := f.fetch(target, delta, kernel.Sum)
	return err
}

func (farWords) share(int, bool)         {}
func (farWords) sharers(int) []int       { return nil }
func (f farWords) ended(rank int) string { return f.comm.Left(rank) }
