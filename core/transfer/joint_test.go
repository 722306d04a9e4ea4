package transfer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/status"
	"dtl/core/transfer"
)

// jointTrials are moves between layouts that differ, some of much and some of little.
func jointTrials(t *testing.T, ranks int) []trial {
	of := func(n int64, from, to string) trial {
		all := kinds(t, n, ranks)
		return trial{
			src: transfer.Side{Layout: layout(t, all[from])}, dst: transfer.Side{Layout: layout(t, all[to])}, item: 8, ranks: ranks,
		}
	}
	return []trial{of(700, "block", "cyclic"), of(3, "explicit", "block"), of(500, "on last", "block"), of(90, "replicated", "hash")}
}

func TestPartsAreExecutedAtOnce(t *testing.T) {
	for ranks := 1; ranks <= 4; ranks++ {
		trials := jointTrials(t, ranks)
		for _, limit := range []int64{0, 64, 1000} {
			onRanks(t, cpu.Group(ranks), func(c *comm.Comm, host backend.MemorySpace) {
				parts, dsts := make([]transfer.Part, len(trials)), make([]*part, len(trials))
				for i, tr := range trials {
					plan, err := transfer.New(tr.src, tr.dst, tr.item)
					assert.NoError(t, err)
					src := newPart(t, host, tr.src, c.Rank(), tr.item, 0)
					dsts[i] = newPart(t, host, tr.dst, c.Rank(), tr.item, 0)
					defer src.release()
					defer dsts[i].release()
					src.fill()
					parts[i] = transfer.Part{Plan: plan, Src: src.memory, Dst: dsts[i].memory}
				}
				work, err := transfer.PrepareAll(c, parts, limit)
				if !assert.NoError(t, err) || !assert.NoError(t, work.Run()) {
					return
				}
				for i, tr := range trials {
					assert.Empty(t, tr.wrong(dsts[i]), "%d ranks, limit %d, part %d", ranks, limit, i)
				}
			})
		}
	}
}

func TestPartsShareTheirBuffers(t *testing.T) {
	tr := trial{src: transfer.Side{Layout: block(t, 100_000, 2)}, dst: transfer.Side{Layout: cyclic(t, 100_000, 2)}, item: 8, ranks: 2}
	tr.onTracked(t, func(plan *transfer.Plan, c *comm.Comm, mem *tracked, src, dst *part) {
		one := transfer.Part{Plan: plan, Src: src.memory, Dst: dst.memory}
		work, err := transfer.PrepareAll(c, []transfer.Part{one, one, one}, 5000)
		assert.NoError(t, err)
		assert.LessOrEqual(t, mem.most, int64(5000))
		work.Release()
		other, err := transfer.New(tr.src, tr.dst, 4)
		assert.NoError(t, err)
		_, err = transfer.PrepareAll(c, []transfer.Part{one, {Plan: other, Src: src.memory, Dst: dst.memory}}, 0)
		assert.ErrorIs(t, err, status.Internal)
		_, err = transfer.PrepareAll(c, nil, 0)
		assert.ErrorIs(t, err, status.InvalidArgument)
	})
}
