// Package partition says which rank holds which element. It is only index arithmetic.
//
// A Partition divides one dimension; a Layout combines one for each dimension, over a grid of ranks. Every rank keeps
// its elements in ascending order of their global index, so a range of global indices is a range of local indices on
// each rank.
package partition

import (
	"fmt"
	"math"

	"dtl/core/status"
)

// Kind says how a partition divides. Its numbers are Python's: append, never reorder.
type Kind uint8

// The kinds.
const (
	KindBlock Kind = iota
	KindCyclic
	KindBlockCyclic
	KindHash
	KindReplicated
	KindExplicit
)

var kindNames = [...]string{"BLOCK", "CYCLIC", "BLOCK_CYCLIC", "HASH", "REPLICATED", "EXPLICIT"}

// Kinds returns all kinds, in the order of their numbers.
func Kinds() (all []Kind) {
	for k := range kindNames {
		all = append(all, Kind(k))
	}
	return all
}

// String returns the kind's name in capitals, as Python spells its constant.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Partition says which of Ranks() ranks holds which global index in [0, GlobalSize()).
//
// Methods check nothing: an index or rank outside its range gives a number without meaning. Each is O(1), but for
// Hash, which says what it costs, and Explicit, whose Owner is a binary search over the ranks.
type Partition interface {
	Kind() Kind
	GlobalSize() int64
	Ranks() int
	// LocalSize returns how many elements a rank holds, which can be none.
	LocalSize(rank int) int64
	// Owner returns the rank that holds a global index; of Replicated, where all do, rank 0.
	Owner(global int64) int
	// Holds reports whether a rank holds a global index.
	Holds(rank int, global int64) bool
	// Before returns how many of a rank's elements have an index below global, which may be GlobalSize(). Of an
	// index that the rank holds, that is the local index.
	Before(rank int, global int64) int64
	// Global returns the global index of a rank's local one.
	Global(rank int, local int64) int64
	// From returns the rank's elements whose index is global or more, as few runs.
	From(rank int, global int64) Runs
	// Locate sets locals[i] to where the rank holds globals[i], or to -1 where it does not. The two may be one slice.
	Locate(rank int, globals, locals []int64)
	// Owners sets owners[i] to the owner of globals[i].
	Owners(globals []int64, owners []int32)
}

// Run is some of a rank's elements, side by side at the rank and in arithmetic progression in the whole: the first has
// the global index Global and the local index Local, and each next one is Step further in the whole.
type Run struct {
	Global, Step, Count, Local int64
}

// Runs yields a rank's elements in ascending order.
type Runs interface {
	Next() (r Run, ok bool)
}

// one is Runs of at most one.
type one struct{ run Run }

func (o *one) Next() (Run, bool) {
	r := o.run
	o.run.Count = 0
	return r, r.Count > 0
}

// check refuses what no partition divides.
func check(size int64, ranks int) error {
	if size < 0 {
		return status.New(status.InvalidArgument, "size %d is negative", size)
	}
	if ranks < 1 {
		return status.New(status.InvalidArgument, "%d ranks: there must be at least 1", ranks)
	}
	if ranks > math.MaxInt32 {
		return status.New(status.InvalidArgument, "%d ranks: there can be at most %d", ranks, math.MaxInt32)
	}
	return nil
}

// clamp returns x, or the end of [lo, hi] that is nearer.
func clamp(x, lo, hi int64) int64 { return max(lo, min(x, hi)) }

// Equal reports whether two partitions put every element in the same place for the same reason: of equal kind and
// parameters. A Block equals an Explicit of the same local sizes. On one rank, kinds still differ, and so do ranges
// that begin at different places in a cycle: whether a program may mix two does not depend on the number of ranks.
func Equal(a, b Partition) bool {
	if a.GlobalSize() != b.GlobalSize() || a.Ranks() != b.Ranks() {
		return false
	}
	if contiguous(a) && contiguous(b) {
		for rank := range a.Ranks() {
			if a.LocalSize(rank) != b.LocalSize(rank) {
				return false
			}
		}
		return true
	}
	return ruleOf(a) == ruleOf(b)
}

// rule is all that decides which rank holds an element, besides its index and the number of ranks. The size of the whole
// does not matter, but where in it the first element lies does.
type rule struct {
	kind          Kind
	block, offset int64
}

func ruleOf(p Partition) rule {
	switch p := p.(type) {
	case Sub:
		r := ruleOf(p.of)
		if r.kind != KindReplicated {
			r.offset = p.offset
		}
		return r
	case BlockCyclic:
		return rule{kind: p.Kind(), block: p.block}
	}
	return rule{kind: p.Kind()}
}

// contiguous reports whether every rank holds one range of global indices, in rank order.
func contiguous(p Partition) bool {
	switch p := p.(type) {
	case Block, Explicit:
		return true
	case Sub:
		return contiguous(p.of)
	}
	return false
}
