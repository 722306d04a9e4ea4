package comm_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// lengths lie around the longest message that travels as one: 4096 bytes with its header of 16.
var lengths = []int{0, 1, 509, 510, 511, 100_000}

func TestMessagesBringTheirShape(t *testing.T) {
	for _, count := range lengths {
		everyGroup(t, func(t *testing.T, n int) {
			onRanks(t, n, func(c *comm.Comm) {
				next, previous := int64((c.Rank()+1)%n), int64((c.Rank()+n-1)%n)
				r, err := c.Sendrecv(array(ramp(c.Rank(), count)), next, 3, nil, previous, 3)
				assert.NoError(t, err)
				assert.Equal(t, []int64{int64(count)}, r.Shape)
				sameElements(t, ramp(int(previous), count), elements(r))
			})
		})
	}
}

func TestMessagesKeepTheirOrder(t *testing.T) {
	onRanks(t, 2, func(c *comm.Comm) {
		if c.Rank() == 0 {
			for i, count := range lengths {
				assert.NoError(t, c.Send(array(ramp(i, count)), 1, int64(i%2)))
			}
			return
		}
		for i, count := range lengths {
			r, err := c.Recv(nil, comm.Expected{}, backend.AnySource, backend.AnyTag)
			assert.NoError(t, err)
			sameElements(t, ramp(i, count), elements(r))
		}
	})
}

func TestMessageThatDoesNotFitStays(t *testing.T) {
	for _, count := range lengths[1:] {
		onRanks(t, 2, func(c *comm.Comm) {
			if c.Rank() == 0 {
				assert.NoError(t, c.Send(array(ramp(0, count)), 1, 5))
				assert.NoError(t, c.Send(array(ramp(9, 2)), 1, 6))
				return
			}
			_, err := c.Recv(nil, comm.Expected{Type: dtype.Int64}, 0, 5)
			assert.ErrorIs(t, err, status.InvalidArgument)
			assert.ErrorContains(t, err, "dtype int64 was asked for, but the message has")
			_, err = c.Recv(nil, comm.Expected{Count: int64(count) + 1}, 0, 5)
			assert.ErrorIs(t, err, status.InvalidArgument)
			out := array(make([]float64, count+1))
			_, err = c.Recv(&out, comm.Expected{}, 0, 5)
			assert.ErrorIs(t, err, status.InvalidArgument)
			r, err := c.Recv(nil, comm.Expected{}, 0, backend.AnyTag)
			assert.NoError(t, err)
			sameElements(t, ramp(0, count), elements(r), "the refused message comes first")
			r, err = c.Recv(nil, comm.Expected{}, 0, backend.AnyTag)
			assert.NoError(t, err)
			sameElements(t, ramp(9, 2), elements(r))
		})
	}
}

func TestReceiveIntoAnOutput(t *testing.T) {
	for _, count := range lengths {
		onRanks(t, 1, func(c *comm.Comm) {
			assert.NoError(t, c.Send(array(ramp(1, count)), 0, 0))
			out := array(make([]float64, count))
			r, err := c.Recv(&out, comm.Expected{Type: dtype.Float64, Count: int64(count)}, 0, 0)
			assert.NoError(t, err)
			assert.Nil(t, r.Storage)
			sameElements(t, ramp(1, count), memory.As[float64](out.Span))
		})
	}
}

func TestNullProcess(t *testing.T) {
	onRanks(t, 2, func(c *comm.Comm) {
		assert.NoError(t, c.Send(array(ramp(0, 3)), backend.ProcNull, 0))
		r, err := c.Recv(nil, comm.Expected{}, backend.ProcNull, 0)
		assert.NoError(t, err)
		assert.Nil(t, r.Storage)
		r, err = c.Sendrecv(array(ramp(0, 3)), backend.ProcNull, 0, nil, backend.ProcNull, 0)
		assert.NoError(t, err)
		assert.Nil(t, r.Storage)
	})
}

func TestScalarsKeepTheirKind(t *testing.T) {
	onRanks(t, 1, func(c *comm.Comm) {
		a := array([]float64{2.5}, []int64{}...)
		a.Shape, a.Kind = []int64{}, wire.PythonScalar
		assert.NoError(t, c.Send(a, 0, 0))
		r, err := c.Recv(nil, comm.Expected{}, 0, 0)
		assert.NoError(t, err)
		assert.Equal(t, wire.PythonScalar, r.Kind)
		assert.Empty(t, r.Shape)
		assert.Equal(t, []float64{2.5}, elements(r))
	})
}

func TestTooManyDimensions(t *testing.T) {
	shape := make([]int64, 65)
	for i := range shape {
		shape[i] = 1
	}
	onRanks(t, 2, func(c *comm.Comm) {
		value := array([]float64{1}, shape...)
		err := c.Send(value, 1, 0)
		assert.ErrorIs(t, err, status.InvalidArgument)
		assert.ErrorContains(t, err, "65 dimensions; at most 64")
		_, err = c.Sendrecv(value, 1, 0, nil, 0, 0)
		assert.ErrorIs(t, err, status.InvalidArgument)
		_, err = c.Broadcast(&value, nil, 0)
		assert.ErrorContains(t, err, "65 dimensions", "on every rank")
	})
}

func TestThreadsOfOneRankAtOnce(t *testing.T) {
	onRanks(t, 2, func(c *comm.Comm) {
		other := int64(1 - c.Rank())
		var all sync.WaitGroup
		for tag := range int64(4) {
			all.Go(func() {
				for i := range 20 {
					count := lengths[i%len(lengths)]
					value := array(ramp(int(tag)+c.Rank(), count))
					_, err := c.Sendrecv(value, backend.ProcNull, tag, nil, backend.ProcNull, tag)
					assert.NoError(t, err)
					r, err := c.Sendrecv(value, other, tag, nil, backend.AnySource, tag)
					assert.NoError(t, err)
					sameElements(t, ramp(int(tag)+int(other), count), elements(r), "tag %d", tag)
				}
			})
		}
		all.Wait()
	})
}
