package fold_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/dtype"
	"dtl/core/kernel/fold"
	"dtl/core/memory"
)

// longRuns are lengths around those from which a run is read as four streams, and some that leave a rest in each.
var longRuns = []int{4095, 4096, 4097, 5000, 8191, 16*1024 + 13, 4*(1<<14) + 3, 100_001}

// small returns numbers whose sums, squares and products are exact.
func small[T float32 | float64 | int64 | uint8](n int) []T {
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

// TestTruthsOfBytes has bytes with each of their bits alone, and all of them alike.
func TestTruthsOfBytes(t *testing.T) {
	x := make([]uint8, 10_007)
	want := int64(0)
	for i := range x {
		if x[i] = uint8(1 << (i % 8)); i%3 == 0 || i/2048%2 == 0 {
			x[i] = 0
		} else {
			want++
		}
	}
	for _, typ := range []dtype.Type{dtype.Bool, dtype.Int8, dtype.Uint8} {
		folding, err := fold.Truths.Folding(typ)
		assert.NoError(t, err)
		for value := range 256 {
			same := bytes.Repeat([]byte{byte(value)}, 4099)
			p := fold.Partial{}
			folding.Run(&p, memory.Of(typ, same), 0)
			assert.Equal(t, int64(min(value, 1)*4099), p[0])
		}
		p := fold.Partial{}
		folding.Run(&p, memory.Of(typ, x), 0)
		assert.Equal(t, want, p[0])
	}
}

func foldsOf[T float32 | float64 | int64 | uint8](t *testing.T, typ dtype.Type, x []T) {
	sum, squares := 0.0, 0.0
	for _, v := range x {
		sum, squares = sum+float64(v), squares+float64(v)*float64(v)
	}
	n := float64(len(x))
	rows := []struct {
		f      fold.Kind
		want   float64
		within float64
	}{
		{fold.Mean, sum / n, 0},
		{fold.Squares, squares, 0},
		{fold.Magnitudes, sum, 0},
		{fold.Moment, squares - sum*sum/n, 1e-9 * squares},
	}
	for _, row := range rows {
		folding, err := row.f.Folding(typ)
		assert.NoError(t, err)
		p := fold.Partial{}
		folding.Run(&p, memory.Of(typ, x), 0)
		got, err := folding.Finish(&p, int64(len(x)))
		assert.NoError(t, err)
		assert.InDelta(t, row.want, got.Float(), row.within, "%s of %s", row.f, typ)
	}
}
