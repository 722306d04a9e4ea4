package algorithm_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/runtime"
)

func onRanks(t *testing.T, n int, body func(on *runtime.Context)) {
	t.Helper()
	backendtest.OnRanks(t, cpu.Group(n), func(main backend.ReducingCommunicator, mem backend.MemorySpace) {
		on, err := runtime.New(backend.Local, main, mem, runtime.NoDevice)
		if assert.NoError(t, err) {
			body(on)
			assert.NoError(t, on.Close())
		}
	})
}

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

// everyDivision runs body for each division of vectors of several sizes on 1 to 7 ranks; with -short, on some of them.
func everyDivision(t *testing.T, body func(t *testing.T, on *runtime.Context, size int64, d container.Division)) {
	for _, ranks := range backendtest.Sizes(t, 7) {
		for _, size := range sizes {
			for _, d := range divisions(size, ranks) {
				t.Run(fmt.Sprintf("%d ranks, %d elements, %s", ranks, size, d), func(t *testing.T) {
					onRanks(t, ranks, func(on *runtime.Context) { body(t, on, size, d) })
				})
			}
		}
	}
}

// vector makes a vector whose element of each global index is what value says.
func vector[T any](t *testing.T, on *runtime.Context, of dtype.Type, size int64, d container.Division, value func(global int64) T) *container.Array {
	t.Helper()
	v, err := container.New(on, container.Spec{Family: "vector", Shape: []int64{size}, Type: of, Division: d})
	if err != nil {
		panic(err)
	}
	p, err := v.Use()
	if err != nil {
		panic(err)
	}
	defer p.Done()
	n := int64(0)
	p.Runs(func(run memory.Span) bool {
		for i := range memory.As[T](run) {
			memory.As[T](run)[i] = value(p.Index(n))
			n++
		}
		return true
	})
	return v
}

// memoryOf returns a slice as an array of one dimension.
func memoryOf[T any](of dtype.Type, elements []T) comm.Array {
	return comm.Array{Span: memory.Of(of, elements), Shape: []int64{int64(len(elements))}}
}
