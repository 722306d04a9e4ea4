package comm_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/comm"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// beyond is more elements than fit on a board.
const beyond = 9000

// sums returns the sums of ramp(rank, count) over the ranks [0, n).
func sums(n, count int) []float64 {
	all := make([]float64, count)
	for rank := range n {
		for i, v := range ramp(rank, count) {
			all[i] += v
		}
	}
	return all
}

func TestScansCombineTheRanksBefore(t *testing.T) {
	everyGroup(t, func(t *testing.T, n int) {
		onRanks(t, n, func(c *comm.Comm) {
			for _, count := range []int{0, 1, 6, beyond} {
				value := array(ramp(c.Rank(), count), int64(count), 1)
				up, err := c.Scan(&value, nil, kernel.Sum)
				assert.NoError(t, err)
				assert.Equal(t, []int64{int64(count), 1}, up.Shape)
				assert.Equal(t, sums(c.Rank()+1, count), elements(up))
				before, err := c.Exscan(&value, nil, kernel.Sum)
				assert.NoError(t, err)
				assert.Equal(t, sums(c.Rank(), count), elements(before))
			}
		})
	})
}

func TestExscanGivesTheFirstRankTheIdentity(t *testing.T) {
	onRanks(t, 3, func(c *comm.Comm) {
		for _, row := range []struct {
			op   kernel.Op
			want [3]float64
		}{
			{kernel.Sum, [3]float64{0, 2, 5}},
			{kernel.Prod, [3]float64{1, 2, 6}},
			{kernel.Min, [3]float64{math.Inf(1), 2, 2}},
			{kernel.Max, [3]float64{math.Inf(-1), 2, 3}},
			{kernel.LAnd, [3]float64{1, 1, 1}},
			{kernel.LOr, [3]float64{0, 1, 1}},
		} {
			value := array([]float64{float64(c.Rank() + 2)})
			r, err := c.Exscan(&value, nil, row.op)
			assert.NoError(t, err)
			assert.Equal(t, row.want[c.Rank():c.Rank()+1], elements(r), row.op)
		}
	})
}

func TestScansInPlaceAndIntoOut(t *testing.T) {
	everyGroup(t, func(t *testing.T, n int) {
		onRanks(t, n, func(c *comm.Comm) {
			for _, count := range []int{5, beyond} {
				both := array(ramp(c.Rank(), count))
				r, err := c.Scan(&both, &both, kernel.Sum)
				assert.NoError(t, err)
				assert.Nil(t, r.Storage)
				assert.Equal(t, sums(c.Rank()+1, count), memory.As[float64](both.Span))

				room := append(ramp(c.Rank(), count), -1) // shifted by one: part of value is written before it is read
				value, out := array(room[:count]), array(room[1:])
				_, err = c.Exscan(&value, &out, kernel.Sum)
				assert.NoError(t, err)
				assert.Equal(t, sums(c.Rank(), count), room[1:])
			}
		})
	})
}

func TestReduceScatterGivesEachRankItsEntry(t *testing.T) {
	everyGroup(t, func(t *testing.T, n int) {
		onRanks(t, n, func(c *comm.Comm) {
			for _, count := range []int{0, 3, beyond} {
				want := sums(n, count*n)[count*c.Rank() : count*(c.Rank()+1)]
				values := array(ramp(c.Rank(), count*n), int64(n), int64(count))
				r, err := c.ReduceScatter(&values, nil, kernel.Sum)
				assert.NoError(t, err)
				assert.Equal(t, []int64{int64(count)}, r.Shape)
				assert.Equal(t, want, elements(r))

				part := array(memory.As[float64](values.Span)[:count])
				_, err = c.ReduceScatter(&values, &part, kernel.Sum)
				assert.NoError(t, err)
				assert.Equal(t, want, memory.As[float64](part.Span))
			}
			flat := array(ramp(c.Rank(), n))
			r, err := c.ReduceScatter(&flat, nil, kernel.Sum)
			assert.NoError(t, err)
			assert.Equal(t, wire.NumPyScalar, r.Kind)
			assert.Equal(t, sums(n, n)[c.Rank():c.Rank()+1], elements(r))
		})
	})
}

func TestScansRefuse(t *testing.T) {
	onRanks(t, 2, func(c *comm.Comm) {
		a, short, scalar := array(ramp(0, 4), 2, 2), array(ramp(0, 1)), array(ramp(0, 1))
		scalar.Shape = nil
		z := comm.Array{Span: memory.Of(dtype.Complex64, make([]complex64, 4)), Shape: []int64{2, 2}}
		for _, row := range []struct {
			name string
			code status.Code
			text string
			call func() (comm.Result, error)
		}{
			{"out of another length", status.InvalidArgument, "scan: out has 1 elements where the result has 4",
				func() (comm.Result, error) { return c.Scan(&a, &short, kernel.Sum) }},
			{"out of another type", status.InvalidArgument, "exscan: out has dtype complex64",
				func() (comm.Result, error) { return c.Exscan(&a, &z, kernel.Sum) }},
			{"order of complex", status.Unsupported, "MAX is not defined for complex64",
				func() (comm.Result, error) { return c.Exscan(&z, nil, kernel.Max) }},
			{"values and ranks", status.Unsupported, "scan: MINLOC gives values and ranks",
				func() (comm.Result, error) { return c.Scan(&a, nil, kernel.MinLoc) }},
			{"values and ranks", status.Unsupported, "reduce_scatter: MAXLOC gives values and ranks",
				func() (comm.Result, error) { return c.ReduceScatter(&a, nil, kernel.MaxLoc) }},
			{"scalar", status.InvalidArgument, "values is a scalar",
				func() (comm.Result, error) { return c.ReduceScatter(&scalar, nil, kernel.Sum) }},
			{"entries", status.InvalidArgument, "1 entries along its first dimension, but there are 2 ranks",
				func() (comm.Result, error) { return c.ReduceScatter(&short, nil, kernel.Sum) }},
			{"whole out", status.InvalidArgument, "out has 4 elements where the result has 2",
				func() (comm.Result, error) { return c.ReduceScatter(&a, &a, kernel.Sum) }},
		} {
			_, err := row.call()
			assert.ErrorIs(t, err, row.code, row.name)
			assert.ErrorContains(t, err, row.text, row.name)
		}
		assert.NoError(t, c.Barrier(), "the communicator goes on")
	})
}
