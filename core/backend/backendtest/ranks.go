package backendtest

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dtl/core/backend"
)

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
