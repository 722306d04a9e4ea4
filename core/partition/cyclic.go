package partition

import (
	"math"
	"math/bits"

	"dtl/core/status"
)

// BlockCyclic deals out blocks of equal length in turn: block k goes to rank k % Ranks(). The last block may be
// shorter. With blocks of one element it is Cyclic.
type BlockCyclic struct {
	size    int64
	ranks   int
	block   int64
	byRound divisor // by the elements of a round, which deals one block to each rank
	byBlock divisor
}

var _ Partition = BlockCyclic{}

// NewBlockCyclic deals out size elements in blocks of the given length, at least 1.
func NewBlockCyclic(size int64, ranks int, block int64) (BlockCyclic, error) {
	if err := check(size, ranks); err != nil {
		return BlockCyclic{}, err
	}
	if block < 1 {
		return BlockCyclic{}, status.New(status.InvalidArgument, "block_size %d: it must be at least 1", block)
	}
	// A round of 2⁶³ is never over, and so stands for all that are longer.
	round := times(block, int64(ranks), 1<<63)
	return BlockCyclic{
		size: size, ranks: ranks, block: block,
		byRound: newDivisor(round), byBlock: newDivisor(uint64(block)),
	}, nil
}

// NewCyclic deals out single elements: rank r has r, r + ranks, r + 2 ranks, ….
func NewCyclic(size int64, ranks int) (BlockCyclic, error) { return NewBlockCyclic(size, ranks, 1) }

// Kind returns KindCyclic for blocks of one element, else KindBlockCyclic.
func (c BlockCyclic) Kind() Kind {
	if c.block == 1 {
		return KindCyclic
	}
	return KindBlockCyclic
}

// GlobalSize returns the number of elements on all ranks together.
func (c BlockCyclic) GlobalSize() int64 { return c.size }

// Ranks returns the number of ranks.
func (c BlockCyclic) Ranks() int { return c.ranks }

// BlockSize returns the elements of a block, as given: it can be more than there are.
func (c BlockCyclic) BlockSize() int64 { return c.block }

// LocalSize returns the number of elements that a rank holds, which can be zero.
func (c BlockCyclic) LocalSize(rank int) int64 { return c.Before(rank, c.size) }

// start returns where a rank's block begins in a round; of a block beyond every index, a number beyond every index.
func (c BlockCyclic) start(rank int) int64 { return int64(times(int64(rank), c.block, math.MaxInt64)) }

// Owner returns the rank that holds a global index.
func (c BlockCyclic) Owner(global int64) int {
	_, at := c.byRound.divide(global)
	rank, _ := c.byBlock.divide(at)
	return int(rank)
}

// Holds reports whether a rank holds a global index.
func (c BlockCyclic) Holds(rank int, global int64) bool { return c.Owner(global) == rank }

// Before returns how many of a rank's elements have an index below global.
func (c BlockCyclic) Before(rank int, global int64) int64 {
	round, at := c.byRound.divide(global)
	return round*c.block + clamp(at-c.start(rank), 0, c.block)
}

// Global returns the global index of a rank's local one.
func (c BlockCyclic) Global(rank int, local int64) int64 {
	round, inside := c.byBlock.divide(local)
	return round*int64(c.byRound.by) + c.start(rank) + inside
}

// From returns the rank's elements whose index is global or more: a run a block, or one with blocks of one element.
func (c BlockCyclic) From(rank int, global int64) Runs {
	local := c.Before(rank, global)
	left := c.LocalSize(rank) - local
	switch {
	case c.ranks == 1:
		return &one{Run{Global: local, Step: 1, Count: left, Local: local}}
	case c.block == 1:
		return &one{Run{Global: c.Global(rank, local), Step: int64(c.ranks), Count: left, Local: local}}
	}
	return &blocks{of: c, rank: rank, local: local, left: left}
}

// blocks yields a run for each block.
type blocks struct {
	of          BlockCyclic
	rank        int
	local, left int64
}

func (b *blocks) Next() (Run, bool) {
	if b.left <= 0 {
		return Run{}, false
	}
	_, inside := b.of.byBlock.divide(b.local)
	n := min(b.of.block-inside, b.left)
	r := Run{Global: b.of.Global(b.rank, b.local), Step: 1, Count: n, Local: b.local}
	b.local += n
	b.left -= n
	return r, true
}

// Locate sets locals[i] to where the rank holds globals[i], or to -1.
func (c BlockCyclic) Locate(rank int, globals, locals []int64) {
	locals = locals[:len(globals)]
	if c.ranks == 1 {
		locateRange(0, c.size, globals, locals)
		return
	}
	if above, exact := c.byRound.above(c.size); exact {
		c.locate(rank, above, globals, locals)
		return
	}
	start, block := c.start(rank), c.block
	for i, g := range globals {
		round, at := c.byRound.divide(g)
		local := round*block + at - start
		if uint64(at-start) >= uint64(block) {
			local = -1
		}
		locals[i] = local
	}
}

// locate is Locate with the reciprocal that needs no correction. The lower half of the product says how much of its
// round lies before the index; the rank's block is a range of that.
func (c BlockCyclic) locate(rank int, above uint64, globals, locals []int64) {
	locals = locals[:len(globals)]
	first := part(rank, c.ranks)
	length := part(rank+1, c.ranks) - first
	start, others := uint64(c.start(rank)), c.byRound.by-uint64(c.block)
	for i, g := range globals {
		round, before := bits.Mul64(uint64(g), above)
		local := int64(uint64(g) - start - round*others)
		if before-first >= length {
			local = -1
		}
		locals[i] = local
	}
}

// Owners sets owners[i] to the owner of globals[i].
func (c BlockCyclic) Owners(globals []int64, owners []int32) {
	owners = owners[:len(globals)]
	if c.ranks == 1 {
		clear(owners)
		return
	}
	above, exact := c.byRound.above(c.size)
	if !exact {
		for i, g := range globals {
			owners[i] = int32(c.Owner(g))
		}
		return
	}
	// The lower half of the product is how much of its round lies before the index, and that times ranks the owner.
	for i, g := range globals {
		rank, _ := bits.Mul64(uint64(g)*above, uint64(c.ranks))
		owners[i] = int32(rank)
	}
}
