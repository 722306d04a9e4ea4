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

// failing is a sequence of a device that fails on one rank, at one of its calls.
type failing struct {
	inMemory
	left int // calls that it does not fail at
}

func (f *failing) called(err error) error {
	if f.left--; f.left == -1 {
		return status.New(status.Backend, "the device has failed")
	}
	return err
}

func (f *failing) keys(into []uint64, places []int) error {
	return f.called(f.inMemory.keys(into, places))
}

func (f *failing) search(counts []int64, keys []uint64) error {
	return f.called(f.inMemory.search(counts, keys))
}

// A device that fails on one rank ends the search on all of them, at whichever call, and however keys are proposed.
func TestSplittersOfADeviceThatFails(t *testing.T) {
	for _, few := range []int{0, 64} {
		back := SetFewRanks(few)
		left := 0
		for ended := false; !ended; left++ {
			backendtest.OnRanks(t, cpu.Group(3), func(main backend.ReducingCommunicator, mem backend.MemorySpace) {
				over, err := comm.New(main, mem)
				assert.NoError(t, err)
				elements := make([]int64, 4000)
				for i := range elements {
					elements[i] = int64(3*i + over.Rank())
				}
				f := &failing{inMemory{memory.Of(dtype.Int64, elements), radix.NewOrder(dtype.Int64, false)}, 1 << 30}
				if over.Rank() == 1 {
					f.left = left
				}
				_, _, err = shares(over, f, []int64{4000, 4000, 4000})
				if err != nil {
					assert.ErrorContains(t, err, "the device has failed")
				}
				assert.Equal(t, f.left < 0, err != nil && over.Rank() == 1)
				if over.Rank() == 0 {
					ended = err == nil
				}
				assert.NoError(t, over.Close())
			})
		}
		assert.Greater(t, left, 4)
		back()
	}
}

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
				over: over,
				mine: inMemory{memory.Span{Addr: mine.Addr(), Count: 2, Type: dtype.Int64}, radix.NewOrder(dtype.Int64, false)},
				all:  []splitter{{place: 50}},
			}
			defer s.release()
			err = s.run(100)
			assert.ErrorIs(t, err, status.InvalidArgument)
			assert.ErrorContains(t, err, "elements change while they are sorted")
			assert.NoError(t, over.Close())
		})
	}
}
