package rma

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// meanwhile is a window during whose flushes something else happens.
type meanwhile struct {
	backend.Window
	happens func()
}

func (m meanwhile) Flush(target int) error {
	m.happens()
	return m.Window.Flush(target)
}

// TestUnlockWaitsForNoNewAccess: another thread begins none once this one unlocks.
func TestUnlockWaitsForNoNewAccess(t *testing.T) {
	backendtest.OnRanks(t, cpu.Group(1), func(main backend.ReducingCommunicator, mem backend.MemorySpace) {
		c, err := comm.New(main, mem)
		assert.NoError(t, err)
		w, err := New(c, mem, Part{Bytes: 8, Allocate: true})
		assert.NoError(t, err)
		word := memory.Of(dtype.Int64, []int64{7})
		reach := w.reach
		for _, target := range []int64{0, backend.Every} {
			w.reach = reach
			assert.NoError(t, w.Lock(target, false))
			assert.NoError(t, w.Put(word, 0, 0))
			flushes := 0
			w.reach = meanwhile{reach, func() {
				if flushes++; flushes > 1 {
					return
				}
				assert.ErrorIs(t, w.Put(word, 0, 0), status.InvalidArgument)
				assert.ErrorIs(t, w.Unlock(target), status.InvalidArgument, "it is under way")
				assert.ErrorIs(t, w.Lock(target, false), status.InvalidArgument)
			}}
			assert.NoError(t, w.Unlock(target))
			assert.Equal(t, 1, flushes)
			assert.ErrorIs(t, w.Put(word, 0, 0), status.InvalidArgument)
		}
		assert.NoError(t, w.Shut())
		assert.NoError(t, w.Close())
		assert.NoError(t, c.Close())
	})
}
