package container_test

import (
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/runtime"
	"dtl/core/status"
)

// onRanks runs body as each of n ranks, and checks that no memory is left in use.
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

// vector makes a vector divided by blocks.
func vector(on *runtime.Context, size int64, t dtype.Type) (*container.Array, error) {
	return container.New(on, container.Spec{Family: "vector", Shape: []int64{size}, Type: t})
}

// local returns how many elements of a vector are on this rank.
func local(v container.Container) int64 {
	e, err := container.Along(v, 0)
	if err != nil {
		panic(err)
	}
	return e.Local
}

func TestEveryElementIsZeroAndOnOneRank(t *testing.T) {
	for n := 1; n <= 7; n++ {
		for _, size := range []int64{0, 1, int64(n) - 1, int64(n), 100} {
			var mu sync.Mutex
			total := int64(0)
			onRanks(t, n, func(on *runtime.Context) {
				v, err := vector(on, size, dtype.Int32)
				if !assert.NoError(t, err) {
					return
				}
				view, err := v.View()
				assert.NoError(t, err)
				assert.Equal(t, []int64{local(v)}, view.Shape)
				assert.Equal(t, make([]int32, local(v)), append([]int32{}, memory.As[int32](view.Span)...))
				view.Storage.Release()
				n := local(v)
				assert.NoError(t, v.Close())
				mu.Lock()
				defer mu.Unlock()
				total += n
			})
			assert.Equal(t, size, total, "%d ranks", n)
		}
	}
}

func TestViewOutlivesItsVector(t *testing.T) {
	onRanks(t, 1, func(on *runtime.Context) {
		v, err := vector(on, 3, dtype.Float64)
		assert.NoError(t, err)
		view, err := v.View()
		assert.NoError(t, err)
		assert.NoError(t, v.Close())
		assert.NoError(t, v.Close(), "a second time")
		memory.As[float64](view.Span)[2] = 7
		assert.Equal(t, []float64{0, 0, 7}, memory.As[float64](view.Span))
		view.Storage.Release()
		_, err = v.View()
		assert.ErrorIs(t, err, status.InvalidHandle, "the memory has gone")
	})
}

func TestVectorsThatCannotBe(t *testing.T) {
	onRanks(t, 1, func(on *runtime.Context) {
		for _, row := range []struct {
			name string
			size int64
			typ  dtype.Type
			code status.Code
		}{
			{"negative size", -1, dtype.Int8, status.InvalidArgument},
			{"no type", 1, dtype.Invalid, status.InvalidArgument},
			{"more bytes than 63 bits", math.MaxInt64, dtype.Complex128, status.OutOfMemory},
			{"more bytes than any machine has", 1 << 60, dtype.Int8, status.OutOfMemory},
		} {
			_, err := vector(on, row.size, row.typ)
			assert.ErrorIs(t, err, row.code, row.name)
			var e *status.Error
			assert.ErrorAs(t, err, &e)
			assert.Equal(t, "vector", e.Op, row.name)
		}
		gone, err := on.Dup()
		assert.NoError(t, err)
		assert.NoError(t, gone.Close())
		_, err = vector(gone, 1, dtype.Int8)
		assert.ErrorIs(t, err, status.InvalidHandle)
	})
}
