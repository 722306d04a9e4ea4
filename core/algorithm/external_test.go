package algorithm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dtl/core/dtype"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
)

func TestExternalSort(t *testing.T) {
	for _, row := range []struct {
		name  string
		n     int
		value func(i int) float64
	}{
		{"random", 10_000, func(int) float64 { return rand.NormFloat64() }},
		{"few values", 5_001, func(int) float64 { return float64(rand.IntN(3)) }},
		{"all alike", 3_000, func(int) float64 { return 7 }},
		{"in order", 4_097, func(i int) float64 { return float64(i) }},
		{"backwards", 4_095, func(i int) float64 { return -float64(i) }},
		{"NaN and infinities", 999, func(i int) float64 { return []float64{math.NaN(), math.Inf(1), 0, math.Inf(-1)}[i%4] }},
		{"one run", 10, func(i int) float64 { return -float64(i) }},
		{"none", 0, nil},
	} {
		for _, chunk := range []int{64, 1000} {
			mine, files, room := make([]float64, row.n), make([]float64, row.n), make([]float64, 2*chunk)
			for i := range mine {
				mine[i] = row.value(i)
			}
			want := slices.Clone(mine)
			slices.SortStableFunc(want, func(a, b float64) int {
				switch {
				case a < b || !math.IsNaN(a) && math.IsNaN(b):
					return -1
				case a > b || math.IsNaN(a) && !math.IsNaN(b):
					return 1
				}
				return 0
			})
			x := external{order: radix.NewOrder(dtype.Float64, false), room: memory.Of(dtype.Float64, room), chunk: chunk}
			x.sort(memory.Of(dtype.Float64, mine), memory.Of(dtype.Float64, files))
			if !slices.EqualFunc(mine, want, func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }) {
				t.Errorf("%s, chunks of %d: not in order", row.name, chunk)
			}
		}
	}
}
