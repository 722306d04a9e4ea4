package container_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/runtime"
	"dtl/core/status"
)

func selected(size int64, d container.Division) container.Spec {
	return container.Spec{Family: "vector", Op: "getitem", Shape: []int64{size}, Type: dtype.Int64, Division: d, Blank: true}
}

func TestSelect(t *testing.T) {
	everyVector(t, func(t *testing.T, on *runtime.Context, v *container.Array, size int64) {
		n := (size + 1) / 2
		back := []container.Axis{{FromStart: max(size-1, 0), FromStep: -2, ToStep: 1, Count: n}}
		for _, d := range divisions(n, on.Size()) {
			a, err := container.Select(selected(n, d), v, back)
			assert.NoError(t, err)
			holds(t, a, func(g int64) int64 { return 10 * (size - 1 - 2*g) })
			assert.NoError(t, a.Close())
		}
		back[0].Count = size + 1
		_, err := container.Select(selected(size+1, container.Division{}), v, back)
		assert.ErrorIs(t, err, status.OutOfBounds)
	})
}

func TestSelectOfClosed(t *testing.T) {
	onRanks(t, 2, func(on *runtime.Context) {
		v := made(t, on, 4, container.Division{})
		assert.NoError(t, v.Close())
		_, err := container.Select(selected(2, container.Division{}), v, []container.Axis{{FromStep: 1, ToStep: 1, Count: 2}})
		assert.ErrorIs(t, err, status.InvalidHandle)
	})
}

func TestSelectOfOtherElementsOnOneRank(t *testing.T) {
	onRanks(t, 3, func(on *runtime.Context) {
		v := made(t, on, 9, container.Division{})
		start := int64(0)
		if on.Rank() == 1 {
			start = 1
		}
		_, err := container.Select(selected(2, container.Division{}), v, []container.Axis{{FromStart: start, FromStep: 1, ToStep: 1, Count: 2}})
		assert.ErrorIs(t, err, status.Mismatch)
		assert.ErrorContains(t, err, "rank 1 called getitem")
		assert.NoError(t, v.Close())
	})
}

// ownRows returns as many elements as it is numbered, of its number.
func ownRows(rank int64) comm.Array {
	rows := make([]int64, rank)
	for i := range rows {
		rows[i] = rank
	}
	return comm.Array{Span: memory.Of(dtype.Int64, rows), Shape: []int64{rank}}
}

func TestFromParts(t *testing.T) {
	for ranks := 1; ranks <= 4; ranks++ {
		onRanks(t, ranks, func(on *runtime.Context) {
			n := int64(ranks * (ranks - 1) / 2)
			for _, d := range divisions(n, ranks) {
				a, err := container.FromParts(on, selected(99, d), ownRows(int64(on.Rank())))
				assert.NoError(t, err)
				holds(t, a, func(g int64) int64 {
					owner := int64(1)
					for g >= owner*(owner+1)/2 {
						owner++
					}
					return owner
				})
				assert.NoError(t, a.Close())
			}
		})
	}
}

func TestFromPartsOfOtherElementsOnOneRank(t *testing.T) {
	onRanks(t, 2, func(on *runtime.Context) {
		rows := ownRows(1)
		if on.Rank() == 1 {
			rows = comm.Array{Span: memory.Of(dtype.Float64, []float64{1}), Shape: []int64{1}}
		}
		_, err := container.FromParts(on, selected(0, container.Division{}), rows)
		assert.ErrorIs(t, err, status.InvalidArgument)
	})
}
