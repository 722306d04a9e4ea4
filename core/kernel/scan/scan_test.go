package scan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/fold"
	"dtl/core/kernel/scan"
	"dtl/core/memory"
)

// longRuns are lengths around those from which a run is read as four streams, and some that leave a rest in each.
var longRuns = []int{4095, 4096, 4097, 5000, 8191, 16*1024 + 13, 4*(1<<14) + 3, 100_001}

func TestScansOfLongRuns(t *testing.T) {
	for _, n := range longRuns {
		x, got := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = float64((i*7 + i/1000) % 13)
		}
		loop, err := scan.Of(dtype.Float64, kernel.Sum)
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
			p, total := fold.Partial{}, fold.Partial{}
			loop.Scan(&p, memory.Of(dtype.Float64, got), memory.Of(dtype.Float64, x), exclusive)
			loop.Total(&total, memory.Of(dtype.Float64, x))
			assert.Equal(t, want, got)
			assert.Equal(t, p, total)
		}
	}
}
