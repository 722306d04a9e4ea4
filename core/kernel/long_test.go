package kernel_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// longRuns are lengths around those from which a run is read as four streams, and some that leave a rest in each.
var longRuns = []int{4095, 4096, 4097, 5000, 8191, 16*1024 + 13, 4*(1<<14) + 3, 100_001}

// small returns numbers whose sums, squares and products are exact.
func small[T float32 | float64 | int64 | int32 | uint8](n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T((i*7 + i/1000) % 13)
	}
	return x
}

func TestFoldsOfLongRuns(t *testing.T) {
	for _, n := range longRuns {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			foldsOf(t, dtype.Float64, small[float64](n))
			foldsOf(t, dtype.Float32, small[float32](n))
			foldsOf(t, dtype.Int64, small[int64](n))
			foldsOf(t, dtype.Uint8, small[uint8](n))
		})
	}
}

func foldsOf[T float32 | float64 | int64 | uint8](t *testing.T, typ dtype.Type, x []T) {
	sum, squares := 0.0, 0.0
	for _, v := range x {
		sum, squares = sum+float64(v), squares+float64(v)*float64(v)
	}
	n := float64(len(x))
	rows := []struct {
		f      kernel.Fold
		want   float64
		within float64
	}{
		{kernel.FoldMean, sum / n, 0},
		{kernel.FoldSquares, squares, 0},
		{kernel.FoldMagnitudes, sum, 0},
		{kernel.FoldMoment, squares - sum*sum/n, 1e-9 * squares},
	}
	for _, row := range rows {
		folding, err := row.f.Folding(typ)
		assert.NoError(t, err)
		p := kernel.Partial{}
		folding.Run(&p, memory.Of(typ, x), 0)
		got, err := folding.Finish(&p, int64(len(x)))
		assert.NoError(t, err)
		assert.InDelta(t, row.want, got.Float(), row.within, "%s of %s", row.f, typ)
	}
}

func TestScansOfLongRuns(t *testing.T) {
	for _, n := range longRuns {
		x, got := small[float64](n), make([]float64, n)
		loop, err := kernel.ScanningOf(dtype.Float64, kernel.Sum)
		assert.NoError(t, err)
		for _, exclusive := range []bool{false, true} {
			want, sum := make([]float64, n), 0.0
			for i, v := range x {
				want[i] = sum + v
				if exclusive {
					want[i] = sum
				}
				sum += v
			}
			p, total := kernel.Partial{}, kernel.Partial{}
			loop.Scan(&p, memory.Of(dtype.Float64, got), memory.Of(dtype.Float64, x), exclusive)
			loop.Total(&total, memory.Of(dtype.Float64, x))
			assert.Equal(t, want, got)
			assert.Equal(t, p, total)
		}
	}
}

func TestTablesOfLongRuns(t *testing.T) {
	edges := []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	for _, n := range longRuns {
		x := small[int64](n)
		want := make([]int64, 13)
		for _, v := range x {
			want[v]++
		}
		tally := kernel.NewTally(false, 1<<20)
		assert.NoError(t, tally.Add(memory.Of(dtype.Int64, x), memory.Span{}))
		assert.Equal(t, want, tally.Counts[:tally.Length()])
		some := kernel.NewBins(edges[3:6], true, false) // most are outside
		assert.NoError(t, some.Add(memory.Of(dtype.Int64, x), memory.Span{}))
		assert.Equal(t, []int64{want[3], want[4] + want[5]}, some.Counts)
		many := append(append([]int64{}, x...), 5000, 3)
		grown := kernel.NewTally(false, 1<<20)
		assert.NoError(t, grown.Add(memory.Of(dtype.Int64, many), memory.Span{}))
		assert.Equal(t, int64(1), grown.Counts[5000])
		assert.Equal(t, want[3]+1, grown.Counts[3])
		want[11] += want[12] // the last bin has its upper edge
		for _, uniform := range []bool{true, false} {
			integers, floats := kernel.NewBins(edges, uniform, false), kernel.NewBins(edges, uniform, false)
			assert.NoError(t, integers.Add(memory.Of(dtype.Int64, x), memory.Span{}))
			assert.NoError(t, floats.Add(memory.Of(dtype.Float64, small[float64](n)), memory.Span{}))
			assert.Equal(t, want[:12], integers.Counts)
			assert.Equal(t, want[:12], floats.Counts)
		}
	}
}
