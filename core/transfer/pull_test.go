package transfer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/partition"
	"dtl/core/transfer"
)

// Ranks read if some rank receives much, in long stretches, and every rank can.
func TestPulls(t *testing.T) {
	const n = 64 << 10
	blocks, swapped := block(t, n, 2), layout(t, partition.On(1, 2, n))
	for _, row := range []struct {
		name  string
		dst   partition.Layout
		item  int
		pulls bool
	}{
		{"half of it", swapped, 8, true},
		{"a little", swapped, 2, false},
		{"nothing", blocks, 8, false},
		{"single elements", cyclic(t, n, 2), 8, false},
	} {
		onRanks(t, cpu.Group(2), func(c *comm.Comm, mem backend.MemorySpace) {
			src, dst := transfer.Side{Layout: blocks}, transfer.Side{Layout: row.dst}
			plan, err := transfer.New(src, dst, row.item)
			assert.NoError(t, err)
			from, to := newPart(t, mem, src, c.Rank(), row.item, 0), newPart(t, mem, dst, c.Rank(), row.item, 0)
			work, err := plan.Prepare(c, from.memory, to.memory, 0)
			assert.NoError(t, err)
			all := make([]comm.Shared, 2)
			assert.NoError(t, c.AgreeSharing(comm.Call{Op: "pull"}, nil, work.Share(), all))
			assert.Equal(t, row.pulls, work.Pulls(all), row.name)
			work.Release()
			from.release()
			to.release()
		})
	}
}
