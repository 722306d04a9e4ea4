package transfer_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/comm"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/status"
	"dtl/core/transfer"
)

// counted counts what is sent without blocking, and fails the n-th if that is set.
type counted struct {
	backend.ReducingCommunicator
	counts *[2]atomic.Int64 // messages and bytes, of all ranks
	fail   int64
}

func (c counted) Dup() (backend.ReducingCommunicator, error) {
	d, err := c.ReducingCommunicator.Dup()
	return counted{d, c.counts, c.fail}, err
}

func (c counted) Isend(buf memory.Span, dest, tag int) (backend.Request, error) {
	n := c.counts[0].Add(1)
	c.counts[1].Add(int64(buf.Bytes()))
	r, err := c.ReducingCommunicator.Isend(buf, dest, tag)
	if n == c.fail {
		return nil, status.New(status.Communication, "message %d lost its way", n)
	}
	return r, err
}

func group(n int, fail int64) ([]backend.ReducingCommunicator, *[2]atomic.Int64) {
	ranks, counts := cpu.Group(n), new([2]atomic.Int64)
	for i, r := range ranks {
		ranks[i] = counted{r, counts, fail}
	}
	return ranks, counts
}

func TestMessages(t *testing.T) {
	const n, item = 8 << 10, 64
	long, err := partition.NewBlockCyclic(n, 4, n/16) // 32 KiB
	require.NoError(t, err)
	short, err := partition.NewBlockCyclic(n, 4, 2)
	require.NoError(t, err)
	everywhere, err := partition.NewReplicated(n, 4)
	require.NoError(t, err)
	blocks, root := block(t, n, 4), layout(t, partition.On(0, 4, n))
	shifted := []transfer.Slice{{Start: 100, Step: 1, Count: 6000}}
	moved := []transfer.Slice{{Start: 0, Step: 1, Count: 6000}}
	rows := []struct {
		name     string
		src, dst transfer.Side
		messages int64
		extra    bool
	}{
		{"the same", transfer.Side{Layout: blocks}, transfer.Side{Layout: blocks}, 0, false},
		{"block to cyclic", transfer.Side{Layout: blocks}, transfer.Side{Layout: cyclic(t, n, 4)}, 12, true},
		{"gather", transfer.Side{Layout: blocks}, transfer.Side{Layout: root}, 3, false},
		{"hand out", transfer.Side{Layout: root}, transfer.Side{Layout: blocks}, 3, false},
		{"everywhere", transfer.Side{Layout: blocks}, transfer.Side{Layout: layout(t, everywhere)}, 12, false},
		{"from everywhere", transfer.Side{Layout: layout(t, everywhere)}, transfer.Side{Layout: cyclic(t, n, 4)}, 0, false},
		{"shift", transfer.Side{Layout: blocks, Window: shifted}, transfer.Side{Layout: blocks, Window: moved}, 2, false},
		{"long blocks", transfer.Side{Layout: blocks}, transfer.Side{Layout: layout(t, long)}, 12, false},
		{"short blocks", transfer.Side{Layout: blocks}, transfer.Side{Layout: layout(t, short)}, 12, true},
		{"short blocks to cyclic", transfer.Side{Layout: layout(t, short)}, transfer.Side{Layout: cyclic(t, n, 4)}, 6, true},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			ranks, sent := group(4, 0)
			trial{src: row.src, dst: row.dst, item: item, ranks: 4}.on(t, ranks)
			assert.Equal(t, row.messages, sent[0].Load(), "messages")
			plan, err := transfer.New(row.src, row.dst, item)
			require.NoError(t, err)
			bytes := int64(0)
			for from := range 4 {
				for to := range 4 {
					if from != to {
						bytes += plan.Bytes(from, to)
					}
				}
			}
			assert.Equal(t, bytes, sent[1].Load(), "bytes")
			assert.Equal(t, row.extra, plan.Extra(0) > 0, "extra memory")
		})
	}
}

// tracked remembers the most bytes in use.
type tracked struct {
	memory.Allocator
	now, most, refuse int64
}

