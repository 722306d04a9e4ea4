package partition

import (
	"math/bits"
	"sync/atomic"

	"dtl/core/mix"
)

// Hash gives index i to rank floor(mix(i) × Ranks() / 2⁶⁴), where mix(i) is what SplitMix64 (Steele, Lea and Flood,
// OOPSLA 2014) returns in state i. The owner of an index so depends on the index and the number of ranks alone: not on
// the size, the process or the machine.
//
// Which indices a rank has is known only from looking at all of them, so NewHash makes one pass of GlobalSize() hashes,
// 1 to 2 ns each, for the local sizes; the first question about a rank's local indices makes another, for a set of
// GlobalSize()/7 bytes, which is kept. After that Before counts at most 512 bits, and Global makes a binary search
// besides. Owner and Holds hash once.
type Hash struct{ *hash }

type hash struct {
	size   int64
	ranks  int
	counts []int64
	sets   []atomic.Pointer[members] // by rank, of those asked about
}

var _ Partition = Hash{}

// NewHash spreads size elements over the ranks.
func NewHash(size int64, ranks int) (Hash, error) {
	if err := check(size, ranks); err != nil {
		return Hash{}, err
	}
	h := &hash{size: size, ranks: ranks, counts: make([]int64, ranks), sets: make([]atomic.Pointer[members], ranks)}
	if ranks == 1 {
		h.counts[0] = size
		return Hash{h}, nil
	}
	// Two counts of each rank: an increment waits for the one before it of the same number.
	even, odd := h.counts, make([]int64, ranks)
	for i := int64(0); i < size-1; i += 2 {
		even[owner(i, ranks)]++
		odd[owner(i+1, ranks)]++
	}
	if size%2 != 0 {
		even[owner(size-1, ranks)]++
	}
	for rank, n := range odd {
		even[rank] += n
	}
	return Hash{h}, nil
}

// Kind returns KindHash.
func (h *hash) Kind() Kind { return KindHash }

// GlobalSize returns the number of elements on all ranks together.
func (h *hash) GlobalSize() int64 { return h.size }

// Ranks returns the number of ranks.
func (h *hash) Ranks() int { return h.ranks }

// LocalSize returns the number of elements that a rank holds, which can be zero.
func (h *hash) LocalSize(rank int) int64 { return h.counts[rank] }

// Owner returns the rank that holds a global index.
func (h *hash) Owner(global int64) int { return owner(global, h.ranks) }

func owner(global int64, ranks int) int {
	rank, _ := bits.Mul64(mix.SplitMix64(uint64(global)), uint64(ranks))
	return int(rank)
}

// Holds reports whether a rank holds a global index.
func (h *hash) Holds(rank int, global int64) bool { return h.Owner(global) == rank }

// set returns the indices that a rank has.
func (h *hash) set(rank int) *members {
	m := h.sets[rank].Load()
	if m == nil {
		m = newMembers(h.size, rank, h.ranks)
		h.sets[rank].Store(m) // one that another goroutine makes meanwhile is the same
	}
	return m
}

// Before returns how many of a rank's elements have an index below global.
func (h *hash) Before(rank int, global int64) int64 { return h.set(rank).below(global) }

// Global returns the global index of a rank's local one.
func (h *hash) Global(rank int, local int64) int64 { return h.set(rank).at(local) }

// From returns the rank's elements whose index is global or more, a run for each that are neighbours.
func (h *hash) From(rank int, global int64) Runs {
	m := h.set(rank)
	return &hashed{m: m, size: h.size, next: global, local: m.below(global)}
}

// hashed yields the neighbours in turn.
type hashed struct {
	m                 *members
	size, next, local int64
}

func (r *hashed) Next() (Run, bool) {
	first := r.m.next(r.next, 0)
	if first >= r.size {
		r.next = r.size
		return Run{}, false
	}
	r.next = r.m.next(first, ^uint64(0))
	run := Run{Global: first, Step: 1, Count: r.next - first, Local: r.local}
	r.local += run.Count
	return run, true
}

// Locate sets locals[i] to where the rank holds globals[i], or to -1.
func (h *hash) Locate(rank int, globals, locals []int64) {
	locals = locals[:len(globals)]
	m := h.set(rank)
	for i, g := range globals {
		if m.has(g) {
			locals[i] = m.below(g)
		} else {
			locals[i] = -1
		}
	}
}

// Owners sets owners[i] to the owner of globals[i].
func (h *hash) Owners(globals []int64, owners []int32) {
	owners = owners[:len(globals)]
	for i, g := range globals {
		owners[i] = int32(owner(g, h.ranks))
	}
}
