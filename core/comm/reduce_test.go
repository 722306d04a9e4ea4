package comm_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// ranksOf returns located ranks, copied, and releases them.
func ranksOf(r comm.Result) []int64 {
	if r.Storage == nil {
		return nil
	}
	defer r.Storage.Release()
	return append([]int64{}, memory.As[int64](r.Span)...)
}

// locating is what each rank brings: the same everywhere, one that only a rank has, and NaN of the higher ranks.
func locating(rank int) []float64 {
	e := []float64{5, float64(rank), -float64(rank), 0}
	if rank > 1 {
		e[3] = math.NaN()
	}
	return e
}

func located(op kernel.Op, ranks int) (best []float64, at []int64) {
	last := int64(ranks - 1)
	best, at = []float64{5, 0, -float64(last), 0}, []int64{0, 0, last, 0}
	if op == kernel.MaxLoc {
		best, at = []float64{5, float64(last), 0, 0}, []int64{0, last, 0, 0}
	}
	if ranks > 2 {
		best[3], at[3] = math.NaN(), 2
	}
	return best, at
}

func TestLocationsOfExtremes(t *testing.T) {
	everyGroup(t, func(t *testing.T, n int) {
		onRanks(t, n, func(c *comm.Comm) {
			for _, op := range []kernel.Op{kernel.MinLoc, kernel.MaxLoc} {
				want, at := located(op, n)
				value, best := array(locating(c.Rank()), 2, 2), array(make([]float64, 4))
				r, err := c.AllreduceLoc(&value, best.Span, op)
				assert.NoError(t, err)
				assert.Equal(t, []int64{2, 2}, r.Shape)
				assert.Equal(t, at, ranksOf(r))
				assert.InDeltaSlice(t, want, memory.As[float64](best.Span), 0)

				for root := range n {
					both := array(locating(c.Rank()), 2, 2) // in place
					r, err := c.ReduceLoc(&both, both.Span, op, int64(root))
					assert.NoError(t, err)
					if c.Rank() != root {
						assert.Nil(t, r.Storage)
						assert.InDeltaSlice(t, locating(c.Rank()), memory.As[float64](both.Span), 0)
						continue
					}
					assert.Equal(t, at, ranksOf(r))
					assert.InDeltaSlice(t, want, memory.As[float64](both.Span), 0)
				}
			}
		})
	})
}

func TestLocationsOfMoreThanABoardHolds(t *testing.T) {
	everyGroup(t, func(t *testing.T, n int) {
		onRanks(t, n, func(c *comm.Comm) {
			for _, root := range []int64{0, int64(n - 1)} {
				want, at := located(kernel.MinLoc, n)
				var e, best []float64
				for range beyond / 4 {
					e = append(e, locating(c.Rank())...)
				}
				value := array(e)
				best = make([]float64, len(e))
				r, err := c.AllreduceLoc(&value, array(best).Span, kernel.MinLoc)
				assert.NoError(t, err)
				assert.Equal(t, at, ranksOf(r)[beyond-4:])
				assert.InDeltaSlice(t, want, best[beyond-4:], 0)
				r, err = c.ReduceLoc(&value, value.Span, kernel.MinLoc, root)
				assert.NoError(t, err)
				if int64(c.Rank()) == root {
					assert.Equal(t, at, ranksOf(r)[beyond-4:])
					assert.InDeltaSlice(t, want, e[beyond-4:], 0)
				}
			}
		})
	})
}

func TestLocationsRefuse(t *testing.T) {
	onRanks(t, 2, func(c *comm.Comm) {
		a, short := array(ramp(0, 4)), array(ramp(0, 1))
		z := comm.Array{Span: memory.Of(dtype.Complex64, make([]complex64, 4)), Shape: []int64{4}}
		for _, row := range []struct {
			name string
			code status.Code
			text string
			call func() (comm.Result, error)
		}{
			{"out", status.InvalidArgument, "allreduce: out has 1 elements where the result has 4",
				func() (comm.Result, error) { return c.AllreduceLoc(&a, short.Span, kernel.MinLoc) }},
			{"order of complex", status.Unsupported, "not defined for complex64, which has no order",
				func() (comm.Result, error) { return c.AllreduceLoc(&z, z.Span, kernel.MaxLoc) }},
			{"root", status.OutOfBounds, "reduce: root 2 outside [0, 2)",
				func() (comm.Result, error) { return c.ReduceLoc(&a, a.Span, kernel.MinLoc, 2) }},
			{"another operator", status.InvalidArgument, "SUM gives no ranks",
				func() (comm.Result, error) { return c.AllreduceLoc(&a, a.Span, kernel.Sum) }},
		} {
			_, err := row.call()
			assert.ErrorIs(t, err, row.code, row.name)
			assert.ErrorContains(t, err, row.text, row.name)
		}
		assert.NoError(t, c.Barrier(), "the communicator goes on")
	})
}