func (m *tracked) Allocate(size, alignment int) (memory.Block, error) {
	if m.refuse > 0 && m.now+int64(size) > m.refuse {
		return memory.Block{}, status.New(status.OutOfMemory, "no room for %d bytes", size)
	}
	b, err := m.Allocator.Allocate(size, alignment)
	m.now += int64(b.Size)
	m.most = max(m.most, m.now)
	return b, err
}

func (m *tracked) Deallocate(b memory.Block) {
	m.now -= int64(b.Size)
	m.Allocator.Deallocate(b)
}

// onTracked runs body as each rank, with both parts, on a communicator whose memory is tracked.
func (tr trial) onTracked(t *testing.T, body func(plan *transfer.Plan, c *comm.Comm, mem *tracked, src, dst *part)) {
	t.Helper()
	plan, err := transfer.New(tr.src, tr.dst, tr.item)
	require.NoError(t, err)
	backendtest.OnRanks(t, cpu.Group(tr.ranks), func(main backend.ReducingCommunicator, host backend.MemorySpace) {
		mem := &tracked{Allocator: host}
		c, err := comm.New(main, mem)
		if !assert.NoError(t, err) {
			return
		}
		src, dst := newPart(t, host, tr.src, c.Rank(), tr.item, tr.pad[0]), newPart(t, host, tr.dst, c.Rank(), tr.item, tr.pad[1])
		body(plan, c, mem, src, dst)
		src.release()
		dst.release()
		assert.NoError(t, c.Close())
		assert.Zero(t, mem.now, "temporary memory in use")
	})
}

func TestExtraIsABound(t *testing.T) {
	for _, limit := range []int64{0, 1, 4096, 100_000, 1 << 40} {
		n, bound := int64(5000), limit
		if limit == 1 {
			n, bound = 200, max(limit, 4*256)
		} else if limit == 0 || limit > transfer.DefaultLimit {
			bound = transfer.DefaultLimit
		}
		everyKind(t, n, n, 2, func(src, dst partition.Layout) {
			tr := trial{src: transfer.Side{Layout: src}, dst: transfer.Side{Layout: dst}, item: 256, ranks: 2}
			tr.onTracked(t, func(plan *transfer.Plan, c *comm.Comm, mem *tracked, src, dst *part) {
				extra := plan.Extra(limit)
				assert.LessOrEqual(t, extra, bound)
				work, err := plan.Prepare(c, src.memory, dst.memory, limit)
				if assert.NoError(t, err) && assert.NoError(t, work.Run()) {
					assert.LessOrEqual(t, mem.most, extra)
				}
			})
		})
	}
}

func TestExtraIsABoundForPaddedParts(t *testing.T) {
	shape := []int64{50, 60}
	for _, limit := range []int64{0, 1, 1000, 50_000} {
		for _, pad := range []int64{0, 1} {
			tr := trial{
				src: transfer.Side{Layout: grid(t, shape, 2, 2)}, dst: transfer.Side{Layout: grid(t, shape, 4, 1)},
				item: 8, pad: [2]int64{pad, pad}, ranks: 4,
			}
			tr.onTracked(t, func(plan *transfer.Plan, c *comm.Comm, mem *tracked, src, dst *part) {
				src.fill()
				work, err := plan.Prepare(c, src.memory, dst.memory, limit)
				if assert.NoError(t, err) && assert.NoError(t, work.Run()) {
					assert.LessOrEqual(t, mem.most, plan.Extra(limit))
					assert.Empty(t, tr.wrong(dst))
				}
			})
		}
	}
}

func (p *part) unchanged() bool {
	raw := unsafe.Slice((*byte)(p.storage.Addr()), p.storage.Size())
	return !slices.ContainsFunc(raw, func(b byte) bool { return b != untouched })
}

func TestNoRoomOnOneRankMovesNothing(t *testing.T) {
	tr := trial{
		src: transfer.Side{Layout: block(t, 100_000, 3)}, dst: transfer.Side{Layout: cyclic(t, 100_000, 3)}, item: 8, ranks: 3,
	}
	tr.onTracked(t, func(plan *transfer.Plan, c *comm.Comm, mem *tracked, src, dst *part) {
		src.fill()
		if c.Rank() == 1 {
			mem.refuse = 10_000
		}
		err := plan.Execute(c, src.memory, dst.memory, 0)
		assert.ErrorIs(t, err, status.OutOfMemory)
		assert.ErrorContains(t, err, "no room for")
		assert.True(t, dst.unchanged())
		assert.NoError(t, plan.Execute(c, src.memory, dst.memory, 5_000), "the communicator goes on")
		assert.Empty(t, tr.wrong(dst))
	})
}

