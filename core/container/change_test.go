package container_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/runtime"
	"dtl/core/status"
)

func TestResize(t *testing.T) {
	everyVector(t, func(t *testing.T, on *runtime.Context, v *container.Array, size int64) {
		for _, n := range []int64{size + 5, size / 2, 0, 3} {
			before := min(size, n)
			assert.NoError(t, v.Resize(n))
			size = min(size, n) // what is left of the first elements
			holds(t, v, func(g int64) int64 { return 10 * g * bit(g < before) })
		}
		assert.ErrorIs(t, v.Resize(-1), status.InvalidArgument)
	})
}

func TestRedistribute(t *testing.T) {
	everyVector(t, func(t *testing.T, on *runtime.Context, v *container.Array, size int64) {
		for _, d := range divisions(size, on.Size()) {
			for _, limit := range []int64{0, 100} {
				assert.NoError(t, v.Redistribute(d, limit))
				holds(t, v, func(g int64) int64 { return 10 * g })
				twin := made(t, on, size, d)
				same, err := container.Equal(v, twin)
				assert.NoError(t, err)
				assert.True(t, same)
				assert.NoError(t, twin.Close())
			}
		}
		assert.ErrorIs(t, v.Redistribute(container.Division{}, -1), status.InvalidArgument)
		assert.ErrorIs(t, v.Redistribute(container.Division{Kind: 77}, 0), status.InvalidArgument)
	})
}

// TestViewsHinderChange has one rank hold a view: no rank changes anything until it has gone.
func TestViewsHinderChange(t *testing.T) {
	for n := 1; n <= 3; n++ {
		onRanks(t, n, func(on *runtime.Context) {
			v := made(t, on, 10, container.Division{})
			fillTens(t, v)
			var views []comm.Result
			if on.Rank() == n-1 {
				for range 2 {
					view, err := v.View()
					assert.NoError(t, err)
					views = append(views, view)
				}
			}
			err := v.Resize(20)
			assert.ErrorIs(t, err, status.ViewsOut)
			assert.ErrorContains(t, err, "2 views of the container are out")
			assert.ErrorIs(t, v.Redistribute(container.Division{}, 0), status.ViewsOut)
			holds(t, v, func(g int64) int64 { return 10 * g })
			for _, view := range views {
				view.Storage.Release()
			}
			assert.NoError(t, v.Resize(20))
			assert.NoError(t, v.Close())
		})
	}
}

func TestRanksResizeDifferently(t *testing.T) {
	onRanks(t, 3, func(on *runtime.Context) {
		v := made(t, on, 10, container.Division{})
		fillTens(t, v)
		err := v.Resize(20 + int64(on.Rank()/2))
		assert.ErrorIs(t, err, status.Mismatch)
		assert.ErrorContains(t, err, "ranks 0-1 called resize(size 20) on container ")
		assert.ErrorContains(t, err, "of shape (10,), int64, BLOCK over (3,); rank 2 called resize(size 21) on ")
		holds(t, v, func(g int64) int64 { return 10 * g })
		assert.NoError(t, v.Close())
	})
}

func TestSpans(t *testing.T) {
	everyVector(t, func(t *testing.T, on *runtime.Context, v *container.Array, size int64) {
		for _, offset := range []int64{0, size / 3, size} {
			s, err := container.NewSpan(v, offset, size-offset)
			assert.NoError(t, err)
			holds(t, s, func(g int64) int64 { return 10 * (g + offset) })
			inner, err := container.NewSpan(s, 0, (size-offset)/2)
			assert.NoError(t, err)
			holds(t, inner, func(g int64) int64 { return 10 * (g + offset) })
			if size > offset {
				r, err := container.Take(s, list(0, -1))
				assert.NoError(t, err)
				assert.Equal(t, []int64{10 * offset, 10 * (size - 1)}, taken(r))
			}
			_, err = container.NewSpan(s, 0, size-offset+1)
			assert.ErrorIs(t, err, status.OutOfBounds)
		}
		s, err := container.NewSpan(v, 0, -1)
		assert.NoError(t, err)
		assert.NoError(t, container.Give(s, list(ramp(int(size))...), list(ramp(int(size))...)))
		holds(t, v, func(g int64) int64 { return g })
		assert.NoError(t, v.Resize(size+1))
		_, err = s.View()
		assert.ErrorIs(t, err, status.InvalidHandle)
		assert.ErrorContains(t, err, "stale")
		fresh, err := container.NewSpan(v, 0, -1)
		assert.NoError(t, err)
		assert.NoError(t, v.Close())
		_, err = fresh.View()
		assert.ErrorContains(t, err, "the span's container is closed")
	})
}
