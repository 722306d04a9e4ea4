package runtime_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/handle"
	"dtl/core/memory"
	"dtl/core/runtime"
	"dtl/core/status"
)

func TestAContextStaysWhileRequestsAreActive(t *testing.T) {
	for n := 1; n <= 7; n++ {
		onRanks(t, n, func(c *runtime.Context) {
			on, err := c.Comm()
			assert.NoError(t, err)
			h := runtime.Contexts.Put(c)
			next, previous := int64((c.Rank()+1)%n), int64((c.Rank()+n-1)%n)

			received, err := on.Irecv(nil, comm.Expected{}, previous, 0)
			assert.NoError(t, err)
			request := runtime.Requests.Put(received)
			assert.ErrorIs(t, runtime.Shut(h), status.ViewsOut)
			ref, err := runtime.Contexts.Acquire(h)
			assert.NoError(t, err, "nothing has happened")
			assert.NoError(t, ref.Release())
			assert.NoError(t, on.Barrier(), "a receive that is complete would not have kept the context open")

			elements := []float64{float64(c.Rank())}
			sent, err := on.Isend(comm.Array{Span: memory.Of(dtype.Float64, elements), Shape: []int64{1}}, next, 0)
			assert.NoError(t, err)
			other := runtime.Requests.Put(sent)
			assert.NoError(t, runtime.Settle(h))
			assert.NoError(t, runtime.Shut(h))
			assert.ErrorIs(t, runtime.Settle(h), status.InvalidHandle)
			assert.ErrorIs(t, runtime.Shut(h), status.InvalidHandle)

			result, err := received.Wait() // what came can still be had
			assert.NoError(t, err)
			if assert.NotNil(t, result.Storage) {
				result.Storage.Release()
			}
			_, err = sent.Wait()
			assert.NoError(t, err)
			for _, r := range []handle.Handle{request, other} {
				assert.NoError(t, runtime.Requests.Close(r))
			}
		})
	}
}

func TestSettlingWaitsForTheContextsOwnRequests(t *testing.T) {
	onRanks(t, 1, func(c *runtime.Context) {
		other, err := c.Dup()
		assert.NoError(t, err)
		on, err := other.Comm()
		assert.NoError(t, err)
		r, err := on.Irecv(nil, comm.Expected{}, 0, 0)
		assert.NoError(t, err)
		request, h := runtime.Requests.Put(r), runtime.Contexts.Put(c)
		assert.NoError(t, runtime.Settle(h), "would never end")
		assert.NoError(t, runtime.Shut(h))
		_, err = r.Cancel()
		assert.NoError(t, err)
		assert.NoError(t, runtime.Requests.Close(request))
		assert.NoError(t, other.Close())
	})
}

func TestSinceWhenThereHaveBeenEnvironments(t *testing.T) {
	before := handle.Now()
	first := runtime.Open()
	began := runtime.Since()
	assert.GreaterOrEqual(t, began, before)
	second := runtime.Open()
	assert.NoError(t, first.Close())
	assert.Equal(t, began, runtime.Since(), "there is still one")
	assert.NoError(t, second.Close())
	third := runtime.Open()
	assert.Greater(t, runtime.Since(), began, "a new time began")
	assert.NoError(t, third.Close())
}
