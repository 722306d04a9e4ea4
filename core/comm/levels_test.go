package comm_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// TestLongElementsOfNodes moves what goes in two levels where ranks are on several nodes, by calls with each rank as the root.
func TestLongElementsOfNodes(t *testing.T) {
	const count = 1<<17 + 3
	onRanks(t, 4, func(c *comm.Comm) {
		sum := make([]float64, count)
		for rank := range c.Size() {
			for i, v := range ramp(rank, count) {
				sum[i] += v
			}
		}
		mine, out := array(ramp(c.Rank(), count)), make([]float64, count)
		assert.NoError(t, c.Allreduce(mine.Span, memory.Of(mine.Type, out), kernel.Sum))
		sameElements(t, sum, out, "allreduce")
		for root := range c.Size() {
			clear(out)
			assert.NoError(t, c.Reduce(mine.Span, memory.Of(mine.Type, out), kernel.Sum, int64(root)))
			if c.Rank() == root {
				sameElements(t, sum, out, "reduce")
			}
			value := &mine
			if c.Rank() != root {
				value = nil
			}
			r, err := c.Broadcast(value, nil, int64(root))
			if assert.NoError(t, err) && c.Rank() != root {
				sameElements(t, ramp(root, count), elements(r), "broadcast")
			}
		}
	})
}

// TestSumsInPieces combines what goes in several pieces: of 2 + 2 ranks, of 3 + 1, and of more nodes than send each other their
// portions.
func TestSumsInPieces(t *testing.T) {
	defer comm.PretendNodes(0)
	for _, on := range []struct{ ranks, perNode, count int }{{4, 2, 1<<19 + 5}, {4, 3, 1<<19 + 5}, {36, 2, 1<<18 + 71}} {
		comm.PretendNodes(int64(on.perNode))
		meetingRanks(t, on.ranks, func(c *comm.Comm) {
			mine, sum := make([]int64, on.count), make([]int64, on.count)
			for i := range mine {
				mine[i] = int64(i ^ c.Rank()<<40)
				for rank := range c.Size() {
					sum[i] += int64(i ^ rank<<40)
				}
			}
			out := make([]int64, on.count)
			assert.NoError(t, c.Allreduce(memory.Of(dtype.Int64, mine), memory.Of(dtype.Int64, out), kernel.Sum))
			assert.True(t, slices.Equal(sum, out))
			assert.NoError(t, c.Allreduce(memory.Of(dtype.Int64, mine), memory.Of(dtype.Int64, mine), kernel.Sum))
			assert.True(t, slices.Equal(sum, mine), "in place")
		})
	}
}
