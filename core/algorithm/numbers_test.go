package algorithm_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/algorithm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/fold"
	"dtl/core/memory"
	"dtl/core/runtime"
	"dtl/core/status"
)

// holds checks this rank's part of a vector.
func holds(t *testing.T, v container.Container, want func(global int64) int64) {
	t.Helper()
	p, err := v.Use()
	if !assert.NoError(t, err) {
		return
	}
	defer p.Done()
	n := int64(0)
	p.Runs(func(run memory.Span) bool {
		for _, x := range memory.As[int64](run) {
			assert.Equal(t, want(p.Index(n)), x, "element %d", p.Index(n))
			n++
		}
		return true
	})
}

func TestScan(t *testing.T) {
	everyDivision(t, func(t *testing.T, on *runtime.Context, size int64, d container.Division) {
		v := vector(t, on, dtype.Int16, size, d, func(global int64) int16 { return int16(global%5 + 1) })
		triangle := func(n int64) (sum int64) {
			for g := range n {
				sum += g%5 + 1
			}
			return sum
		}
		for more := range int64(2) {
			exclusive := more == 0
			made, err := algorithm.Scan(v, kernel.Sum, exclusive)
			if assert.NoError(t, err) {
				holds(t, made, func(global int64) int64 { return triangle(global + more) })
				assert.NoError(t, made.Close())
			}
		}
		assert.NoError(t, v.Close())
	})
}

func TestScanOfExtremes(t *testing.T) {
	everyDivision(t, func(t *testing.T, on *runtime.Context, size int64, d container.Division) {
		v := vector(t, on, dtype.Int64, size, d, func(global int64) int64 { return (global*7 + 3) % 11 })
		most := func(n int64) int64 {
			m := int64(-1 << 63)
			for g := range n {
				m = max(m, (g*7+3)%11)
			}
			return m
		}
		for more := range int64(2) {
			exclusive := more == 0
			made, err := algorithm.Scan(v, kernel.Max, exclusive)
			if assert.NoError(t, err) {
				holds(t, made, func(global int64) int64 { return most(global + more) })
				assert.NoError(t, made.Close())
			}
		}
		assert.NoError(t, v.Close())
	})
}

func TestScansThatAreNot(t *testing.T) {
	onRanks(t, 3, func(on *runtime.Context) {
		for _, d := range divisions(5, 3) {
			v := vector(t, on, dtype.Complex64, 5, d, func(int64) complex64 { return 1 })
			for _, op := range []kernel.Op{kernel.Min, kernel.BXor, kernel.NOps + 3} {
				_, err := algorithm.Scan(v, op, false)
				assert.ErrorIs(t, err, status.Unsupported)
			}
			assert.NoError(t, v.Close())
		}
		cube, err := container.New(on, container.Spec{Family: "tensor", Shape: []int64{2, 3}, Type: dtype.Int8})
		assert.NoError(t, err)
		_, err = algorithm.Scan(cube, kernel.Sum, false)
		assert.ErrorIs(t, err, status.Unsupported)
		assert.NoError(t, cube.Close())
	})
}

