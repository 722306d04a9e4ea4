package container_test

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"dtl/core/backend/backendtest"
	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/runtime"
)

// divisions returns one of each kind for a vector.
func divisions(size int64, ranks int) []container.Division {
	uneven := make([]int64, ranks)
	uneven[ranks-1] = size / 3
	uneven[0] += size - size/3
	return []container.Division{
		{},
		{Kind: partition.KindCyclic},
		{Kind: partition.KindBlockCyclic, Block: 3},
		{Kind: partition.KindHash},
		{Kind: partition.KindReplicated},
		{Kind: partition.KindExplicit, Sizes: uneven},
	}
}

var sizes = []int64{0, 1, 2, 7, 40}

// everyVector runs body with a vector of int64 of each division and several sizes on 1 to 5 ranks, with
// -short on some of them, whose elements are ten times their global index.
func everyVector(t *testing.T, body func(t *testing.T, on *runtime.Context, v *container.Array, size int64)) {
	for _, ranks := range backendtest.Sizes(t, 5) {
		for _, size := range sizes {
			for _, d := range divisions(size, ranks) {
				t.Run(fmt.Sprintf("%d ranks, %d elements, %s", ranks, size, d), func(t *testing.T) {
					onRanks(t, ranks, func(on *runtime.Context) {
						v := made(t, on, size, d)
						fillTens(t, v)
						body(t, on, v, size)
						assert.NoError(t, v.Close())
					})
				})
			}
		}
	}
}

func made(t *testing.T, on *runtime.Context, size int64, d container.Division) *container.Array {
	t.Helper()
	v, err := container.New(on, container.Spec{Family: "vector", Shape: []int64{size}, Type: dtype.Int64, Division: d})
	if err != nil {
		t.Error(err)
		panic(err)
	}
	return v
}

// locals copies this rank's elements, which need not lie in C order.
func locals(t *testing.T, c container.Container) []int64 {
	t.Helper()
	view, err := c.View()
	assert.NoError(t, err)
	defer view.Storage.Release()
	return append([]int64{}, memory.As[int64](view.Span)...)
}

// where returns the global index of each local element.
func where(t *testing.T, c container.Container) []int64 { return along(t, c, 0) }

// along returns the global index of each local index of a dimension.
func along(t *testing.T, c container.Container, d int64) []int64 {
	t.Helper()
	r, err := container.LocalIndices(c, d)
	assert.NoError(t, err)
	defer r.Storage.Release()
	return append([]int64{}, memory.As[int64](r.Span)...)
}

func fillTens(t *testing.T, c container.Container) {
	t.Helper()
	view, err := c.View()
	assert.NoError(t, err)
	defer view.Storage.Release()
	for i, global := range where(t, c) {
		memory.As[int64](view.Span)[i] = 10 * global
	}
}

// holds checks that the element of each global index is want's.
func holds(t *testing.T, c container.Container, want func(global int64) int64) {
	t.Helper()
	got := locals(t, c)
	for i, global := range where(t, c) {
		if got[i] != want(global) {
			t.Errorf("rank %d: element %d is %d, want %d", c.Context().Rank(), global, got[i], want(global))
		}
	}
}

// list makes numbers an array in memory that messages may use.
func list(numbers ...int64) comm.Array {
	kept := append(make([]int64, 0, len(numbers)+1), numbers...)
	span := memory.Span{Addr: unsafe.Pointer(unsafe.SliceData(kept)), Count: len(numbers), Type: dtype.Int64}
	return comm.Array{Span: span, Shape: []int64{int64(len(numbers))}}
}

// taken copies a result, and releases it.
func taken(r comm.Result) []int64 {
	defer r.Storage.Release()
	return append([]int64{}, memory.As[int64](r.Span)...)
}
