package partition

import (
	"fmt"
	"math"
	"math/bits"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHashIsForEver pins owners: what one release wrote, another reads.
func TestHashIsForEver(t *testing.T) {
	for ranks, want := range map[int][]int{
		2:    {1, 1, 1, 0, 0, 0, 1, 0, 1, 1},
		3:    {2, 1, 1, 0, 1, 1, 2, 1, 1, 2},
		1000: {883, 566, 591, 113, 431, 386, 739, 389, 618, 682},
	} {
		p, err := NewHash(10, ranks)
		require.NoError(t, err)
		var got []int
		for i := range int64(10) {
			got = append(got, p.Owner(i))
			assert.Equal(t, hashOwner(i, ranks), p.Owner(i))
		}
		assert.Equal(t, want, got, "%d ranks", ranks)
	}
}

// TestHashOwnerAnywhere: an owner follows from the formula also where no partition is that large.
func TestHashOwnerAnywhere(t *testing.T) {
	for _, g := range []int64{1 << 31, 1 << 40, 1<<62 + 1, math.MaxInt64 - 1} {
		for _, ranks := range []int{1, 2, 3, 7, 1 << 20, math.MaxInt32} {
			assert.Equal(t, hashOwner(g, ranks), owner(g, ranks), "%d on %d", g, ranks)
		}
	}
}

// TestHashSpreads: no rank has more than its share by what chance explains, five standard deviations.
func TestHashSpreads(t *testing.T) {
	const size = 100_000
	for _, ranks := range []int{2, 3, 7, 64} {
		p, err := NewHash(size, ranks)
		require.NoError(t, err)
		share := float64(size) / float64(ranks)
		for rank := range ranks {
			assert.InDelta(t, share, float64(p.LocalSize(rank)), 5*math.Sqrt(share), "rank %d of %d", rank, ranks)
		}
	}
}

// TestHashTogether asks from several goroutines at once, of which each may find the set not made yet.
func TestHashTogether(t *testing.T) {
	p, err := NewHash(5000, 3)
	require.NoError(t, err)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			rank := i % 3
			n := p.LocalSize(rank)
			assert.Equal(t, n, p.Before(rank, 5000))
			assert.Equal(t, n-1, p.Before(rank, p.Global(rank, n-1)))
		})
	}
	all.Wait()
}

// TestPart: the hashes of a rank are those whose owner it is, to the last one at either end.
func TestPart(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 1000, math.MaxInt32} {
		scaled := func(x uint64) int { high, _ := bits.Mul64(x, uint64(n)); return int(high) }
		for _, k := range []int{0, 1, n / 2, n - 1} {
			if k >= n {
				continue
			}
			first, last := part(k, n), part(k+1, n)-1
			assert.Equal(t, k, scaled(first), "%d of %d", k, n)
			assert.Equal(t, k, scaled(last), "%d of %d", k, n)
			assert.True(t, first == 0 || scaled(first-1) == k-1, "%d of %d", k, n)
		}
	}
}

// ExampleHash shows that who has an index depends on no size.
func ExampleHash() {
	for _, size := range []int64{4, 1000} {
		p, err := NewHash(size, 3)
		if err != nil {
			panic(err)
		}
		fmt.Println(p.Owner(0), p.Owner(1), p.Owner(2), p.Owner(3))
	}
	// Output:
	// 2 1 1 0
	// 2 1 1 0
}
