package algorithm_test

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/algorithm"
	"dtl/core/backend/backendtest"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/runtime"
)

// adversarial says what element i of n is.
var adversarial = map[string]func(i, n int64) float64{
	"random":     func(i, _ int64) float64 { return rand.New(rand.NewPCG(3, uint64(i))).NormFloat64() },
	"all equal":  func(int64, int64) float64 { return 3 },
	"sorted":     func(i, _ int64) float64 { return float64(i) },
	"reversed":   func(i, n int64) float64 { return float64(n - i) },
	"two values": func(i, _ int64) float64 { return float64(i * 7 % 2) },
	"skewed":     func(i, n int64) float64 { return math.Pow(2, float64(-i*i%97)) },
	"zeros, NaNs": func(i, _ int64) float64 {
		return []float64{0, math.Copysign(0, -1), math.NaN(), 1, math.Inf(-1)}[i*i%5]
	},
}

// names has the keys of adversarial, in the same order on all ranks.
var names = slices.Sorted(maps.Keys(adversarial))

func byValue(descending bool) func(a, b float64) int {
	return func(a, b float64) int {
		if a != a || b != b {
			return cmp.Compare(flag(a != a), flag(b != b))
		}
		if descending {
			a, b = b, a
		}
		return cmp.Compare(a+0, b+0)
	}
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// contents returns all elements of a vector.
func contents[T any](t *testing.T, on *runtime.Context, c *container.Array, n int64, of dtype.Type) []T {
	all := make([]T, n)
	out := memoryOf(of, all)
	assert.NoError(t, container.GatherTo(c, &out, 0))
	return all
}

func TestSortIsStableOnAllPartitions(t *testing.T) { sortAllPartitions(t, names) }

func TestSortOfLittleFindsSplitters(t *testing.T) {
	defer algorithm.SetFewBytes(0)()
	sortAllPartitions(t, names)
}

func TestSortDrawsSplitters(t *testing.T) {
	defer algorithm.SetFewBytes(0)()
	defer algorithm.SetFewRanks(1)()
	sortAllPartitions(t, []string{"random", "sorted", "two values"})
}

func sortAllPartitions(t *testing.T, names []string) {
	everyDivision(t, func(t *testing.T, on *runtime.Context, size int64, d container.Division) {
		for i, name := range names {
			value := adversarial[name]
			for _, descending := range []bool{false, true} {
				if testing.Short() && (descending != (i%2 == 0) || (i/2+int(size)+on.Size())%2 == 0) {
					continue
				}
				want := make([]float64, size)
				order := make([]int64, size)
				for i := range want {
					want[i], order[i] = value(int64(i), size), int64(i)
				}
				given := slices.Clone(want)
				slices.SortStableFunc(want, byValue(descending))
				slices.SortStableFunc(order, func(i, j int64) int { return byValue(descending)(given[i], given[j]) })
				v := vector(t, on, dtype.Float64, size, d, func(global int64) float64 { return value(global, size) })
				how := algorithm.Sorting{Descending: descending, Threads: 2}
				indices, err := algorithm.Argsort(v, how)
				if !assert.NoError(t, err) {
					return
				}
				assert.NoError(t, algorithm.Sort(v, how))
				got, at := contents[float64](t, on, v, size, dtype.Float64), contents[int64](t, on, indices, size, dtype.Int64)
				if on.Rank() == 0 {
					for i := range want {
						if math.Float64bits(got[i]) != math.Float64bits(want[i]) || at[i] != order[i] {
							t.Errorf("%s, descending %v: element %d is %v of %d, want %v of %d", name, descending, i, got[i], at[i], want[i], order[i])
							break
						}
					}
				}
				assert.NoError(t, indices.Close())
				assert.NoError(t, v.Close())
			}
		}
	})
}

func TestSortOfThousandsOnAnyNumberOfRanks(t *testing.T) {
	const size = 40_011
	for _, ranks := range backendtest.Sizes(t, 7) {
		onRanks(t, ranks, func(on *runtime.Context) {
			for i, name := range names {
				if testing.Short() && i%2 == ranks%2 {
					continue
				}
				value := adversarial[name]
				want := make([]float64, size)
				for i := range want {
					want[i] = value(int64(i), size)
				}
				slices.SortStableFunc(want, byValue(false))
				for _, d := range divisions(size, ranks)[ranks%2*5:] {
					v := vector(t, on, dtype.Float64, size, d, func(global int64) float64 { return value(global, size) })
					assert.NoError(t, algorithm.Sort(v, algorithm.Sorting{Threads: 3}))
					got := contents[float64](t, on, v, size, dtype.Float64)
					same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
					assert.True(t, on.Rank() != 0 || slices.EqualFunc(got, want, same), "%s on %d ranks, %s", name, ranks, d)
					assert.NoError(t, v.Close())
				}
			}
		})
	}
}
