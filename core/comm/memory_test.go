package comm_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/memory"
	"dtl/core/status"
)

// small is memory that has no large blocks.
type small struct{ memory.Allocator }

func (s small) Allocate(size, alignment int) (memory.Block, error) {
	if size >= 1<<20 {
		return memory.Block{}, status.New(status.OutOfMemory, "%d bytes are too many here", size)
	}
	return s.Allocator.Allocate(size, alignment)
}

// TestNoRoomOnOneRank has rank 1 of 3 fail in the middle of a call: every rank learns of it, and goes on.
func TestNoRoomOnOneRank(t *testing.T) {
	host, err := backend.As[backend.MemoryProvider](backend.Local)
	require.NoError(t, err)
	before, _ := host.Memory().InUse()
	const n = 3
	values := array(make([]float64, n<<17), n, 1<<17)
	var all sync.WaitGroup
	for rank, main := range cpu.Group(n) {
		mem := memory.Allocator(host.Memory())
		if rank == 1 {
			mem = small{mem}
		}
		all.Add(1)
		go func() {
			defer all.Done()
			c, err := comm.New(main, mem)
			if !assert.NoError(t, err) {
				return
			}
			for root := range int64(n) {
				if root == 1 {
					continue // it has the values already
				}
				_, err = c.Broadcast(&values, nil, root)
				assertNoRoom(t, rank, err)
				_, err = c.Scatter(&values, nil, root)
				assertNoRoom(t, rank, err)
				assert.NoError(t, c.Barrier(), "the communicator goes on")
			}
			assert.NoError(t, c.Close())
		}()
	}
	all.Wait()
	after, _ := host.Memory().InUse()
	assert.Equal(t, before, after, "bytes in use")
}

func assertNoRoom(t *testing.T, rank int, err error) {
	t.Helper()
	assert.ErrorIs(t, err, status.OutOfMemory)
	if rank == 1 {
		assert.ErrorContains(t, err, "too many here")
	} else {
		assert.ErrorContains(t, err, "another rank has no room for")
	}
}
