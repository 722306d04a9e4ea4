package runtime_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/comm"
	"dtl/core/runtime"
	"dtl/core/status"
)

// onRanks runs body as each of n ranks with a context of its own, which body closes.
func onRanks(t *testing.T, n int, body func(c *runtime.Context)) {
	t.Helper()
	backendtest.OnRanks(t, cpu.Group(n), func(main backend.ReducingCommunicator, mem backend.MemorySpace) {
		c, err := runtime.New(backend.Local, main, mem, runtime.NoDevice)
		if assert.NoError(t, err) {
			body(c)
		}
	})
}

func TestClosedContextStillSaysWhoItWas(t *testing.T) {
	onRanks(t, 3, func(c *runtime.Context) {
		rank := c.Rank()
		assert.NoError(t, c.Close())
		assert.NoError(t, c.Close(), "a second time")
		assert.Equal(t, rank, c.Rank())
		assert.Equal(t, 3, c.Size())
		_, err := c.Comm()
		assert.ErrorIs(t, err, status.InvalidHandle)
		_, err = c.Dup()
		assert.ErrorIs(t, err, status.InvalidHandle)
		_, err = c.Split(0, 0)
		assert.ErrorIs(t, err, status.InvalidHandle)
	})
}

func TestDerivedContextsOutliveTheirParent(t *testing.T) {
	onRanks(t, 4, func(c *runtime.Context) {
		twin, err := c.Dup()
		assert.NoError(t, err)
		color := c.Rank() % 2
		if c.Rank() == 3 {
			color = comm.Undefined
		}
		part, err := c.Split(color, -c.Rank())
		assert.NoError(t, err)
		assert.NoError(t, c.Close())
		on, err := twin.Comm()
		assert.NoError(t, err)
		assert.NoError(t, on.Barrier())
		assert.NoError(t, twin.Close())
		if color == comm.Undefined {
			assert.Nil(t, part)
			return
		}
		assert.Equal(t, []int{2, 1}[color], part.Size())
		assert.Equal(t, map[int]int{0: 1, 1: 0, 2: 0}[c.Rank()], part.Rank(), "ordered by key")
		assert.NoError(t, part.Close())
	})
}

func TestDevicesThatAreNotThere(t *testing.T) {
	onRanks(t, 1, func(c *runtime.Context) {
		_, err := c.WithDevice(-1)
		assert.ErrorIs(t, err, status.OutOfBounds)
		_, err = c.WithDevice(0) // no backend called cuda is registered in this test
		assert.Error(t, err)
		assert.NoError(t, c.Close())
	})
}

func TestEnvironmentsAreCounted(t *testing.T) {
	before := runtime.References()
	one, two := runtime.Open(), runtime.Open()
	assert.Equal(t, before+2, runtime.References())
	assert.NoError(t, one.Close())
	assert.NoError(t, one.Close(), "a second time")
	assert.Equal(t, before+1, runtime.References())
	assert.NoError(t, two.Close())
	assert.Equal(t, before, runtime.References())
}
