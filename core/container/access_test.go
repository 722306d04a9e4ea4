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

func TestTakeAndGive(t *testing.T) {
	everyVector(t, func(t *testing.T, on *runtime.Context, v *container.Array, size int64) {
		for _, index := range [][]int64{{}, {0}, {-1}, {size - 1, 0, -size, 0, size / 2}} {
			if size == 0 {
				index = nil
			}
			r, err := container.Take(v, list(index...))
			if !assert.NoError(t, err) {
				continue
			}
			want := make([]int64, 0, len(index))
			for _, i := range index {
				want = append(want, 10*((i+size)%max(size, 1)))
			}
			assert.Equal(t, want, taken(r))
		}
		if size < 2 {
			return
		}
		assert.NoError(t, container.Give(v, list(0, -1, 0), list(5, 6, 7)))
		holds(t, v, func(g int64) int64 { return map[int64]int64{0: 7, size - 1: 6}[g] + 10*g*bit(g > 0 && g < size-1) })
		assert.NoError(t, container.Give(v, list(1, 0), list(3)))
		r, err := container.Take(v, list(0, 1))
		assert.NoError(t, err)
		assert.Equal(t, []int64{3, 3}, taken(r))
	})
}

func bit(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// TestOwnLists has each rank ask for other elements, as many as it has rank.
func TestOwnLists(t *testing.T) {
	everyVector(t, func(t *testing.T, on *runtime.Context, v *container.Array, size int64) {
		var index, want []int64
		for k := range int64(3 * on.Rank()) {
			if size > 0 {
				i := (k*7 + int64(on.Rank())) % size
				index, want = append(index, i-size*(k%2)), append(want, 10*i)
			}
		}
		r, err := container.Get(v, list(index...), nil)
		if assert.NoError(t, err) {
			assert.Equal(t, want, append([]int64(nil), taken(r)...))
		}
		into := list(make([]int64, len(index))...)
		_, err = container.Get(v, list(index...), &into)
		if assert.NoError(t, err) {
			assert.Equal(t, want, append([]int64(nil), memory.As[int64](into.Span)...))
		}
		index, want = index[:0], want[:0]
		for g := int64(on.Rank()); g < size; g += int64(on.Size()) { // every element, by somebody
			index, want = append(index, g), append(want, -g)
		}
		assert.NoError(t, container.Set(v, list(index...), list(want...)))
		holds(t, v, func(g int64) int64 { return -g })
	})
}

// TestManyIndices needs several exchanges.
func TestManyIndices(t *testing.T) {
	const size, count = 1000, 150_000
	onRanks(t, 3, func(on *runtime.Context) {
		v := made(t, on, size, container.Division{})
		fillTens(t, v)
		index, want := make([]int64, count), make([]int64, count)
		for i := range index {
			index[i] = int64(i*i+i*on.Rank()) % size
			want[i] = 10 * index[i]
		}
		r, err := container.Get(v, list(index...), nil)
		if assert.NoError(t, err) {
			assert.Equal(t, want, taken(r))
		}
		for i := range index {
			index[i] = int64(i*i) % size
			want[i] = 10 * index[i]
		}
		r, err = container.Take(v, list(index...))
		if assert.NoError(t, err) {
			assert.Equal(t, want, taken(r))
		}
		assert.NoError(t, v.Close())
	})
}

// TestOneRankOutside has one rank ask for what is not there: every rank gets an error, and all go on.
func TestOneRankOutside(t *testing.T) {
	everyVector(t, func(t *testing.T, on *runtime.Context, v *container.Array, size int64) {
		index := list()
		if on.Rank() == on.Size()-1 {
			index = list(size)
		}
		_, err := container.Get(v, index, nil)
		assert.ErrorIs(t, err, status.OutOfBounds)
		assert.ErrorIs(t, container.Set(v, index, list(1)), status.OutOfBounds)
		_, err = container.Take(v, list(-size-1))
		assert.ErrorIs(t, err, status.OutOfBounds)
		assert.ErrorIs(t, container.Give(v, list(size), list(1)), status.OutOfBounds)
		_, err = container.Take(v, comm.Array{Span: memory.Of(dtype.Float64, []float64{0}), Shape: []int64{1}})
		assert.ErrorIs(t, err, status.InvalidType)
		assert.ErrorIs(t, container.Give(v, list(), list(1, 2)), status.InvalidArgument)
		holds(t, v, func(g int64) int64 { return 10 * g })
	})
}

// TestRanksTakeDifferently has ranks pass different lists where all must pass the same.
func TestRanksTakeDifferently(t *testing.T) {
	for n := 2; n <= 4; n++ {
		onRanks(t, n, func(on *runtime.Context) {
			v := made(t, on, 10, container.Division{})
			_, err := container.Take(v, list(int64(on.Rank()), 1))
			assert.ErrorIs(t, err, status.Mismatch)
			_, err = container.Take(v, list(int64(on.Rank())))
			assert.ErrorIs(t, err, status.Mismatch)
			assert.ErrorContains(t, err, "rank 1 called getitem(index 1)")
			assert.ErrorIs(t, container.Give(v, list(1), list(int64(on.Rank()))), status.Mismatch)
			holds(t, v, func(int64) int64 { return 0 })
			assert.NoError(t, v.Close())
		})
	}
}

func TestTensorElements(t *testing.T) {
	for ranks, grid := range map[int][]int64{1: nil, 2: {1, 2}, 3: nil, 4: {2, 2}} {
		onRanks(t, ranks, func(on *runtime.Context) {
			spec := container.Spec{Family: "tensor", Shape: []int64{5, 3}, Type: dtype.Int64, Division: container.Division{Grid: grid}}
			v, err := container.New(on, spec)
			if !assert.NoError(t, err) {
				return
			}
			assert.NoError(t, container.Give(v, list(ramp(15)...), list(ramp(15)...)))
			for i := range int64(15) {
				r, err := container.Take(v, list(i))
				assert.NoError(t, err)
				assert.Equal(t, []int64{i}, taken(r))
			}
			r, err := container.Get(v, list(14, int64(on.Rank()), -15), nil)
			assert.NoError(t, err)
			assert.Equal(t, []int64{14, int64(on.Rank()), 0}, taken(r))
			assert.NoError(t, v.Close())
		})
	}
}

func ramp(n int) []int64 {
	r := make([]int64, n)
	for i := range r {
		r[i] = int64(i)
	}
	return r
}

// TestRanksPassDifferentContainers has two containers of one size and type, of which rank 0 takes the other: one that is
// divided otherwise, and one that is divided alike.
func TestRanksPassDifferentContainers(t *testing.T) {
	for n := 2; n <= 3; n++ {
		onRanks(t, n, func(on *runtime.Context) {
			a := made(t, on, 10, container.Division{})
			fillTens(t, a)
			for _, d := range divisions(10, n)[:2] {
				b := made(t, on, 10, d)
				mine := b
				if on.Rank() == 0 {
					mine = a
				}
				_, err := container.Take(mine, list(0, 9))
				assert.ErrorIs(t, err, status.Mismatch)
				_, err = container.Get(mine, list(0, 9), nil)
				assert.ErrorIs(t, err, status.Mismatch)
				assert.ErrorIs(t, container.Give(mine, list(0), list(1)), status.Mismatch)
				assert.ErrorIs(t, container.Set(mine, list(0), list(1)), status.Mismatch)
				assert.ErrorIs(t, container.Assign(mine, list(1), []container.Axis{{ToStep: 1, Count: 10}}), status.Mismatch)
				assert.ErrorIs(t, mine.Resize(5), status.Mismatch)
				assert.ErrorIs(t, mine.Redistribute(container.Division{}, 0), status.Mismatch)
				axes, err := container.Whole(a, mine)
				assert.NoError(t, err)
				_, err = container.NewPlan(a, mine, axes, 0)
				assert.ErrorIs(t, err, status.Mismatch)
				assert.ErrorContains(t, err, "container ")
				holds(t, a, func(g int64) int64 { return 10 * g })
				assert.NoError(t, b.Close())
			}
			assert.NoError(t, a.Close())
		})
	}
}
