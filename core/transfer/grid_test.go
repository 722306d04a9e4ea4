package transfer_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"dtl/core/partition"
	"dtl/core/transfer"
)

// grid divides each dimension by blocks.
func grid(t *testing.T, shape []int64, extents ...int) partition.Layout {
	t.Helper()
	dims := make([]partition.Partition, len(shape))
	for d, n := range shape {
		p, err := partition.NewBlock(n, extents[d])
		dims[d] = onePart(t, p, err)
	}
	return layout(t, dims...)
}

// first divides the first dimension by p and no other.
func first(t *testing.T, p partition.Partition, shape ...int64) partition.Layout {
	t.Helper()
	dims := []partition.Partition{p}
	for _, n := range shape {
		q, err := partition.NewBlock(n, 1)
		dims = append(dims, onePart(t, q, err))
	}
	return layout(t, dims...)
}

func TestGrids(t *testing.T) {
	matrix, cube := []int64{13, 18}, []int64{5, 8, 7}
	matrices := []partition.Layout{
		grid(t, matrix, 4, 1), grid(t, matrix, 1, 4), grid(t, matrix, 2, 2), grid(t, matrix, 2, 1), grid(t, matrix, 1, 1),
		layout(t, partition.On(1, 2, 13), partition.On(0, 2, 18)),
		first(t, partition.On(3, 4, 13), 18),
	}
	cubes := []partition.Layout{
		grid(t, cube, 4, 1, 1), grid(t, cube, 1, 2, 2), grid(t, cube, 2, 1, 2), grid(t, cube, 1, 1, 3), grid(t, cube, 2, 2, 1),
	}
	for _, k := range kinds(t, 13, 4) {
		matrices = append(matrices, first(t, k, 18))
	}
	dealt := kinds(t, 18, 2)
	matrices = append(matrices, layout(t, kinds(t, 13, 2)["block cyclic 2"], dealt["block cyclic 3"]),
		layout(t, kinds(t, 13, 2)["block"], dealt["hash"]))
	for _, k := range kinds(t, 5, 3) {
		cubes = append(cubes, first(t, k, 8, 7))
	}
	for _, all := range [][]partition.Layout{matrices, cubes} {
		for i, src := range all {
			for j, dst := range all {
				if testing.Short() && (i+j)%3 != 0 {
					continue
				}
				for _, row := range []trial{
					{item: 8}, {item: 4, pad: [2]int64{2, 1}}, {item: 16, limit: 1}, {item: 3, pad: [2]int64{0, 1}, limit: 100},
				} {
					row.src, row.dst, row.ranks = transfer.Side{Layout: src}, transfer.Side{Layout: dst}, 4
					row.run(t)
				}
			}
		}
	}
}

func TestWindowsInEachDimension(t *testing.T) {
	a, b := []int64{12, 9, 10}, []int64{7, 30, 8}
	rows := [][2][]transfer.Slice{
		{{{0, 2, 6}, {1, 1, 8}, {9, -1, 8}}, {{0, 1, 6}, {29, -4, 8}, {0, 1, 8}}},
		{{{11, -2, 6}, {8, -2, 4}, {0, 5, 2}}, {{6, -1, 6}, {3, 7, 4}, {5, -2, 2}}},
		{{{3, 1, 7}, {0, 1, 9}, {2, 1, 8}}, {{0, 1, 7}, {4, 1, 9}, {0, 1, 8}}},
		{{{3, 1, 1}, {0, 1, 9}, {2, 1, 1}}, {{6, 1, 1}, {4, 3, 9}, {7, -1, 1}}},
		{{{3, 1, 0}, {0, 1, 9}, {2, 1, 1}}, {{6, 1, 0}, {4, 3, 9}, {7, -1, 1}}},
	}
	sources := []partition.Layout{grid(t, a, 2, 2, 1), grid(t, a, 1, 1, 4), grid(t, a, 4, 1, 1)}
	destinations := []partition.Layout{grid(t, b, 1, 2, 2), grid(t, b, 1, 4, 1)}
	for _, k := range kinds(t, 12, 4) {
		sources = append(sources, first(t, k, 9, 10))
	}
	for _, name := range []string{"cyclic", "hash", "explicit", "sub"} {
		destinations = append(destinations, first(t, kinds(t, 7, 3)[name], 30, 8))
	}
	for i, row := range rows {
		t.Run(fmt.Sprint("row ", i), func(t *testing.T) {
			for _, src := range sources {
				for _, dst := range destinations {
					trial{
						src:  transfer.Side{Layout: src, Window: row[0]},
						dst:  transfer.Side{Layout: dst, Window: row[1]},
						item: 2, pad: [2]int64{int64(i % 2), int64(i / 2 % 2)}, ranks: 4,
					}.run(t)
				}
			}
		})
	}
}

// A tensor of one column is a vector whose last dimension has no stride to speak of.
func TestDimensionsOfOne(t *testing.T) {
	for _, shape := range [][]int64{{20, 1}, {1, 20}, {1, 20, 1}, {1, 1, 1}, {1, 20, 1, 3}} {
		var layouts []partition.Layout
		for d := range shape {
			extents := make([]int, len(shape))
			for e := range extents {
				extents[e] = 1
			}
			extents[d] = 3
			layouts = append(layouts, grid(t, shape, extents...))
		}
		for _, src := range layouts {
			for _, dst := range layouts {
				for _, pad := range []int64{0, 3} {
					trial{src: transfer.Side{Layout: src}, dst: transfer.Side{Layout: dst}, item: 8, pad: [2]int64{pad, pad}, ranks: 3}.run(t)
				}
			}
		}
	}
}

// Rows of 40 KiB are messages of their own, packed where the memory is padded.
func TestLongStretches(t *testing.T) {
	shape := []int64{12, 10}
	blocks, err := partition.NewBlockCyclic(12, 3, 2)
	require.NoError(t, err)
	cyclic, err := partition.NewCyclic(12, 3)
	require.NoError(t, err)
	all := []partition.Layout{
		first(t, blocks, shape[1]), first(t, cyclic, shape[1]), grid(t, shape, 3, 1), grid(t, shape, 1, 3), grid(t, shape, 1, 2),
	}
	for _, src := range all {
		for _, dst := range all {
			for _, row := range []trial{{item: 4096}, {item: 4096, pad: [2]int64{1, 0}}, {item: 4096, pad: [2]int64{1, 1}}, {item: 4096, limit: 100_000}} {
				row.src, row.dst, row.ranks = transfer.Side{Layout: src}, transfer.Side{Layout: dst}, 3
				row.run(t)
			}
		}
	}
}
