// Package partition says which rank holds which element: index arithmetic, and nothing else.
package partition

import "dtl/core/status"

// Block gives each rank one contiguous range of global indices, in rank order. Sizes differ by at most one: the
// first GlobalSize() % Ranks() ranks hold one element more. The zero Block has no ranks and holds nothing.
//
// Everything is O(1) and exact for any size and any number of ranks. LocalSize and Offset of a rank outside
// [0, Ranks()) are numbers without meaning.
type Block struct {
	size  int64
	ranks int
	share int64 // elements that every rank has
	extra int64 // ranks, from the first on, that have one more
}

// NewBlock divides size elements among ranks. A negative size or less than one rank is
// status.InvalidArgument.
func NewBlock(size int64, ranks int) (Block, error) {
	if size < 0 {
		return Block{}, status.New(status.InvalidArgument, "size %d is negative", size)
	}
	if ranks < 1 {
		return Block{}, status.New(status.InvalidArgument, "%d ranks: there must be at least 1", ranks)
	}
	n := int64(ranks)
	return Block{size: size, ranks: ranks, share: size / n, extra: size % n}, nil
}

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

// Offset returns the global index of a rank's first element, or, if it holds none, of the first element after it.
func (b Block) Offset(rank int) int64 {
	// No term exceeds size, because rank < ranks.
	return int64(rank)*b.share + min(int64(rank), b.extra)
}

// Owner returns the rank that holds a global index. An index outside [0, GlobalSize()) is status.OutOfBounds.
func (b Block) Owner(global int64) (int, error) {
	if err := b.check(global); err != nil {
		return 0, err
	}
	long := b.extra * (b.share + 1) // elements on the ranks that have one more
	if global < long {
		return int(global / (b.share + 1)), nil
	}
	return int(b.extra + (global-long)/b.share), nil // share > 0: there is an element here
}

// LocalIndex returns where its owner holds a global index: the distance from the owner's first element. An index
// outside [0, GlobalSize()) is status.OutOfBounds.
func (b Block) LocalIndex(global int64) (int64, error) {
	owner, err := b.Owner(global)
	if err != nil {
		return 0, err
	}
	return global - b.Offset(owner), nil
}

// GlobalIndex returns the global index of a rank's local one. A rank outside [0, Ranks()) or an index outside
// [0, LocalSize(rank)) is status.OutOfBounds.
func (b Block) GlobalIndex(rank int, local int64) (int64, error) {
	if rank < 0 || rank >= b.ranks {
		return 0, status.New(status.OutOfBounds, "rank %d outside [0, %d)", rank, b.ranks)
	}
	if n := b.LocalSize(rank); local < 0 || local >= n {
		return 0, status.New(status.OutOfBounds, "index %d outside [0, %d) of rank %d", local, n, rank)
	}
	return b.Offset(rank) + local, nil
}

func (b Block) check(global int64) error {
	if global < 0 || global >= b.size {
		return status.New(status.OutOfBounds, "index %d outside [0, %d)", global, b.size)
	}
	return nil
}
