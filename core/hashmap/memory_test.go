package hashmap_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/dtype"
	"dtl/core/hashmap"
	"dtl/core/kernel"
	"dtl/core/runtime"
	"dtl/core/status"
)

// withMemory makes a map on n ranks, each with memory of its own.
func withMemory(t *testing.T, n int, key hashmap.Key, body func(on *runtime.Context, h *host, m *hashmap.Map)) {
	hosts := make([]*host, n)
	for i := range hosts {
		hosts[i] = newHost(t)
	}
	backendtest.OnRanks(t, cpu.Group(n), func(main backend.ReducingCommunicator, _ backend.MemorySpace) {
		h := hosts[main.Rank()]
		on, err := runtime.New(backend.Local, main, h, runtime.NoDevice)
		require.NoError(t, err)
		m, err := hashmap.New(on, key, dtype.Int64)
		require.NoError(t, err)
		body(on, h, m)
		assert.NoError(t, m.Close())
		assert.NoError(t, on.Close())
	})
}

// TestOneRankWithoutMemory lets one rank run out of memory, for several amounts that are too small: for the order, for
// what comes, and for the entries of an early and of a late round.
func TestOneRankWithoutMemory(t *testing.T) {
	for _, extra := range []int64{1000, 100_000, 1_500_000, 2_000_000, 2_500_000} {
		withMemory(t, 3, long, func(on *runtime.Context, h *host, m *hashmap.Map) {
			numbers := make([]int64, 10_000)
			for i := range numbers {
				numbers[i] = int64(i + on.Rank()*5000) // neighbours share a half
			}
			some, all := written(numbers[:100], long.Bytes), written(numbers, long.Bytes)
			require.NoError(t, m.InsertMany(some, of(numbers[:100])))
			before, err := m.GlobalEntries()
			want := entries(t, long.Bytes, before, err)
			if on.Rank() == 1 {
				h.limit, _ = h.InUse()
				h.limit += extra
			}
			assert.ErrorIs(t, m.UpdateMany(all, of(numbers), int64(kernel.Sum)), status.OutOfMemory, "%d more bytes", extra)
			h.limit = 0
			n, err := m.Len()
			assert.NoError(t, err)
			assert.Equal(t, int64(len(want)), n)
			after, err := m.GlobalEntries()
			assert.True(t, maps.Equal(want, entries(t, long.Bytes, after, err)), "%d more bytes", extra)
			assert.NoError(t, m.UpdateMany(all, of(numbers), int64(kernel.Sum)))
			n, err = m.GlobalSize()
			assert.NoError(t, err)
			assert.Equal(t, int64(20_000), n)
		})
	}
}

// TestPeak holds the memory of all ranks, with buffers and growth, to four times the entries'.
func TestPeak(t *testing.T) {
	const total, ranks = 300_000, 2
	var peaks [ranks]int64
	withMemory(t, ranks, int64s, func(on *runtime.Context, h *host, m *hashmap.Map) {
		keys := make([]int64, 0, total)
		for key := int64(on.Rank()); key < total; key += ranks {
			keys = append(keys, key)
		}
		require.NoError(t, m.InsertMany(of(keys), of(keys)))
		_, peaks[on.Rank()] = h.InUse()
	})
	assert.Less(t, peaks[0]+peaks[1], int64(4*16*total))
}
