package hashmap_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/container"
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
		m, err := hashmap.New(on, key, dtype.Int64, container.OnHost)
		require.NoError(t, err)
		body(on, h, m)
		assert.NoError(t, m.Close())
		assert.NoError(t, on.Close())
	})
}

// TestOneRankWithoutMemory lets one rank run out of memory at each place in turn where it asks for some: for where the
// keys go, for what comes, and for the entries of early and late rounds.
func TestOneRankWithoutMemory(t *testing.T) {
	failed := 0
	for left, done := 0, false; !done; left++ {
		withMemory(t, 3, long, func(on *runtime.Context, h *host, m *hashmap.Map) {
			numbers := make([]int64, 6000)
			for i := range numbers {
				numbers[i] = int64(i + on.Rank()*3000) // neighbours share a half
			}
			some, all := written(numbers[:100], long.Bytes), written(numbers, long.Bytes)
			require.NoError(t, m.InsertMany(some, of(numbers[:100])))
			before, err := m.GlobalEntries()
			want := entries(t, long.Bytes, before, err)
			h.counted, h.left = on.Rank() == 1, left
			err = m.UpdateMany(all, of(numbers), int64(kernel.Sum))
			h.counted = false
			if on.Rank() == 0 {
				if done = err == nil; !done {
					failed++
				}
			}
			if err == nil {
				return
			}
			assert.ErrorIs(t, err, status.OutOfMemory, "after %d", left)
			n, err := m.Len()
			assert.NoError(t, err)
			assert.Equal(t, int64(len(want)), n, "after %d", left)
			after, err := m.GlobalEntries()
			assert.True(t, maps.Equal(want, entries(t, long.Bytes, after, err)), "after %d", left)
			assert.NoError(t, m.UpdateMany(all, of(numbers), int64(kernel.Sum)))
			n, err = m.Len()
			assert.NoError(t, err)
			assert.Equal(t, int64(12_000), n)
		})
	}
	assert.Greater(t, failed, 6, "the list, the areas, and segments")
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
