package algorithm_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/algorithm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/kernel/random"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/runtime"
	"dtl/core/status"
)

// Blocks are short, so that ranks begin and end within some.
const drawnBlock = 7

var (
	drawnFrom = random.Stream{Key: [2]uint64{3, 4}, Call: 2}
	drawnOf   = random.Range{Kind: random.Floats, Width: math.Float64bits(1)}
)

func drawn(on *runtime.Context, shape []int64, d container.Division) (*container.Array, error) {
	spec := container.Spec{Family: "tensor", Op: "random", Shape: shape, Type: dtype.Float64, Division: d}
	return algorithm.Draw(on, spec, drawnOf, drawnFrom, drawnBlock)
}

// everyNumber returns the numbers that follow each other from the first on.
func everyNumber(t *testing.T, n int64) []float64 {
	t.Helper()
	all := make([]float64, n)
	assert.NoError(t, random.Fill(memoryOf(dtype.Float64, all).Span, drawnOf, drawnFrom, drawnBlock, 0))
	return all
}

func TestDrawnNumbersDoNotDependOnTheDivision(t *testing.T) {
	everyDivision(t, func(t *testing.T, on *runtime.Context, size int64, d container.Division) {
		all := everyNumber(t, 3*size)
		made, err := drawn(on, []int64{size, 3}, d)
		if d.Kind != partition.KindBlock && d.Kind != partition.KindExplicit && d.Kind != partition.KindReplicated && on.Size() > 1 {
			assert.ErrorIs(t, err, status.InvalidArgument)
			return
		}
		assert.NoError(t, err)
		p, err := made.Use()
		assert.NoError(t, err)
		n := int64(0)
		p.Runs(func(run memory.Span) bool {
			for _, x := range memory.As[float64](run) {
				assert.Equal(t, all[p.Index(n)], x)
				n++
			}
			return true
		})
		p.Done()
		assert.NoError(t, made.Close())
	})
}

func TestRanksThatDrawDifferently(t *testing.T) {
	onRanks(t, 2, func(on *runtime.Context) {
		_, err := drawn(on, []int64{10 + int64(on.Rank())}, container.Division{})
		assert.ErrorIs(t, err, status.Mismatch)
		assert.ErrorContains(t, err, "random(shape (10,), dtype float64, partition BLOCK, draw 2")
		_, err = drawn(on, []int64{4, 4}, container.Division{Grid: []int64{1, 2}})
		assert.ErrorIs(t, err, status.InvalidArgument)
		_, err = algorithm.Draw(on, container.Spec{Family: "vector", Shape: []int64{3}, Type: dtype.Complex64}, drawnOf, drawnFrom, drawnBlock)
		assert.ErrorIs(t, err, status.InvalidType)
	})
}
