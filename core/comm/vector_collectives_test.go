package comm_test

import (
	"fmt"
	"math"
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
			sameElements(t, append([]float64{}, everyPart(n)...), elements(r))
			out := array(make([]float64, 2*total), total, 2)
			r, err = c.Allgatherv(part(c.Rank()), &out)
			assert.NoError(t, err)
			assert.Nil(t, r.Storage)
			sameElements(t, append([]float64{}, everyPart(n)...), append([]float64{}, memory.As[float64](out.Span)...))
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
					sameElements(t, append([]float64{}, everyPart(n)...), elements(r))
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
				sameElements(t, append([]float64{}, ramp(100*c.Rank(), 2*c.Rank())...), elements(r))
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
				sameElements(t, append([]float64{}, want...), elements(r))
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

// onOne is the text of an error that rank odd makes, as it and the other ranks see it.
func onOne(c *comm.Comm, odd int, text string) string {
	if c.Rank() == odd {
		return text
	}
	return fmt.Sprintf("rank %d: %s", odd, text)
}

// TestOneRankExpectsWhatIsNotSent has each rank in turn: every rank gets an error that names what it expects.
func TestOneRankExpectsWhatIsNotSent(t *testing.T) {
	const n = 3
	sent := []int64{2, 1, 0}
	for odd := range n {
		onRanks(t, n, func(c *comm.Comm) {
			comes := sent[c.Rank()]
			expected := []int64{comes, comes, comes}
			if c.Rank() == odd {
				expected[1] += 4
			}
			_, err := c.Alltoallv(array(ramp(0, 3)), sent, expected, nil)
			assert.ErrorIs(t, err, status.InvalidArgument)
			text := fmt.Sprintf("recv_counts [%d %[2]d %[1]d], but the ranks send [%[1]d %[1]d %[1]d] rows", sent[odd], sent[odd]+4)
			assert.ErrorContains(t, err, onOne(c, odd, text))
			r, err := c.Alltoallv(array(ramp(0, 3)), sent, []int64{comes, comes, comes}, nil)
			assert.NoError(t, err, "the communicator goes on")
			assert.Len(t, elements(r), n*int(comes))
		})
	}
}

// TestOneOutputDoesNotFit has each rank in turn: every rank gets an error, and nothing is written.
func TestOneOutputDoesNotFit(t *testing.T) {
	const n = 3
	counts := []int64{2, 2, 2}
	for odd := range n {
		onRanks(t, n, func(c *comm.Comm) {
			short, values := array(make([]float64, 1)), array(ramp(0, 6))
			var out *comm.Array
			if c.Rank() == odd {
				out = &short
			}
			for _, call := range []func() (comm.Result, error){
				func() (comm.Result, error) { return c.Alltoallv(values, counts, nil, out) },
				func() (comm.Result, error) { return c.Alltoallv(values, counts, counts, out) },
				func() (comm.Result, error) { return c.Allgatherv(array(ramp(0, 2)), out) },
				func() (comm.Result, error) { return c.Gatherv(array(ramp(0, 2)), nil, out, int64(odd)) },
			} {
				_, err := call()
				assert.ErrorIs(t, err, status.InvalidArgument)
				assert.ErrorContains(t, err, onOne(c, odd, "out has 1 elements where the result has 6"))
			}
			_, err := c.Scatterv(&values, counts, out, 1)
			assert.ErrorContains(t, err, onOne(c, odd, "out has 1 elements where the result has 2"))
			assert.Equal(t, []float64{0}, memory.As[float64](short.Span))
			assert.NoError(t, c.Barrier(), "the communicator goes on")
		})
	}
}

// TestSomeRanksKnowWhatComes: counts that are given on one rank are checked, and the others take what comes.
func TestSomeRanksKnowWhatComes(t *testing.T) {
	onRanks(t, 4, func(c *comm.Comm) {
		var expected []int64
		if c.Rank() == 2 {
			expected = []int64{1, 1, 1, 1}
		}
		r, err := c.Alltoallv(array(ramp(10*c.Rank(), 4)), []int64{1, 1, 1, 1}, expected, nil)
		assert.NoError(t, err)
		at := float64(c.Rank())
		assert.Equal(t, []float64{at, 10 + at, 20 + at, 30 + at}, elements(r))
	})
}

// TestOutputOverTheValue sends from the memory that the result goes to.
func TestOutputOverTheValue(t *testing.T) {
	everyGroup(t, func(t *testing.T, n int) {
		onRanks(t, n, func(c *comm.Comm) {
			counts, whole := make([]int64, n), array(ramp(100*c.Rank(), n))
			var want []float64
			for rank := range n {
				counts[rank] = 1
				want = append(want, float64(100*rank+c.Rank()))
			}
			_, err := c.Alltoallv(whole, counts, nil, &whole)
			assert.NoError(t, err)
			assert.Equal(t, want, memory.As[float64](whole.Span))
			assert.NoError(t, c.Alltoall(whole, whole.Span), "back again")
			sameElements(t, ramp(100*c.Rank(), n), memory.As[float64](whole.Span))
			mine := array(memory.As[float64](whole.Span)[:1])
			_, err = c.Allgatherv(mine, &whole)
			assert.NoError(t, err)
			for rank := range want {
				want[rank] = float64(100 * rank)
			}
			assert.Equal(t, want, memory.As[float64](whole.Span))
		})
	})
}

// TestCountsBeyondBounds: what no memory holds is refused before anything is added up wrong.
func TestCountsBeyondBounds(t *testing.T) {
	onRanks(t, 2, func(c *comm.Comm) {
		for _, huge := range []int64{math.MaxInt64, math.MaxInt64 / 2, 1 << 61, 1 << 60} {
			_, err := c.Alltoallv(array(ramp(0, 2)), []int64{1, 1}, []int64{huge, huge}, nil)
			assert.ErrorIs(t, err, status.OutOfMemory)
			_, err = c.Alltoallv(array(ramp(0, 2)), []int64{huge, huge}, nil, nil)
			assert.ErrorIs(t, err, status.InvalidArgument)
			_, err = c.Gatherv(array(ramp(0, 2)), []int64{huge, huge}, nil, 1)
			assert.ErrorIs(t, err, status.InvalidArgument)
		}
		_, err := c.Alltoallv(array(ramp(0, 2)), []int64{3, -1}, nil, nil)
		assert.ErrorContains(t, err, "send_counts [3 -1] has a negative entry")
		_, err = c.Alltoallv(array(ramp(0, 2)), nil, nil, nil)
		assert.ErrorContains(t, err, "there are no send_counts")
		many := comm.Array{Span: memory.Span{Type: dtype.Int8}, Shape: []int64{math.MaxInt64, 0}}
		_, err = c.Allgatherv(many, nil)
		assert.ErrorIs(t, err, status.OutOfMemory)
	})
}

func TestAlltoallRefusals(t *testing.T) {
	onRanks(t, 3, func(c *comm.Comm) {
		for _, shape := range [][]int64{{}, {1}, {2, 2}, {4}} {
			err := c.Alltoall(comm.Array{Span: memory.Of(dtype.Float64, ramp(0, 4)), Shape: shape}, memory.Span{})
			assert.ErrorIs(t, err, status.InvalidArgument)
			assert.ErrorContains(t, err, fmt.Sprintf("values of shape %v", shape))
		}
		err := c.Alltoall(array(ramp(0, 3)), array(ramp(0, 4)).Span)
		assert.ErrorContains(t, err, "out has 4 elements where the result has 3")
	})
}

// TestNoRoomForVariableParts has rank 1 of 3 get no room for the result: every rank learns of it, and goes on.
func TestNoRoomForVariableParts(t *testing.T) {
	const n, rows = 3, 1 << 17
	backendtest.OnRanks(t, cpu.Group(n), func(main backend.ReducingCommunicator, host backend.MemorySpace) {
		rank, mem := main.Rank(), memory.Allocator(host)
		if rank == 1 {
			mem = small{mem}
		}
		c, err := comm.New(main, mem)
		if !assert.NoError(t, err) {
			return
		}
		values := array(make([]float64, n*rows))
		counts := []int64{rows, rows, rows}
		for _, call := range []func() (comm.Result, error){
			func() (comm.Result, error) { return c.Allgatherv(values, nil) },
			func() (comm.Result, error) { return c.Gatherv(values, nil, nil, 1) },
			func() (comm.Result, error) { return c.Scatterv(&values, counts, nil, 0) },
			func() (comm.Result, error) { return c.Alltoallv(values, counts, nil, nil) },
			func() (comm.Result, error) { return c.Alltoallv(values, counts, counts, nil) },
			func() (comm.Result, error) { return c.Alltoallv(values, counts, counts, &values) },
		} {
			_, err := call()
			assert.ErrorIs(t, err, status.OutOfMemory)
			assert.ErrorContains(t, err, "too many here")
		}
		assert.NoError(t, c.Barrier(), "the communicator goes on")
		assert.NoError(t, c.Close())
	})
}
