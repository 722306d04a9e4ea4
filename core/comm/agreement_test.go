package comm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

func making(size int64) comm.Call {
	return comm.Call{Op: "vector", Same: []int64{size, 7}, Text: func() string { return fmt.Sprint("size ", size) }}
}

func TestRanksAgree(t *testing.T) {
	everyGroup(t, func(t *testing.T, n int) {
		onRanks(t, n, func(c *comm.Comm) {
			all := make([]comm.Shared, n)
			assert.NoError(t, c.AgreeSharing(making(5), nil, comm.Shared{int64(c.Rank()), 9}, all))
			for rank, share := range all {
				assert.Equal(t, comm.Shared{int64(rank), 9}, share)
			}
		})
	})
}

// TestOneRankDiffers has one rank of several pass another size: all get one error, which says who passed what.
func TestOneRankDiffers(t *testing.T) {
	for n := 2; n <= 5; n++ {
		for odd := range n {
			onRanks(t, n, func(c *comm.Comm) {
				size := int64(5)
				if c.Rank() == odd {
					size = 6
				}
				err := c.Agree(making(size), nil)
				assert.ErrorIs(t, err, status.Mismatch)
				assert.ErrorContains(t, err, fmt.Sprintf("rank %d called vector(size 6)", odd))
				assert.Equal(t, 1, strings.Count(err.Error(), "vector(size 5)"))
				assert.NoError(t, c.Agree(making(5), nil), "the communicator goes on")
			})
		}
	}
}

func TestRanksCallDifferentThings(t *testing.T) {
	onRanks(t, 3, func(c *comm.Comm) {
		call := making(5)
		if c.Rank() == 2 {
			call = comm.Call{Op: "resize", Same: call.Same}
		}
		err := c.Agree(call, nil)
		assert.ErrorIs(t, err, status.Mismatch)
		assert.ErrorContains(t, err, "ranks 0-1 called vector(size 5); rank 2 called resize")
	})
}

// TestOneRankFails has some ranks fail: they get their own error, and the others the first of theirs.
func TestOneRankFails(t *testing.T) {
	for _, failing := range [][]int{{0}, {2}, {1, 2}} {
		onRanks(t, 4, func(c *comm.Comm) {
			var mine error
			for _, rank := range failing {
				if c.Rank() == rank {
					mine = status.New(status.OutOfBounds, "index %d is too large", 100+rank)
				}
			}
			err := c.Agree(making(5), mine)
			assert.ErrorIs(t, err, status.OutOfBounds)
			if mine != nil {
				assert.ErrorContains(t, err, mine.Error())
			} else {
				assert.ErrorContains(t, err, fmt.Sprintf("rank %d: index %d is too large", failing[0], 100+failing[0]))
			}
			assert.NoError(t, c.Agree(making(5), nil), "the communicator goes on")
		})
	}
}

func TestRefuse(t *testing.T) {
	onRanks(t, 3, func(c *comm.Comm) {
		if c.Rank() == 1 {
			assert.NoError(t, c.Refuse("vector", status.New(status.InvalidType, "size must be an integer")))
			return
		}
		err := c.Agree(making(5), nil)
		assert.ErrorIs(t, err, status.InvalidType)
		assert.ErrorContains(t, err, "vector: rank 1: size must be an integer")
	})
}

// TestLongExplanations has more text than the others are told.
func TestLongExplanations(t *testing.T) {
	long := strings.Repeat("all work and no play ", 100)
	onRanks(t, 2, func(c *comm.Comm) {
		var mine error
		if c.Rank() == 1 {
			mine = status.New(status.InvalidArgument, "%s", long)
		}
		err := c.Agree(making(5), mine)
		assert.ErrorIs(t, err, status.InvalidArgument)
		assert.ErrorContains(t, err, long[:400])
	})
}

func TestExchange(t *testing.T) {
	everyGroup(t, func(t *testing.T, n int) {
		onRanks(t, n, func(c *comm.Comm) {
			counts := make([]int64, n)
			for to := range counts {
				counts[to] = int64(c.Rank() * to % 3)
			}
			from, err := c.Counts(counts)
			assert.NoError(t, err)
			send, recv := make([]memory.Span, n), make([]memory.Span, n)
			for rank := range n {
				assert.EqualValues(t, c.Rank()*rank%3, from[rank])
				send[rank] = memory.Of(dtype.Float64, ramp(100*c.Rank()+rank, int(counts[rank])))
				recv[rank] = memory.Of(dtype.Float64, make([]float64, from[rank]))
			}
			assert.NoError(t, c.Exchange(send, recv))
			for rank := range n {
				sameElements(t, ramp(100*rank+c.Rank(), int(from[rank])), append([]float64{}, memory.As[float64](recv[rank])...))
			}
		})
	})
}
