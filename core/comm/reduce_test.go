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

// ambiguous is what a rank has at an index: one of the zeros, NaN of bits of its own, a number, or NaN on some ranks only.
func ambiguous(rank, i int) float64 {
	nan := math.Float64frombits(0x7ff8000000000000 + uint64(rank+1))
	switch {
	case i%4 == 0:
		return math.Copysign(0, float64(2*((rank+i/4)%2)-1))
	case i%4 == 1 || i%4 == 3 && rank%2 == 1:
		return nan
	}
	return float64(rank)
}

// TestLocatedValuesAreThoseOfTheirRanks: of zeros and of NaN, whose bits differ, the value is that of the very rank that is named.
func TestLocatedValuesAreThoseOfTheirRanks(t *testing.T) {
	checkOwn := func(best []float64, ranks []int64) {
		for i, rank := range ranks {
			own := ambiguous(int(rank), i)
			if math.Float64bits(own) != math.Float64bits(best[i]) || i%4 < 2 && rank != 0 {
				t.Errorf("element %d: %v of rank %d, which has %v", i, best[i], rank, own)
				return
			}
		}
	}
	everyGroup(t, func(t *testing.T, n int) {
		onRanks(t, n, func(c *comm.Comm) {
			for _, count := range []int{4, 12, beyond} {
				mine, best := make([]float64, count), make([]float64, count)
				for i := range mine {
					mine[i] = ambiguous(c.Rank(), i)
				}
				value := array(mine)
				for _, op := range []kernel.Op{kernel.MinLoc, kernel.MaxLoc} {
					r, err := c.AllreduceLoc(&value, floats(best), op)
					assert.NoError(t, err)
					checkOwn(best, ranksOf(r))
					clear(best)
					r, err = c.ReduceLoc(&value, floats(best), op, int64(n-1))
					assert.NoError(t, err)
					assert.Equal(t, c.Rank() == n-1, r.Storage != nil)
					checkOwn(best, ranksOf(r))
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
