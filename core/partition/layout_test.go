package partition

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dtl/core/status"
)

func layoutOf(t *testing.T, shape []int64, grid []int) Layout {
	t.Helper()
	var dims []Partition
	for d, n := range shape {
		p, err := NewBlock(n, grid[d])
		dims = append(dims, must(t, p, err))
	}
	l, err := NewLayout(dims...)
	require.NoError(t, err)
	return l
}

func TestLayout(t *testing.T) {
	for _, row := range []struct {
		name  string
		shape []int64
		grid  []int
	}{
		{"one dimension", []int64{10}, []int{3}},
		{"one rank", []int64{5, 4, 3}, []int{1, 1, 1}},
		{"first divided", []int64{7, 4}, []int{4, 1}},
		{"last divided", []int64{7, 4}, []int{1, 3}},
		{"both divided", []int64{5, 7}, []int{2, 3}},
		{"fewer rows than ranks", []int64{2, 9}, []int{3, 2}},
		{"three divided", []int64{4, 5, 6}, []int{2, 3, 2}},
		{"no elements", []int64{4, 0, 6}, []int{2, 2, 1}},
	} {
		t.Run(row.name, func(t *testing.T) { checkLayout(t, layoutOf(t, row.shape, row.grid), row.shape, row.grid) })
	}
}

// checkLayout walks the grid as an odometer whose last wheel is the fastest, and deals every element out.
func checkLayout(t *testing.T, l Layout, shape []int64, grid []int) {
	ranks, size := 1, int64(1)
	for d := range grid {
		ranks *= grid[d]
		size *= shape[d]
		assert.EqualValues(t, grid[d], l.Grid()[d])
	}
	assert.Equal(t, len(shape), l.Dims())
	assert.Equal(t, shape, l.Shape())
	assert.Equal(t, ranks, l.Ranks())
	assert.Equal(t, size, l.GlobalSize())
	at, total := make([]int, len(grid)), int64(0)
	for rank := range ranks {
		assert.Equal(t, rank, l.Rank(at))
		local := int64(1)
		for d := range grid {
			assert.Equal(t, at[d], l.Coordinate(rank, d), "axis %d of rank %d", d, rank)
			n := blockSizes(shape[d], grid[d])[at[d]]
			assert.Equal(t, n, l.LocalShape(rank)[d], "axis %d of rank %d", d, rank)
			local *= n
		}
		assert.Equal(t, local, l.LocalSize(rank))
		total += local
		for d := len(grid) - 1; d >= 0; d-- {
			if at[d]++; at[d] < grid[d] {
				break
			}
			at[d] = 0
		}
	}
	assert.Equal(t, size, total)
}

// TestLayoutSub cuts rows out: the other dimensions stay, and so does the owner of each row.
func TestLayoutSub(t *testing.T) {
	l := layoutOf(t, []int64{7, 5}, []int{3, 2})
	s := l.Sub(2, 4)
	assert.Equal(t, []int64{4, 5}, s.Shape())
	assert.Equal(t, l.Grid(), s.Grid())
	assert.Equal(t, []int64{7, 5}, l.Shape(), "the whole is as it was")
	checkAll(t, s.Dim(0), dealSizes([]int64{3, 2, 2}).sub(2, 4))
	assert.Equal(t, l.Dim(1), s.Dim(1))
	total := int64(0)
	for rank := range s.Ranks() {
		total += s.LocalSize(rank)
	}
	assert.Equal(t, s.GlobalSize(), total)
	assert.True(t, s.Equal(l.Sub(1, 5).Sub(1, 4)))
	assert.False(t, s.Equal(l))
}

func TestLayoutWith(t *testing.T) {
	l := layoutOf(t, []int64{8, 6}, []int{2, 2})
	cyclic, err := NewCyclic(9, 2)
	require.NoError(t, err)
	w := l.With(1, cyclic)
	assert.Equal(t, []int64{8, 9}, w.Shape())
	assert.Equal(t, []int64{4, 5}, w.LocalShape(2))
	assert.Equal(t, []int64{4, 4}, w.LocalShape(3))
	assert.False(t, w.Equal(l))
	assert.True(t, w.With(1, l.Dim(1)).Equal(l))
	assert.Equal(t, []int64{8, 6}, l.Shape(), "the first is as it was")
	assert.False(t, layoutOf(t, []int64{8}, []int{2}).Equal(l), "fewer dimensions")
}

// TestLayoutKeepsItsOwn: a caller's list may change afterwards.
func TestLayoutKeepsItsOwn(t *testing.T) {
	dims := []Partition{On(0, 2, 4), On(0, 1, 3)}
	l, err := NewLayout(dims...)
	require.NoError(t, err)
	dims[0] = On(0, 2, 99)
	assert.Equal(t, []int64{4, 3}, l.Shape())
}

func TestLayoutReplicated(t *testing.T) {
	every := func(ranks int) Partition { p, err := NewReplicated(4, ranks); return must(t, p, err) }
	block := func(ranks int) Partition { p, err := NewBlock(5, ranks); return must(t, p, err) }
	for _, row := range []struct {
		name string
		dims []Partition
		want bool
	}{
		{"one dimension", []Partition{every(3)}, true},
		{"on one rank", []Partition{every(1)}, true},
		{"the other whole", []Partition{every(3), block(1)}, true},
		{"the second", []Partition{block(1), every(3)}, true},
		{"a range", []Partition{NewSub(every(3), 1, 2), block(1)}, true},
		{"the other divided", []Partition{every(2), block(2)}, false},
		{"divided", []Partition{block(3)}, false},
		{"one rank only", []Partition{block(1), block(1)}, false},
	} {
		l, err := NewLayout(row.dims...)
		require.NoError(t, err)
		assert.Equal(t, row.want, l.Replicated(), row.name)
		for rank := range l.Ranks() {
			assert.True(t, !row.want || l.LocalSize(rank) == l.GlobalSize(), row.name)
		}
	}
}

func TestLayoutRefusals(t *testing.T) {
	_, err := NewLayout()
	wantError(t, err, status.InvalidArgument, "no dimensions")
	_, err = NewLayout(On(0, 1, 1<<32), On(0, 1, 1<<31))
	wantError(t, err, status.InvalidArgument, "shape has more than 9223372036854775807 elements")
	_, err = NewLayout(On(0, 1, 1<<62), On(0, 1, 0), On(0, 1, 1<<62))
	wantError(t, err, status.InvalidArgument, "shape has more than")
	a, err := NewBlock(3, 1<<16)
	require.NoError(t, err)
	_, err = NewLayout(a, a)
	wantError(t, err, status.InvalidArgument, "grid has more than 2147483647 ranks")
	l, err := NewLayout(On(0, 1, math.MaxInt64), On(0, 1, 1))
	require.NoError(t, err)
	assert.EqualValues(t, math.MaxInt64, l.GlobalSize())
	l, err = NewLayout(On(0, 1, math.MaxInt64), On(0, 1, 0))
	require.NoError(t, err)
	assert.Zero(t, l.GlobalSize())
}
