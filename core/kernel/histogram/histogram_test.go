package histogram_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/dtype"
	"dtl/core/kernel/histogram"
	"dtl/core/memory"
	"dtl/core/status"
)

// longRuns are lengths around those from which a run is read as four streams, and some that leave a rest in each.
var longRuns = []int{4095, 4096, 4097, 5000, 8191, 16*1024 + 13, 4*(1<<14) + 3, 100_001}

func TestTablesOfLongRuns(t *testing.T) {
	edges := []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	for _, n := range longRuns {
		x, y := make([]int64, n), make([]float64, n)
		want := make([]int64, 13)
		for i := range x {
			x[i] = int64((i*7 + i/1000) % 13)
			y[i] = float64(x[i])
			want[x[i]]++
		}
		tally := histogram.NewTally(false, 0, 1<<20)
		assert.NoError(t, tally.Add(memory.Of(dtype.Int64, x), memory.Span{}))
		assert.Equal(t, want, tally.Counts[:tally.Length()])
		some := histogram.NewBins(edges[3:6], true, false) // most are outside
		assert.NoError(t, some.Add(memory.Of(dtype.Int64, x), memory.Span{}))
		assert.Equal(t, []int64{want[3], want[4] + want[5]}, some.Counts)
		many := append(append([]int64{}, x...), 5000, 3)
		grown := histogram.NewTally(false, 0, 1<<20)
		assert.NoError(t, grown.Add(memory.Of(dtype.Int64, many), memory.Span{}))
		assert.Equal(t, int64(1), grown.Counts[5000])
		assert.Equal(t, want[3]+1, grown.Counts[3])
		want[11] += want[12] // the last bin has its upper edge
		for _, uniform := range []bool{true, false} {
			integers, floats := histogram.NewBins(edges, uniform, false), histogram.NewBins(edges, uniform, false)
			assert.NoError(t, integers.Add(memory.Of(dtype.Int64, x), memory.Span{}))
			assert.NoError(t, floats.Add(memory.Of(dtype.Float64, y), memory.Span{}))
			assert.Equal(t, want[:12], integers.Counts)
			assert.Equal(t, want[:12], floats.Counts)
		}
	}
}

func TestTablesOfNumbersThatAreFarFromZero(t *testing.T) {
	for _, n := range longRuns {
		for _, lowest := range []int64{-1 << 63, -7_000, 1<<63 - 13} {
			x, want := make([]int64, n), make([]int64, 13)
			for i := range x {
				x[i] = lowest + int64((i*7+i/1000)%13)
				want[x[i]-lowest]++
			}
			tally := histogram.NewTally(false, lowest, 1<<20)
			assert.NoError(t, tally.Add(memory.Of(dtype.Int64, x), memory.Span{}))
			assert.Equal(t, want, tally.Counts[:tally.Length()])
			if lowest < 0 {
				assert.ErrorIs(t, tally.Add(memory.Of(dtype.Int64, []int64{1<<63 - 1}), memory.Span{}), status.OutOfMemory)
			} else {
				assert.ErrorIs(t, tally.Add(memory.Of(dtype.Int64, []int64{lowest - 1}), memory.Span{}), status.InvalidArgument)
			}
		}
	}
}
