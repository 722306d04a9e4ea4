package partition

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEqual numbers the rows of each number of ranks by what they must be equal to: those of one number, and no others.
func TestEqual(t *testing.T) {
	for ranks := 2; ranks <= 4; ranks++ {
		families := familiesOf(t, ranks)
		for i, a := range families {
			for j, b := range families {
				for x, p := range a {
					for y, q := range b {
						assert.Equal(t, i == j, Equal(p, q), "%d ranks: %d of family %d and %d of %d", ranks, x, i, y, j)
					}
				}
			}
		}
	}
}

func familiesOf(t *testing.T, ranks int) [][]Partition {
	block := func(n int64) Partition { p, err := NewBlock(n, ranks); return must(t, p, err) }
	blocks := func(n, length int64) Partition { p, err := NewBlockCyclic(n, ranks, length); return must(t, p, err) }
	hash := func(n int64) Partition { p, err := NewHash(n, ranks); return must(t, p, err) }
	every := func(n int64) Partition { p, err := NewReplicated(n, ranks); return must(t, p, err) }
	explicit := func(sizes []int64) Partition { p, err := NewExplicit(sizes); return must(t, p, err) }
	cyclic, err := NewCyclic(12, ranks)
	require.NoError(t, err)
	first := make([]int64, ranks)
	first[0] = 12
	return [][]Partition{
		{block(12), explicit(blockSizes(12, ranks)), NewSub(block(12), 0, 12)},
		{block(13), explicit(blockSizes(13, ranks))},
		{On(0, ranks, 12), explicit(first), NewSub(On(0, ranks, 20), 5, 12)},
		{On(1, ranks, 12)},
		{cyclic, blocks(12, 1), NewSub(cyclic, 0, 12), NewSub(blocks(20, 1), 0, 12)},
		{NewSub(blocks(20, 1), 1, 12), NewSub(blocks(13, 1), 1, 12)},
		{NewSub(blocks(40, 1), int64(ranks), 12)}, // where cyclic has it, but on other numbers of ranks elsewhere
		{blocks(12, 2), NewSub(blocks(13, 2), 0, 12)},
		{blocks(12, 100)}, // where On(0) has it
		{hash(12), NewSub(hash(99), 0, 12)},
		{NewSub(hash(99), 3, 12), NewSub(NewSub(hash(50), 1, 40), 2, 12)},
		{every(12), NewSub(every(50), 7, 12)},
		{hash(13)},
	}
}

// TestKindsDifferOnOneRank: there all have everything in the same place, but on more they have not.
func TestKindsDifferOnOneRank(t *testing.T) {
	rows := kinds(t, 10, 1)
	block, cyclic, two, hash, every := rows[0].p, rows[1].p, rows[3].p, rows[8].p, rows[9].p
	all := []Partition{block, cyclic, two, hash, every}
	for i, a := range all {
		for j, b := range all {
			assert.Equal(t, i == j, Equal(a, b), "%d and %d", a.Kind(), b.Kind())
		}
	}
	other, err := NewBlock(10, 2)
	assert.False(t, Equal(block, must(t, other, err)))
}
