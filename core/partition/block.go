package partition

import "math/bits"

// Block gives each rank one contiguous range of global indices, in rank order. Sizes differ by at most one: the
// first GlobalSize() % Ranks() ranks hold one element more.
type Block struct {
	size  int64
	ranks int
	share int64   // elements that every rank has
	extra int64   // ranks, from the first on, that have one more
	long  divisor // by share + 1
	short divisor // by share, or by 1
}

var _ Partition = Block{}

// NewBlock divides size elements among ranks. A negative size or less than one rank is status.InvalidArgument.
func NewBlock(size int64, ranks int) (Block, error) {
	if err := check(size, ranks); err != nil {
		return Block{}, err
	}
	n := int64(ranks)
	b := Block{size: size, ranks: ranks, share: size / n, extra: size % n}
	b.long = newDivisor(uint64(b.share) + 1)
	b.short = newDivisor(uint64(max(b.share, 1)))
	return b, nil
}

// Kind returns KindBlock.
func (b Block) Kind() Kind { return KindBlock }

// GlobalSize returns the number of elements on all ranks together.
func (b Block) GlobalSize() int64 { return b.size }

// Ranks returns the number of ranks.
func (b Block) Ranks() int { return b.ranks }

// LocalSize returns the number of elements that a rank holds, which can be zero.
func (b Block) LocalSize(rank int) int64 {
	if int64(rank) < b.extra {
		return b.share + 1
	}
	return b.share
}

// offset returns the global index of a rank's first element, or, if it holds none, of the first element after it.
func (b Block) offset(rank int) int64 {
	// No term exceeds size, because rank < ranks.
	return int64(rank)*b.share + min(int64(rank), b.extra)
}

// Owner returns the rank that holds a global index.
func (b Block) Owner(global int64) int {
	d, from := b.long, int64(0)
	if global >= b.extra*(b.share+1) {
		d, from = b.short, b.extra
	}
	rank, _ := d.divide(global - from)
	return int(rank)
}

// Holds reports whether a rank holds a global index.
func (b Block) Holds(rank int, global int64) bool {
	return uint64(global-b.offset(rank)) < uint64(b.LocalSize(rank))
}

// Before returns how many of a rank's elements have an index below global.
func (b Block) Before(rank int, global int64) int64 {
	return clamp(global-b.offset(rank), 0, b.LocalSize(rank))
}

// Global returns the global index of a rank's local one.
func (b Block) Global(rank int, local int64) int64 { return b.offset(rank) + local }

// From returns the rank's elements whose index is global or more: one run.
func (b Block) From(rank int, global int64) Runs {
	return rangeFrom(b.offset(rank), b.LocalSize(rank), global)
}

// Locate sets locals[i] to where the rank holds globals[i], or to -1.
func (b Block) Locate(rank int, globals, locals []int64) {
	locateRange(b.offset(rank), b.LocalSize(rank), globals, locals)
}

// Owners sets owners[i] to the owner of globals[i].
func (b Block) Owners(globals []int64, owners []int32) {
	owners = owners[:len(globals)]
	if b.ranks == 1 {
		clear(owners)
		return
	}
	longer, exact := b.long.above(b.size)
	shorter, also := b.short.above(b.size)
	if !exact || !also {
		for i, g := range globals {
			owners[i] = int32(b.Owner(g))
		}
		return
	}
	// Owner without a branch, which random indices make the processor guess wrong.
	long := b.extra * (b.share + 1)
	for i, g := range globals {
		first := (g - long) >> 63 // all ones below long, else zero
		reciprocal := shorter ^ (longer^shorter)&uint64(first)
		rank, _ := bits.Mul64(uint64(g-b.extra&^first), reciprocal)
		owners[i] = int32(rank)
	}
}

// rangeFrom returns the elements of [offset, offset+n) whose index is global or more.
func rangeFrom(offset, n, global int64) Runs {
	skip := clamp(global-offset, 0, n)
	return &one{Run{Global: offset + skip, Step: 1, Count: n - skip, Local: skip}}
}

// locateRange does what Locate does, for a rank that holds [offset, offset+n).
func locateRange(offset, n int64, globals, locals []int64) {
	locals = locals[:len(globals)]
	for i, g := range globals {
		local := g - offset
		if uint64(local) >= uint64(n) {
			local = -1
		}
		locals[i] = local
	}
}