func TestExecuteRefuses(t *testing.T) {
	tr := trial{src: transfer.Side{Layout: block(t, 10, 2)}, dst: transfer.Side{Layout: cyclic(t, 10, 2)}, item: 8, ranks: 2}
	tr.onTracked(t, func(plan *transfer.Plan, c *comm.Comm, mem *tracked, src, dst *part) {
		err := plan.Execute(c, src.memory, dst.memory, -1)
		assert.ErrorIs(t, err, status.InvalidArgument)
		assert.ErrorContains(t, err, "limit of -1 bytes")
		err = plan.Execute(c, src.memory, transfer.Memory{Addr: dst.memory.Addr, Strides: []int64{8, 8}}, 0)
		assert.ErrorIs(t, err, status.InvalidArgument)
		assert.ErrorContains(t, err, "destination memory has 2 strides for 1 dimensions")
		err = plan.Execute(c, src.memory, dst.memory, int64(c.Rank()))
		assert.ErrorIs(t, err, status.Mismatch)
		large, err := transfer.New(transfer.Side{Layout: block(t, 10, 3)}, tr.dst, 8)
		assert.NoError(t, err)
		err = large.Execute(c, src.memory, dst.memory, 0)
		assert.ErrorContains(t, err, "plan for 3 ranks executed on 2")
		assert.True(t, dst.unchanged())
	})
}

func TestReleaseInsteadOfRun(t *testing.T) {
	tr := trial{src: transfer.Side{Layout: block(t, 100, 2)}, dst: transfer.Side{Layout: cyclic(t, 100, 2)}, item: 8, ranks: 2}
	tr.onTracked(t, func(plan *transfer.Plan, c *comm.Comm, mem *tracked, src, dst *part) {
		work, err := plan.Prepare(c, src.memory, dst.memory, 0)
		assert.NoError(t, err)
		assert.Positive(t, mem.now)
		work.Release()
		assert.Zero(t, mem.now)
		assert.True(t, dst.unchanged())
	})
}

// A message that fails on its way out is an error there, and keeps nobody waiting.
func TestFailedMessage(t *testing.T) {
	ranks, sent := group(3, 4)
	failed := new(atomic.Int64)
	src, dst := transfer.Side{Layout: block(t, 3000, 3)}, transfer.Side{Layout: cyclic(t, 3000, 3)}
	plan, err := transfer.New(src, dst, 8)
	require.NoError(t, err)
	onRanks(t, ranks, func(c *comm.Comm, mem backend.MemorySpace) {
		from, to := newPart(t, mem, src, c.Rank(), 8, 0), newPart(t, mem, dst, c.Rank(), 8, 0)
		defer from.release()
		defer to.release()
		from.fill()
		if err := plan.Execute(c, from.memory, to.memory, 400); err != nil {
			assert.ErrorIs(t, err, status.Communication)
			assert.ErrorContains(t, err, "message 4 lost its way")
			failed.Add(1)
		}
	})
	assert.Equal(t, int64(1), failed.Load())
	assert.Greater(t, sent[0].Load(), int64(100), "the others went on")
}

func TestRanksOfTheCommunicator(t *testing.T) {
	for _, ranks := range [][2][]int{{{4, 2}, {0, 1, 3}}, {{3, 2}, {2, 3, 0}}, {nil, {4, 3, 2}}, {{1, 0}, nil}} {
		for _, src := range kinds(t, 50, 2) {
			for _, dst := range kinds(t, 50, 3) {
				trial{
					src:  transfer.Side{Layout: layout(t, src), Ranks: ranks[0]},
					dst:  transfer.Side{Layout: layout(t, dst), Ranks: ranks[1]},
					item: 8, ranks: 5,
				}.run(t)
			}
		}
	}
}
