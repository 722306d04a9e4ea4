package topology

import (
	"cmp"
	"slices"
)

// Reorder returns the rank in a grid for each rank of nodes, so that those of one node are neighbours there. Where every
// node has as many ranks and blocks of that many tile the grid, each node has a block, of the shape with the fewest
// neighbours outside; else the nodes follow each other in rank order.
func Reorder(dims []int64, nodes []int) []int64 {
	order := make([]int, len(nodes)) // the ranks, node by node
	for rank := range order {
		order[rank] = rank
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(nodes[a], nodes[b]) })
	places := make([]int64, len(nodes))
	block := blockOf(dims, evenly(nodes))
	if block == nil {
		for at, rank := range order {
			places[rank] = int64(at)
		}
		return places
	}
	tiles := make([]int64, len(dims))
	for axis, extent := range dims {
		tiles[axis] = extent / block[axis]
	}
	whole := Cart{dims, make([]bool, len(dims))}
	inside, outside := Cart{block, whole.Periods}, Cart{tiles, whole.Periods}
	for at, rank := range order {
		tile, _ := outside.Coords(int64(at) / inside.Size()) // neither rank is outside: the blocks tile the grid
		coords, _ := inside.Coords(int64(at) % inside.Size())
		for axis := range coords {
			coords[axis] += tile[axis] * block[axis]
		}
		places[rank], _ = whole.Rank(coords)
	}
	return places
}

// evenly returns how many ranks each node has; 0 where they have not as many.
func evenly(nodes []int) int64 {
	counts := map[int]int64{}
	for _, node := range nodes {
		counts[node]++
	}
	for _, n := range counts {
		if n != counts[nodes[0]] {
			return 0
		}
	}
	return counts[nodes[0]]
}

// blockOf returns the shape of n ranks that tiles a grid and has the smallest surface; nil if none does.
func blockOf(dims []int64, n int64) (best []int64) {
	if n == 0 {
		return nil
	}
	least := int64(0)
	var try func(block []int64, left int64)
	try = func(block []int64, left int64) {
		if len(block) == len(dims) {
			if s := surface(dims, block); left == 1 && (best == nil || s < least) {
				best, least = slices.Clone(block), s
			}
			return
		}
		for _, d := range divisors(left) {
			if dims[len(block)]%d == 0 {
				try(append(block, d), left/d)
			}
		}
	}
	try(nil, n)
	return best
}

// surface is how many neighbours of a block lie outside of it; along an axis that it fills, none.
func surface(dims, block []int64) (n int64) {
	size := int64(1)
	for _, extent := range block {
		size *= extent
	}
	for axis, extent := range block {
		if extent < dims[axis] {
			n += 2 * size / extent
		}
	}
	return n
}
