package comm_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/comm"
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
