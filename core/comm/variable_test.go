package comm_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// part is rank's rows: as many as its rank, each of two elements.
func part(rank int) comm.Array { return array(ramp(100*rank, 2*rank), int64(rank), 2) }

func everyPart(n int) (all []float64) {
	for rank := range n {
		all = append(all, ramp(100*rank, 2*rank)...)
	}
	return all
}

func TestAllgatherv(t *testing.T) {
	everyGroup(t, func(t *testing.T, n int) {
		onRanks(t, n, func(c *comm.Comm) {
			total := int64(n * (n - 1) / 2)
			r, err := c.Allgatherv(part(c.Rank()), nil)
			assert.NoError(t, err)
			assert.Equal(t, []int64{total, 2}, r.Shape)
			assert.Equal(t, append([]float64{}, everyPart(n)...), elements(r))
			out := array(make([]float64, 2*total), total, 2)
			r, err = c.Allgatherv(part(c.Rank()), &out)
			assert.NoError(t, err)
			assert.Nil(t, r.Storage)
			assert.Equal(t, append([]float64{}, everyPart(n)...), append([]float64{}, memory.As[float64](out.Span)...))
		})
	})
}

func TestGathervAndScatterv(t *testing.T) {
	everyGroup(t, func(t *testing.T, n int) {
		onRanks(t, n, func(c *comm.Comm) {
			counts := make([]int64, n)
			for rank := range counts {
				counts[rank] = int64(rank)
			}
			for root := range int64(n) {
				here := c.Rank() == int(root)
				r, err := c.Gatherv(part(c.Rank()), counts, nil, root)
				assert.NoError(t, err)
				if here {
					assert.Equal(t, append([]float64{}, everyPart(n)...), elements(r))
				} else {
					assert.Nil(t, r.Storage)
				}
				var values *comm.Array
				if here {
					all := array(everyPart(n), int64(n*(n-1)/2), 2)
					values = &all
				}
				r, err = c.Scatterv(values, counts, nil, root)
				assert.NoError(t, err)
				assert.Equal(t, []int64{int64(c.Rank()), 2}, r.Shape)
				assert.Equal(t, append([]float64{}, ramp(100*c.Rank(), 2*c.Rank())...), elements(r))
			}
		})
	})
}

func TestAlltoallv(t *testing.T) {
	everyGroup(t, func(t *testing.T, n int) {
		onRanks(t, n, func(c *comm.Comm) {
			counts, from := make([]int64, n), make([]int64, n)
			var send, want []float64
			for rank := range n {
				counts[rank], from[rank] = int64((rank+2*c.Rank())%3), int64((c.Rank()+2*rank)%3)
				send = append(send, ramp(100*c.Rank()+10*rank, int(counts[rank]))...)
				want = append(want, ramp(100*rank+10*c.Rank(), int(from[rank]))...)
			}
			for _, recv := range [][]int64{nil, from} {
				r, err := c.Alltoallv(array(send), counts, recv, nil)
				assert.NoError(t, err)
				assert.Equal(t, append([]float64{}, want...), elements(r))
			}
		})
	})
}

// TestVariableRefusals has one rank pass what it must not: every rank gets an error, and the next call works.
func TestVariableRefusals(t *testing.T) {
	onRanks(t, 3, func(c *comm.Comm) {
		bad := c.Rank() == 1
		value := part(c.Rank())
		if bad {
			value.Type = dtype.Int64
		}
		_, err := c.Allgatherv(value, nil)
		assert.ErrorIs(t, err, status.Mismatch)
		counts := []int64{0, 0, int64(c.Rank())}
		if bad {
			counts = []int64{0, 1, 1}
		}
		_, err = c.Alltoallv(part(c.Rank()), counts, nil, nil)
		assert.ErrorIs(t, err, status.InvalidArgument)
		assert.ErrorContains(t, err, "send_counts [0 1 1] do not add up to the 1 rows")
		_, err = c.Alltoallv(part(c.Rank()), []int64{0, 0, int64(c.Rank())}, []int64{0, 0, 5}, nil)
		assert.ErrorIs(t, err, status.InvalidArgument)
		_, err = c.Gatherv(part(c.Rank()), []int64{1, 1, 1}, nil, 1)
		assert.ErrorIs(t, err, status.InvalidArgument)
		assert.ErrorContains(t, err, "recvcounts [1 1 1], but the ranks send [0 1 2] rows")
		_, err = c.Gatherv(part(c.Rank()), nil, nil, 3)
		assert.ErrorIs(t, err, status.OutOfBounds)
		_, err = c.Scatterv(nil, nil, nil, 0)
		assert.ErrorIs(t, err, status.InvalidArgument)
		_, err = c.Scatterv(nil, nil, nil, -1)
		assert.ErrorIs(t, err, status.OutOfBounds)
		var out *comm.Array
		if bad {
			short := array(make([]float64, 2), 1, 2)
			out = &short
		}
		_, err = c.Allgatherv(part(c.Rank()), out)
		assert.ErrorIs(t, err, status.InvalidArgument)
		r, err := c.Allgatherv(part(c.Rank()), nil)
		assert.NoError(t, err)
		assert.Len(t, elements(r), 6)
	})
}
