package scan_test

import (
	"math"
	"math/big"
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

// Products of what stays in the range of floats, and of what leaves it at either end, are those that big.Float makes.
func TestTotalsOfProducts(t *testing.T) {
	loop, err := scan.Of(dtype.Float64, kernel.Prod)
	assert.NoError(t, err)
	for _, factor := range []float64{1.0009, 0.3, 1e-3, 1e5, 1e300, 1e-300, 3e-310} {
		for _, n := range longRuns {
			x, want := make([]float64, n), big.NewFloat(1)
			for i := range x {
				x[i] = factor * float64(1+i%3)
				want.Mul(want, big.NewFloat(x[i]))
			}
			x = append(x, 1, -1)
			p := fold.Partial{}
			loop.Total(&p, memory.Of(dtype.Float64, x))
			got := new(big.Float).SetMantExp(big.NewFloat(math.Float64frombits(uint64(p[0]))), int(p[2]))
			ratio, _ := new(big.Float).Quo(got, want).Float64()
			assert.InDelta(t, -1, ratio, 1e-10, "%d times %g", n, factor)
		}
	}
}
