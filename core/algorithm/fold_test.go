package algorithm_test

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"dtl/core/algorithm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/fold"
	"dtl/core/runtime"
	"dtl/core/status"
)

// of returns the value of a number of the type that T stands for.
func of[T any](n fold.Number) T {
	return *(*T)(unsafe.Pointer(&n.Bytes()[0]))
}

func TestFolds(t *testing.T) {
	everyDivision(t, func(t *testing.T, on *runtime.Context, size int64, d container.Division) {
		v := vector(t, on, dtype.Int32, size, d, func(global int64) int32 { return int32((global*7 + 3) % 11) })
		number := func(f fold.Kind) fold.Number {
			n, err := algorithm.Fold("fold", v, f, 0)
			assert.NoError(t, err)
			return n
		}
		sum, squares, prod := int64(0), 0.0, int64(1)
		least, greatest := int64(math.MaxInt64), int64(-1)
		var first, last int64
		for g := range size {
			x := (g*7 + 3) % 11
			sum, squares, prod = sum+x, squares+float64(x*x), prod*x
			if x < least {
				least, first = x, g
			}
			if x > greatest {
				greatest, last = x, g
			}
		}
		assert.Equal(t, sum, integer(number(fold.Sum)))
		assert.Equal(t, prod, integer(number(fold.Prod)))
		squared := number(fold.Squares)
		assert.Equal(t, squares, squared.Float())
		if size == 0 {
			_, err := algorithm.Fold("fold", v, fold.Min, 0)
			assert.ErrorIs(t, err, status.InvalidArgument)
			assert.ErrorContains(t, err, "zero-size array to reduction operation minimum")
			return
		}
		assert.Equal(t, []int64{least, greatest, first, last}, []int64{integer(number(fold.Min)),
			integer(number(fold.Max)), integer(number(fold.ArgMin)), integer(number(fold.ArgMax))})
		mean, moment := number(fold.Mean), number(fold.Moment)
		assert.Equal(t, float64(sum)/float64(size), mean.Float())
		assert.InDelta(t, squares-float64(sum*sum)/float64(size), moment.Float(), 1e-9*squares+1e-9)
		assert.NoError(t, v.Close())
	})
}

func integer(n fold.Number) int64 { return of[int64](n) }

func TestFoldsThatAreNot(t *testing.T) {
	onRanks(t, 2, func(on *runtime.Context) {
		v := vector(t, on, dtype.Complex64, 5, container.Division{}, func(int64) complex64 { return 1 })
		_, err := algorithm.Fold("fold", v, fold.NKinds, 0)
		assert.ErrorIs(t, err, status.InvalidArgument)
		kind := fold.Kind(on.Rank())
		_, err = algorithm.Fold(kind.String(), v, kind, 0)
		assert.ErrorIs(t, err, status.Mismatch)
		_, err = algorithm.Fold("fold", v, fold.Sum, int64(on.Rank()))
		assert.ErrorIs(t, err, status.Mismatch)
		assert.NoError(t, v.Close())
		_, err = algorithm.Fold("fold", v, fold.Sum, 0)
		assert.ErrorIs(t, err, status.InvalidHandle)
	})
}

func TestParallelPiecesGiveWhatOneThreadDoes(t *testing.T) {
	const each = 300_001
	defer algorithm.SetThreads(1)
	for _, ranks := range []int{1, 3} {
		algorithm.SetThreads(3)
		onRanks(t, ranks, func(on *runtime.Context) {
			size := int64(each * ranks)
			v := vector(t, on, dtype.Int16, size, container.Division{}, func(global int64) int16 { return int16(global % 1000) })
			v.SetSequential(true)
			alone := everyFold(t, v)
			v.SetSequential(false)
			side := everyFold(t, v)
			for i := range alone {
				assert.Equal(t, alone[i], side[i], fold.Kind(i))
			}
			scanned, err := algorithm.Scan(v, kernel.Sum, true)
			assert.NoError(t, err)
			p, err := scanned.Use()
			assert.NoError(t, err)
			assert.True(t, p.Parallel())
			p.Done()
			last, err := algorithm.Fold("fold", scanned, fold.Max, 0)
			assert.NoError(t, err)
			assert.Equal(t, integer(alone[fold.Sum])-(size-1)%1000, integer(last))
			assert.NoError(t, scanned.Close())
			assert.NoError(t, v.Close())
		})
	}
}

// everyFold returns each fold of an array, and its product with itself.
func everyFold(t *testing.T, v *container.Array) (all []fold.Number) {
	t.Helper()
	for f := range fold.NKinds {
		n, err := algorithm.Fold("fold", v, f, 0)
		assert.NoError(t, err)
		all = append(all, n)
	}
	dot, err := algorithm.Dot(v, v, false)
	assert.NoError(t, err)
	return append(all, dot)
}
