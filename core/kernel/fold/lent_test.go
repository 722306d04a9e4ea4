package fold_test

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"dtl/core/dtype"
	"dtl/core/kernel/fold"
	"dtl/core/memory"
)

// many is as many elements as are folded by a loop that is lent.
const many = 1000

func folded(t *testing.T, kind fold.Kind, run memory.Span) fold.Number {
	t.Helper()
	folding, err := kind.Folding(run.Type)
	assert.NoError(t, err)
	var p fold.Partial
	folding.Run(&p, run, 0)
	n, err := folding.Finish(&p, int64(run.Count))
	assert.NoError(t, err)
	return n
}

func TestExtremesByLoopsThatAreLent(t *testing.T) {
	calls := 0
	fold.SetExtreme(dtype.Float64, true, func(first unsafe.Pointer, n int, found unsafe.Pointer) {
		calls++
		m := (*float64)(found)
		for _, v := range unsafe.Slice((*float64)(first), n) {
			if v > *m || v != v {
				*m = v
			}
		}
	})
	defer fold.SetExtreme(dtype.Float64, true, nil)
	x := make([]float64, many)
	run := memory.Of(dtype.Float64, x)
	negative := math.Copysign(0, -1)
	for i := range x {
		x[i] = negative
	}
	x[many-1] = 0
	n := folded(t, fold.Max, run)
	assert.True(t, math.Signbit(n.Float()), "of zeros, which are equal, it is the first")
	x[many/2] = 7
	n = folded(t, fold.Max, run)
	assert.Equal(t, 7.0, n.Float())
	first := math.Float64frombits(0xfff8000000000001)
	x[3], x[4] = first, math.NaN()
	n = folded(t, fold.Max, run)
	assert.Equal(t, math.Float64bits(first), math.Float64bits(n.Float()), "of NaNs, it is the first")
	assert.Equal(t, 3, calls)
	n = folded(t, fold.Max, run.Slice(5, 9))
	assert.True(t, math.Signbit(n.Float()))
	n = folded(t, fold.Min, run.Slice(5, many))
	assert.Equal(t, 0.0, n.Float())
	assert.Equal(t, 3, calls, "few elements, and those of which the least is wanted, are not its affair")
}

func TestProductsByALoopThatIsLent(t *testing.T) {
	calls := 0
	fold.SetDot(dtype.Float64, func(a, b unsafe.Pointer, n int, sum *[2]float64) {
		calls++
		x, y := unsafe.Slice((*float64)(a), n), unsafe.Slice((*float64)(b), n)
		for i := range x {
			sum[0] += x[i] * y[i]
		}
	})
	defer fold.SetDot(dtype.Float64, nil)
	x, y := make([]float64, 2_500_001), make([]float64, 2_500_001)
	wanted, squares := 0.0, 0.0
	for i := range x {
		x[i], y[i] = float64(i%10), float64(i%7)
		wanted += x[i] * y[i]
		squares += x[i] * x[i]
	}
	folding, err := fold.DotFolding(dtype.Float64)
	assert.NoError(t, err)
	for _, count := range []int{len(x), 511} {
		var p fold.Partial
		assert.NoError(t, fold.Dot(&p, memory.Of(dtype.Float64, x[:count]), memory.Of(dtype.Float64, y[:count]), false))
		n, err := folding.Finish(&p, int64(count))
		assert.NoError(t, err)
		if count == len(x) {
			assert.Equal(t, wanted, n.Float())
		}
	}
	assert.Equal(t, 1, calls, "not of few elements")
	n := folded(t, fold.Squares, memory.Of(dtype.Float64, x))
	assert.Equal(t, squares, n.Float())
	assert.Equal(t, 2, calls)
}

func TestMomentsByALoopThatIsLent(t *testing.T) {
	calls := 0
	fold.SetMoments(dtype.Float32, func(first unsafe.Pointer, n int, moments *[3]float64) {
		calls++
		x := unsafe.Slice((*float32)(first), n)
		for _, v := range x {
			moments[0] += float64(v) / float64(n)
		}
		for _, v := range x {
			moments[2] += (float64(v) - moments[0]) * (float64(v) - moments[0])
		}
	})
	defer fold.SetMoments(dtype.Float32, nil)
	const count = 3*(1<<13) + 5
	x, mean, spread := make([]float32, count), 0.0, 0.0
	for i := range x {
		x[i] = float32(i % 100)
		mean += float64(x[i]) / count
	}
	for _, v := range x {
		spread += (float64(v) - mean) * (float64(v) - mean)
	}
	n := folded(t, fold.Moment, memory.Of(dtype.Float32, x))
	assert.InEpsilon(t, spread, n.Float(), 1e-12)
	assert.Equal(t, 4, calls, "blocks stay in the cache")
	n = folded(t, fold.Moment, memory.Of(dtype.Float32, x[:3]))
	assert.Equal(t, 2.0, n.Float())
	assert.Equal(t, 4, calls, "not of few elements")
}

func TestSumsByALoopThatIsLent(t *testing.T) {
	calls := 0
	fold.SetSum(dtype.Float32, func(first unsafe.Pointer, n int, sum *[2]float64) {
		calls++
		for _, v := range unsafe.Slice((*float32)(first), n) {
			sum[0] += float64(v)
		}
	})
	defer fold.SetSum(dtype.Float32, nil)
	x := make([]float32, many)
	for i := range x {
		x[i] = float32(i)
	}
	run := memory.Of(dtype.Float32, x)
	n := folded(t, fold.Sum, run)
	assert.Equal(t, float64(many*(many-1)/2), n.Float())
	n = folded(t, fold.Mean, run)
	assert.Equal(t, float64(many-1)/2, n.Float())
	assert.Equal(t, 2, calls)
	x[5] = float32(math.Inf(1))
	n = folded(t, fold.Sum, run)
	assert.True(t, math.IsInf(n.Float(), 1), "the core's own loop says that an element is infinite")
	x[7] = float32(math.NaN())
	n = folded(t, fold.Sum, run)
	assert.True(t, math.IsNaN(n.Float()))
	folded(t, fold.Sum, run.Slice(0, 9))
	assert.Equal(t, 4, calls, "not of few elements")
}
