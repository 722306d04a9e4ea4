package container_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/container"
	"dtl/core/runtime"
	"dtl/core/status"
)

func TestStreamAliasesAreTheContainerElsewhere(t *testing.T) {
	everyVector(t, func(t *testing.T, on *runtime.Context, v *container.Array, size int64) {
		twin, err := on.DupFor("aliases")
		assert.NoError(t, err)
		g, err := container.On(v, twin)
		assert.NoError(t, err)
		assert.Same(t, twin, g.Context())
		holds(t, g, func(i int64) int64 { return 10 * i })
		for _, d := range divisions(size, on.Size()) {
			assert.NoError(t, g.Redistribute(d, 0))
			holds(t, v, func(i int64) int64 { return 10 * i })
		}
		span, err := container.NewSpan(g, 0, -1)
		assert.NoError(t, err)
		assert.Same(t, twin, span.Context())
		alias, err := container.On(span, on)
		assert.NoError(t, err)
		holds(t, alias, func(i int64) int64 { return 10 * i })
		assert.ErrorIs(t, alias.Redistribute(container.Division{}, 0), status.Unsupported)
		again, err := container.On(g, on)
		assert.NoError(t, err)
		assert.Same(t, on, again.Context())
		assert.NoError(t, g.Close())
		holds(t, v, func(i int64) int64 { return 10 * i })
		assert.NoError(t, twin.Close())
	})
}

// TestStreamAliasesDoNotWaitForEachOther has ranks move two vectors on two contexts, in another order on each.
func TestStreamAliasesDoNotWaitForEachOther(t *testing.T) {
	for n := 1; n <= 5; n++ {
		onRanks(t, n, func(on *runtime.Context) {
			var vectors [2]*container.Array
			var twins [2]*runtime.Context
			for i := range vectors {
				vectors[i] = made(t, on, 50, container.Division{})
				fillTens(t, vectors[i])
				twins[i], _ = on.Dup()
			}
			var done sync.WaitGroup
			for i := range vectors {
				i = (i + on.Rank()) % 2
				g, err := container.On(vectors[i], twins[i])
				assert.NoError(t, err)
				done.Go(func() {
					for _, d := range divisions(50, on.Size()) {
						assert.NoError(t, g.Redistribute(d, 0))
					}
				})
			}
			done.Wait()
			for i, v := range vectors {
				holds(t, v, func(i int64) int64 { return 10 * i })
				assert.NoError(t, v.Close())
				assert.NoError(t, twins[i].Close())
			}
		})
	}
}

func TestSettle(t *testing.T) {
	onRanks(t, 3, func(on *runtime.Context) {
		twin, err := on.Dup()
		assert.NoError(t, err)
		v := made(t, twin, 10, container.Division{})
		fillTens(t, v)
		assert.NoError(t, container.Settle(v, on))
		assert.Same(t, on, v.Context())
		assert.NoError(t, twin.Close())
		assert.NoError(t, v.Resize(7))
		holds(t, v, func(i int64) int64 { return 10 * i })
		g, err := container.On(v, on)
		assert.NoError(t, err)
		assert.ErrorIs(t, container.Settle(g, on), status.Unsupported)

		self, err := on.Split(on.Rank(), 0)
		assert.NoError(t, err)
		assert.ErrorIs(t, container.Settle(v, self), status.InvalidArgument)
		_, err = container.On(v, self)
		assert.ErrorIs(t, err, status.InvalidArgument)
		assert.NoError(t, self.Close())
		assert.NoError(t, v.Close())
		_, err = container.On(v, on)
		assert.ErrorIs(t, err, status.InvalidHandle)
	})
}
