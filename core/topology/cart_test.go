package topology_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dtl/core/backend"
	"dtl/core/status"
	"dtl/core/topology"
)

func TestFill(t *testing.T) {
	for _, row := range []struct {
		n          int
		dims, want []int64
	}{
		{1, nil, nil},
		{1, []int64{0, 0}, []int64{1, 1}},
		{6, []int64{0, 0}, []int64{3, 2}},
		{7, []int64{0, 0}, []int64{7, 1}},
		{12, []int64{0, 0, 0}, []int64{3, 2, 2}},
		{16, []int64{0, 0, 0}, []int64{4, 2, 2}},
		{60, []int64{0, 0, 0}, []int64{5, 4, 3}},
		{12, []int64{0, 2}, []int64{6, 2}},
		{12, []int64{0, 3, 0}, []int64{2, 3, 2}},
		{12, []int64{3, 4}, []int64{3, 4}},
		{720720, []int64{0, 0, 0, 0}, []int64{33, 30, 28, 26}},
		{1 << 20, make([]int64, 32), slices.Concat(slices.Repeat([]int64{2}, 20), slices.Repeat([]int64{1}, 12))},
	} {
		got, err := topology.Fill(row.n, row.dims)
		assert.NoError(t, err)
		assert.Equal(t, row.want, got, "%d in %v", row.n, row.dims)
	}
}

// TestFillIsTheMostEqual compares with all factorisations.
func TestFillIsTheMostEqual(t *testing.T) {
	for n := 1; n <= 130; n++ {
		var best []int64
		for a := int64(1); a <= int64(n); a++ {
			for b := int64(1); b <= a && a*b <= int64(n); b++ {
				if c := int64(n) / (a * b); a*b*c == int64(n) && c <= b {
					if f := []int64{a, b, c}; best == nil || slices.Compare(f, best) < 0 {
						best = f
					}
				}
			}
		}
		got, err := topology.Fill(n, make([]int64, 3))
		assert.NoError(t, err)
		assert.Equal(t, best, got)
	}
}

func TestCartRefusals(t *testing.T) {
	for _, row := range []struct {
		dims    []int64
		periods int
		text    string
	}{
		{[]int64{2, 2}, 2, "dims [2 2] do not multiply to the 6 ranks"},
		{[]int64{4, 0}, 2, "dims [4 0] do not multiply to the 6 ranks"},
		{[]int64{12}, 1, "dims [12] do not multiply"},
		{nil, 0, "dims [] do not multiply"},
		{[]int64{-2, 3}, 2, "axis 0 has -2"},
		{[]int64{2, 3}, 1, "periods has 1 entries for 2 dims"},
		{make([]int64, 33), 33, "at most 32"},
		{[]int64{math.MaxInt64, 2}, 2, "do not multiply"},
	} {
		_, err := topology.NewCart(6, row.dims, make([]bool, row.periods))
		assert.ErrorIs(t, err, status.InvalidArgument)
		assert.ErrorContains(t, err, row.text)
	}
	g, err := topology.NewCart(6, []int64{2, 3}, []bool{false, true})
	require.NoError(t, err)
	for _, rank := range []int64{-1, 6, math.MaxInt64} {
		_, err = g.Coords(rank)
		assert.ErrorIs(t, err, status.OutOfBounds)
		_, _, err = g.Shift(rank, 0, 1)
		assert.ErrorIs(t, err, status.OutOfBounds)
	}
	_, err = g.Rank([]int64{2, 0})
	assert.ErrorContains(t, err, "coordinate 2 outside [0, 2) along axis 0, which has no period")
	_, err = g.Rank([]int64{1})
	assert.ErrorIs(t, err, status.InvalidArgument)
	for _, axis := range []int64{-1, 2} {
		_, _, err = g.Shift(0, axis, 1)
		assert.ErrorIs(t, err, status.OutOfBounds)
	}
}

