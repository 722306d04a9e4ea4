package comm_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
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
	const n = 3
	values := array(make([]float64, n<<17), n, 1<<17)
	backendtest.OnRanks(t, cpu.Group(n), func(main backend.ReducingCommunicator, host backend.MemorySpace) {
		rank, mem := main.Rank(), memory.Allocator(host)
		if rank == 1 {
			mem = small{mem}
		}
		c, err := comm.New(main, mem)
		if !assert.NoError(t, err) {
			return
		}
		for _, root := range []int64{0, 2} { // 1 has the values already
			_, err = c.Broadcast(&values, nil, root)
			assertNoRoom(t, rank, err)
			_, err = c.Scatter(&values, nil, root)
			assertNoRoom(t, rank, err)
			assert.NoError(t, c.Barrier(), "the communicator goes on")
		}
		assert.NoError(t, c.Close())
	})
}

func assertNoRoom(t *testing.T, rank int, err error) {
	t.Helper()
	assert.ErrorIs(t, err, status.OutOfMemory)
	if rank == 1 {
		assert.ErrorContains(t, err, "too many here")
	} else {
		assert.ErrorContains(t, err, "rank 1: ")
	}
}
