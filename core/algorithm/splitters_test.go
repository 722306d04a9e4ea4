package algorithm

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
	"dtl/core/status"
)

// Where elements change, a place may have none any more. Here there are fewer elements than the ranks say.
func TestSplittersThatNobodyFinds(t *testing.T) {
	for ranks := 1; ranks <= 3; ranks++ {
		backendtest.OnRanks(t, cpu.Group(ranks), func(main backend.ReducingCommunicator, mem backend.MemorySpace) {
			over, err := comm.New(main, mem)
			assert.NoError(t, err)
			mine, err := memory.NewStorage(mem, 16, memory.Alignment)
			assert.NoError(t, err)
			defer mine.Release()
			s := splitting{
				over:  over,
				order: radix.NewOrder(dtype.Int64, false),
				mine:  memory.Span{Addr: mine.Addr(), Count: 2, Type: dtype.Int64},
				all:   []splitter{{place: 50}},
			}
			defer s.release()
			err = s.run(100)
			assert.ErrorIs(t, err, status.InvalidArgument)
			assert.ErrorContains(t, err, "elements change while they are sorted")
			assert.NoError(t, over.Close())
		})
	}
}
