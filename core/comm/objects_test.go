package comm_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/comm/wire"
	"dtl/core/memory"
	"dtl/core/status"
)

func TestObjectsAndArraysAreNotTakenForEachOther(t *testing.T) {
	for _, count := range lengths[1:] {
		onRanks(t, 2, func(c *comm.Comm) {
			if c.Rank() == 0 {
				assert.NoError(t, c.SendObject(array(ramp(0, count)), 1, 5))
				assert.NoError(t, c.Send(array(ramp(1, count)), 1, 5))
				return
			}
			out := array(make([]float64, count))
			for _, into := range []*comm.Array{nil, &out} {
				_, err := c.Recv(into, comm.Expected{}, backend.AnySource, backend.AnyTag)
				assert.ErrorIs(t, err, status.InvalidArgument)
				assert.ErrorContains(t, err, "a pickled object; recv_object receives it")
			}
			r, err := c.RecvObject(backend.AnySource, backend.AnyTag)
			assert.NoError(t, err)
			assert.Equal(t, wire.NDArray, r.Kind)
			sameElements(t, ramp(0, count), elements(r))
			_, err = c.RecvObject(0, 5)
			assert.ErrorIs(t, err, status.InvalidArgument)
			assert.ErrorContains(t, err, "no pickled object, but")
			r, err = c.Recv(nil, comm.Expected{}, 0, 5)
			assert.NoError(t, err)
			sameElements(t, ramp(1, count), elements(r))
		})
	}
}

func TestPartsOfTwoObjects(t *testing.T) {
	onRanks(t, 2, func(c *comm.Comm) {
		first, second := c.Ticket(), c.Ticket()
		assert.NotEqual(t, first, second)
		if c.Rank() == 0 {
			for i, ticket := range []int64{first, second, first} {
				assert.NoError(t, c.SendPart(array(ramp(10*i, 4)).Span, 1, ticket))
			}
			return
		}
		for _, row := range []struct {
			ticket int64
			start  int
		}{{second, 10}, {first, 0}, {first, 20}} { // the tickets of both ranks are the same numbers
			part := make([]float64, 4)
			assert.NoError(t, c.RecvPart(array(part).Span, 0, row.ticket))
			sameElements(t, ramp(row.start, 4), part)
		}
	})
}

func TestPartsThatCannotBe(t *testing.T) {
	onRanks(t, 1, func(c *comm.Comm) {
		part := array(make([]float64, 4))
		for _, peer := range []int64{-2, -1, 1} {
			assert.ErrorIs(t, c.SendPart(part.Span, peer, 1), status.OutOfBounds)
			assert.ErrorIs(t, c.RecvPart(part.Span, peer, 1), status.OutOfBounds)
		}
		assert.NoError(t, c.SendPart(part.Slice(0, 3), 0, -7))
		assert.ErrorContains(t, c.RecvPart(part.Span, 0, -7), "a part of 24 bytes came where 32 were announced")
		assert.ErrorIs(t, c.RecvPart(memory.Span{}, 0, 1), status.Communication)
	})
}