// TestCartAgainstPlainLoops checks ranks, coordinates and shifts of grids.
func TestCartAgainstPlainLoops(t *testing.T) {
	for _, dims := range [][]int64{{1}, {5}, {2, 3}, {1, 4}, {3, 1, 2}} {
		for bits := range 1 << len(dims) {
			periods := make([]bool, len(dims))
			n := 1
			for axis := range dims {
				periods[axis], n = bits>>axis&1 == 1, n*int(dims[axis])
			}
			g, err := topology.NewCart(n, dims, periods)
			require.NoError(t, err)
			for rank := range int64(n) {
				coords, err := g.Coords(rank)
				require.NoError(t, err)
				back, err := g.Rank(coords)
				require.NoError(t, err)
				assert.Equal(t, rank, back)
				for axis := range dims {
					for by := int64(-7); by <= 7; by++ {
						source, dest, err := g.Shift(rank, int64(axis), by)
						require.NoError(t, err)
						name := fmt.Sprint(dims, periods, rank, axis, by)
						assert.Equal(t, walk(g, coords, axis, -by), source, name)
						assert.Equal(t, walk(g, coords, axis, by), dest, name)
					}
				}
			}
		}
	}
}

// walk goes step by step.
func walk(g *topology.Cart, from []int64, axis int, by int64) int64 {
	at := slices.Clone(from)
	step := int64(1)
	if by < 0 {
		step, by = -1, -by
	}
	for range by {
		at[axis] += step
		if at[axis] < 0 || at[axis] == g.Dims[axis] {
			if !g.Periods[axis] {
				return backend.ProcNull
			}
			at[axis] = (at[axis] + g.Dims[axis]) % g.Dims[axis]
		}
	}
	rank := int64(0)
	for a := range at {
		rank = rank*g.Dims[a] + at[a]
	}
	return rank
}

func TestShiftsThatAreVeryLong(t *testing.T) {
	g, err := topology.NewCart(6, []int64{2, 3}, []bool{false, true})
	require.NoError(t, err)
	for _, by := range []int64{math.MaxInt64, math.MinInt64} {
		source, dest, err := g.Shift(0, 0, by)
		assert.NoError(t, err)
		assert.Equal(t, []int64{backend.ProcNull, backend.ProcNull}, []int64{source, dest})
		_, dest, err = g.Shift(0, 1, by)
		assert.NoError(t, err)
		assert.Equal(t, (by%3+3)%3, dest)
	}
	all, err := g.Neighbors(4)
	assert.NoError(t, err)
	assert.Equal(t, []int64{1, backend.ProcNull, 3, 5}, all)
}

// runs is as many nodes, of some ranks each.
func runs(nodes, ranks int) (all []int) {
	for rank := range nodes * ranks {
		all = append(all, rank/ranks)
	}
	return all
}

func TestReorder(t *testing.T) {
	var squares []int64 // of two by two, four in a row of eight
	for rank := range int64(32) {
		tile, inside := rank/4, rank%4
		squares = append(squares, (2*(tile/4)+inside/2)*8+2*(tile%4)+inside%2)
	}
	rows := []struct {
		name  string
		dims  []int64
		nodes []int
		want  []int64
	}{
		{"one node", []int64{2, 2}, []int{0, 0, 0, 0}, []int64{0, 1, 2, 3}},
		{"two nodes, in turn", []int64{4}, []int{0, 1, 0, 1}, []int64{0, 2, 1, 3}},
		{"eight nodes of four: squares", []int64{4, 8}, runs(8, 4), squares},
		{"uneven: node by node", []int64{4}, []int{1, 0, 1, 1}, []int64{1, 0, 2, 3}},
		{"no block fits", []int64{3, 3}, []int{0, 1, 0, 1, 0, 1, 0, 1, 2}, []int64{0, 4, 1, 5, 2, 6, 3, 7, 8}},
		{"an axis that is filled has no surface", []int64{2, 4}, runs(2, 4), []int64{0, 1, 4, 5, 2, 3, 6, 7}},
	}
	for _, row := range rows {
		got := topology.Reorder(row.dims, row.nodes)
		assert.Equal(t, row.want, got, row.name)
		sorted := slices.Sorted(slices.Values(got))
		for i, rank := range sorted {
			assert.Equal(t, int64(i), rank, row.name)
		}
	}
}
