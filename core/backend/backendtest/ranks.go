package backendtest

import (
	"hash/fnv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dtl/core/backend"
)

// Sizes returns the numbers of ranks that a test runs on: 1 to most, which is at least 3. With -short they are 1, and of
// each half of the others one, which the test's name draws, so that each number has tests of its own.
func Sizes(t *testing.T, most int) []int {
	if !testing.Short() {
		sizes := make([]int, most)
		for i := range sizes {
			sizes[i] = i + 1
		}
		return sizes
	}
	name := fnv.New32a()
	_, _ = name.Write([]byte(t.Name()))
	drawn, half := int(name.Sum32()>>1), (most-1)/2
	return []int{1, 2 + drawn%half, 2 + half + drawn/half%(most-1-half)}
}

// OnRanks runs body as each of ranks at once, which are one communicator's, with the memory of this process. It
// checks that none of that is left in use when all have ended. For tests of what stands on communicators.
func OnRanks(t *testing.T, ranks []backend.ReducingCommunicator,
	body func(rank backend.ReducingCommunicator, mem backend.MemorySpace)) {
	t.Helper()
	host, err := backend.As[backend.MemoryProvider](backend.Local)
	require.NoError(t, err)
	mem := host.Memory()
	before, _ := mem.InUse()
	var all sync.WaitGroup
	for _, rank := range ranks {
		all.Go(func() { body(rank, mem) })
	}
	all.Wait()
	after, _ := mem.InUse()
	assert.Equal(t, before, after, "bytes in use")
}
