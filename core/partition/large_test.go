package partition

import (
	"math"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	largeSizes = []int64{1<<31 + 5, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1<<40 + 3, 1<<62 + 1, math.MaxInt64 - 1, math.MaxInt64}
	largeRanks = []int{1, 2, 3, 7, 1000, math.MaxInt32}
)

// TestLarge asks about indices at the ends, the middle, and both sides of where a rank or a round begins.
func TestLarge(t *testing.T) {
	for _, size := range largeSizes {
		for _, ranks := range largeRanks {
			for _, g := range largeIndices(size, ranks, size/int64(ranks)+1) {
				checkBlock(t, size, ranks, g)
			}
			even := size / int64(ranks)
			for _, block := range []int64{1, 2, 3, 1 << 20, 1<<31 + 1, even, size/2 + 1, 1 << 62, math.MaxInt64} {
				for _, g := range largeIndices(size, ranks, block) {
					checkCyclic(t, size, ranks, block, g)
				}
			}
		}
	}
}

func largeIndices(size int64, ranks int, block int64) []int64 {
	n := int64(ranks)
	short := size / n * (n - size%n) // elements on the ranks of a Block that have one less
	var all []int64
	for _, at := range []int64{0, block, size / 3, size / 2, size / n, size - short, size, size / block * block} {
		for by := int64(-2); by <= 2; by++ {
			if g := at + by; g >= 0 && g < size { // what overflows is negative
				all = append(all, g)
			}
		}
	}
	return all
}

// checkBlock compares with the definition: the first size%ranks ranks have one element more.
func checkBlock(t *testing.T, size int64, ranks int, g int64) {
	t.Helper()
	p, err := NewBlock(size, ranks)
	require.NoError(t, err)
	n := int64(ranks)
	share, extra := size/n, size%n
	offset := func(rank int) int64 { return int64(rank)*share + min(int64(rank), extra) }
	rank := sort.Search(ranks-1, func(rank int) bool { return offset(rank+1) > g })
	checkPlace(t, p, g, rank, g-offset(rank))
}

// checkCyclic compares with the definition: block k lies at rank k % ranks, after the k / ranks dealt to it before.
func checkCyclic(t *testing.T, size int64, ranks int, block, g int64) {
	t.Helper()
	p, err := NewBlockCyclic(size, ranks, block)
	require.NoError(t, err)
	k, n := g/block, int64(ranks)
	checkPlace(t, p, g, int(k%n), k/n*block+g%block)
}

// checkPlace asks every question about one index, which lies at one rank alone.
func checkPlace(t *testing.T, p Partition, g int64, rank int, local int64) {
	t.Helper()
	owners, locals := []int32{-7}, []int64{-7}
	p.Owners([]int64{g}, owners)
	p.Locate(rank, []int64{g}, locals)
	r, ok := p.From(rank, g).Next()
	last := r.Local + r.Count - 1
	for what, right := range map[string]bool{
		"Owner":       p.Owner(g) == rank,
		"Owners":      int(owners[0]) == rank,
		"Locate":      locals[0] == local,
		"Before":      p.Before(rank, g) == local,
		"Before next": p.Before(rank, g+1) == local+1,
		"Global":      p.Global(rank, local) == g,
		"Holds":       p.Holds(rank, g),
		"LocalSize":   p.LocalSize(rank) > local,
		"From":        ok && r.Global == g && r.Local == local && r.Count > 0,
		"end of From": last < p.LocalSize(rank) && p.Global(rank, last) == r.Global+(r.Count-1)*r.Step,
	} {
		if !right {
			require.FailNow(t, what, "of index %d, local %d on rank %d of %+v", g, local, rank, p)
		}
	}
	for _, other := range []int{0, rank - 1, rank + 1, p.Ranks() - 1} {
		if other < 0 || other >= p.Ranks() || other == rank {
			continue
		}
		p.Locate(other, []int64{g}, locals)
		if locals[0] != -1 || p.Holds(other, g) || p.Before(other, g) != p.Before(other, g+1) {
			require.FailNow(t, "elsewhere", "index %d of %d is found on rank %d of %+v", g, rank, other, p)
		}
	}
}

// TestLargeSums adds up the sizes of all ranks, and finds each rank's first and last element.
func TestLargeSums(t *testing.T) {
	for _, size := range largeSizes {
		for _, ranks := range []int{1, 2, 3, 7, 100} {
			block, err := NewBlock(size, ranks)
			all := []Partition{must(t, block, err)}
			for _, n := range []int64{1, 3, 1 << 31, (math.MaxInt64-1)/int64(ranks) + 1, math.MaxInt64} {
				p, err := NewBlockCyclic(size, ranks, n)
				all = append(all, must(t, p, err))
			}
			sizes := slices.Repeat([]int64{0}, ranks)
			sizes[0], sizes[ranks-1] = size/3, size-size/3
			if ranks > 1 {
				p, err := NewExplicit(sizes)
				all = append(all, must(t, p, err))
			}
			for _, p := range all {
				checkSums(t, p)
				checkSums(t, NewSub(p, size/5, size-size/5))
			}
		}
	}
}

func checkSums(t *testing.T, p Partition) {
	t.Helper()
	total := int64(0)
	for rank := range p.Ranks() {
		n := p.LocalSize(rank)
		require.GreaterOrEqual(t, n, int64(0))
		total += n
		for _, local := range []int64{0, n / 2, n - 1} {
			if n > 0 {
				checkPlace(t, p, p.Global(rank, local), rank, local)
			}
		}
		_, ok := p.From(rank, p.GlobalSize()).Next()
		require.False(t, ok, "nothing lies beyond the end")
	}
	require.Equal(t, p.GlobalSize(), total)
}

func TestLargeReplicated(t *testing.T) {
	p, err := NewReplicated(math.MaxInt64, 3)
	require.NoError(t, err)
	locals := []int64{0}
	for _, g := range []int64{0, 1 << 40, math.MaxInt64 - 1} {
		p.Locate(2, []int64{g}, locals)
		require.Equal(t, []int64{g}, locals)
		r, ok := p.From(1, g).Next()
		require.True(t, ok)
		require.Equal(t, Run{Global: g, Step: 1, Count: math.MaxInt64 - g, Local: g}, r)
	}
}
