package transfer_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/comm"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/transfer"
)

// onRanks runs body as each rank, and checks that no memory is left in use.
func onRanks(t *testing.T, ranks []backend.ReducingCommunicator, body func(c *comm.Comm, mem backend.MemorySpace)) {
	t.Helper()
	backendtest.OnRanks(t, ranks, func(main backend.ReducingCommunicator, mem backend.MemorySpace) {
		c, err := comm.New(main, memory.Allocator(mem))
		if assert.NoError(t, err) {
			body(c, mem)
			assert.NoError(t, c.Close())
		}
	})
}

// kinds are partitions of every kind of n elements over some ranks.
func kinds(t *testing.T, n int64, ranks int) map[string]partition.Partition {
	t.Helper()
	all := map[string]partition.Partition{"on last": partition.On(ranks-1, ranks, n)}
	add := func(name string, p partition.Partition, err error) { all[name] = onePart(t, p, err) }
	block, err := partition.NewBlock(n, ranks)
	add("block", block, err)
	cyclic, err := partition.NewCyclic(n, ranks)
	add("cyclic", cyclic, err)
	two, err := partition.NewBlockCyclic(n, ranks, 2)
	add("block cyclic 2", two, err)
	three, err := partition.NewBlockCyclic(n, ranks, 3)
	add("block cyclic 3", three, err)
	hash, err := partition.NewHash(n, ranks)
	add("hash", hash, err)
	replicated, err := partition.NewReplicated(n, ranks)
	add("replicated", replicated, err)
	sizes := make([]int64, ranks) // all odd ranks empty
	sizes[0] = n
	for r := 2; r < ranks; r += 2 {
		sizes[r] = n / int64(ranks)
		sizes[0] -= sizes[r]
	}
	explicit, err := partition.NewExplicit(sizes)
	add("explicit", explicit, err)
	inner, err := partition.NewBlockCyclic(n+7, ranks, 2)
	add("sub", partition.NewSub(onePart(t, inner, err), 5, n), nil)
	return all
}

// everyKind runs f for each pair of kinds of the two sizes.
func everyKind(t *testing.T, n, m int64, ranks int, f func(src, dst partition.Layout)) {
	for from, a := range kinds(t, n, ranks) {
		for name, b := range kinds(t, m, ranks) {
			if testing.Short() && (len(from)+len(name))%3 != 0 {
				continue
			}
			f(layout(t, a), layout(t, b))
		}
	}
}

func TestEveryKindToEveryKind(t *testing.T) {
	for ranks := 1; ranks <= 5; ranks++ {
		t.Run(fmt.Sprintf("%d ranks", ranks), func(t *testing.T) {
			for _, n := range []int64{0, 1, 2, 7, 100, 1003} {
				everyKind(t, n, n, ranks, func(src, dst partition.Layout) {
					trial{src: transfer.Side{Layout: src}, dst: transfer.Side{Layout: dst}, item: 8, ranks: ranks}.run(t)
				})
			}
		})
	}
}

// windows are pairs of equal counts: on 100 and on 64 elements.
var windows = [][2]transfer.Slice{
	{{Start: 0, Step: 1, Count: 64}, {Start: 0, Step: 1, Count: 64}},
	{{Start: 36, Step: 1, Count: 64}, {Start: 0, Step: 1, Count: 64}},
	{{Start: 7, Step: 2, Count: 40}, {Start: 11, Step: 1, Count: 40}},
	{{Start: 30, Step: 1, Count: 20}, {Start: 3, Step: 3, Count: 20}},
	{{Start: 99, Step: -1, Count: 50}, {Start: 0, Step: 1, Count: 50}},
	{{Start: 5, Step: 1, Count: 30}, {Start: 59, Step: -2, Count: 30}},
	{{Start: 99, Step: -3, Count: 20}, {Start: 63, Step: -2, Count: 20}},
	{{Start: 1, Step: 6, Count: 16}, {Start: 0, Step: 4, Count: 16}},
	{{Start: 98, Step: -4, Count: 10}, {Start: 2, Step: 6, Count: 10}},
	{{Start: 42, Step: -5, Count: 1}, {Start: 63, Step: 9, Count: 1}},
	{{Start: 100, Step: -1, Count: 0}, {Start: 0, Step: 2, Count: 0}},
}

func TestWindows(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 4} {
		t.Run(fmt.Sprintf("%d ranks", ranks), func(t *testing.T) {
			for _, w := range windows {
				everyKind(t, 100, 64, ranks, func(src, dst partition.Layout) {
					trial{
						src:  transfer.Side{Layout: src, Window: []transfer.Slice{w[0]}},
						dst:  transfer.Side{Layout: dst, Window: []transfer.Slice{w[1]}},
						item: 4, ranks: ranks,
					}.run(t)
				})
			}
		})
	}
}

func TestItemSizesAndLimits(t *testing.T) {
	for _, item := range []int{1, 2, 3, 4, 8, 16, 24} {
		for _, limit := range []int64{0, 1, int64(4 * item), 100, 1000} {
			everyKind(t, 100, 64, 3, func(src, dst partition.Layout) {
				w := windows[5]
				trial{
					src:  transfer.Side{Layout: src, Window: []transfer.Slice{w[0]}},
					dst:  transfer.Side{Layout: dst, Window: []transfer.Slice{w[1]}},
					item: item, ranks: 3, limit: limit,
				}.run(t)
			})
		}
	}
}