func TestHistogramAndBincount(t *testing.T) {
	everyDivision(t, func(t *testing.T, on *runtime.Context, size int64, d container.Division) {
		v := vector(t, on, dtype.Int32, size, d, func(global int64) int32 { return int32(global * 3 % 7) })
		w := vector(t, on, dtype.Float64, size, d, func(global int64) float64 { return float64(global) })
		var counts [7]int64
		var sums [7]float64
		for g := range size {
			counts[g*3%7]++
			sums[g*3%7] += float64(g)
		}
		edges, out, heavy := []float64{1, 3, 6}, make([]int64, 2), make([]float64, 2)
		assert.NoError(t, algorithm.Histogram(v, nil, memory.Of(dtype.Float64, edges), memory.Of(dtype.Int64, out), false))
		assert.Equal(t, []int64{counts[1] + counts[2], counts[3] + counts[4] + counts[5] + counts[6]}, out)
		assert.NoError(t, algorithm.Histogram(v, w, memory.Of(dtype.Float64, edges), memory.Of(dtype.Float64, heavy), false))
		assert.Equal(t, []float64{sums[1] + sums[2], sums[3] + sums[4] + sums[5] + sums[6]}, heavy)
		r, err := algorithm.Bincount(v, nil, 0, 7)
		if assert.NoError(t, err) {
			assert.Equal(t, counts[:], memory.As[int64](r.Span))
			r.Storage.Release()
		}
		r, err = algorithm.Bincount(v, nil, -2, 0)
		if assert.NoError(t, err) {
			n := len(counts) // up to the greatest of them
			for n > 0 && counts[n-1] == 0 {
				n--
			}
			from := memory.As[int64](r.Span)
			assert.Equal(t, append([]int64{0, 0}, counts[:n]...)[:len(from)], from)
			assert.True(t, len(from) == n+2 || size == 0 && len(from) == 0)
			r.Storage.Release()
		}
		r, err = algorithm.Bincount(v, w, 0, 7)
		if assert.NoError(t, err) {
			assert.Equal(t, sums[:], memory.As[float64](r.Span))
			r.Storage.Release()
		}
		assert.NoError(t, v.Close())
		assert.NoError(t, w.Close())
	})
}

func TestDotAndExact(t *testing.T) {
	everyDivision(t, func(t *testing.T, on *runtime.Context, size int64, d container.Division) {
		v := vector(t, on, dtype.Float64, size, d, func(global int64) float64 { return float64(global) })
		want := 0.0
		for g := range size {
			want += float64(g * g)
		}
		n, err := algorithm.Dot(v, v, false)
		assert.NoError(t, err)
		assert.Equal(t, want, n.Float())
		n, err = algorithm.Exact(v, v, fold.Squares, false)
		assert.NoError(t, err)
		assert.Equal(t, want, n.Float())
		n, err = algorithm.Exact(v, nil, fold.Sum, false)
		assert.NoError(t, err)
		assert.Equal(t, float64(size*(size-1)/2), n.Float())
		assert.NoError(t, v.Close())
	})
}

func TestNumbersOfContainersThatDoNotFit(t *testing.T) {
	onRanks(t, 2, func(on *runtime.Context) {
		one := func(int64) float64 { return 1 }
		v := vector(t, on, dtype.Float64, 6, container.Division{}, one)
		w := vector(t, on, dtype.Float64, 6, container.Division{Kind: 1}, one)
		_, err := algorithm.Dot(v, w, false)
		assert.ErrorIs(t, err, status.InvalidArgument)
		_, err = algorithm.Exact(v, w, fold.Squares, false)
		assert.ErrorIs(t, err, status.InvalidArgument)
		pair := []container.Container{v, w}
		_, err = algorithm.Dot(v, pair[on.Rank()], false)
		assert.Error(t, err)
		edges, out := memory.Of(dtype.Float64, []float64{2, 1}), memory.Of(dtype.Int64, make([]int64, 1))
		assert.ErrorIs(t, algorithm.Histogram(v, nil, edges, out, true), status.InvalidArgument)
		assert.ErrorIs(t, algorithm.Histogram(v, w, edges, out, true), status.InvalidArgument)
		_, err = algorithm.Bincount(v, nil, 0, 0)
		assert.ErrorIs(t, err, status.InvalidType)
		whole := vector(t, on, dtype.Int64, 6, container.Division{}, func(global int64) int64 { return global - 5*(global/5)*2 })
		_, err = algorithm.Bincount(whole, nil, 0, 0)
		assert.ErrorContains(t, err, "no negative elements")
		_, err = algorithm.Bincount(whole, nil, 1, 0)
		assert.ErrorIs(t, err, status.InvalidArgument)
		_, err = algorithm.Bincount(whole, nil, 0, -1)
		assert.ErrorIs(t, err, status.InvalidArgument)
		for _, c := range []container.Container{v, w, whole} {
			assert.NoError(t, c.Close())
		}
	})
}
