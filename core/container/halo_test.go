package container_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"dtl/core/backend/backendtest"
	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/halo"
	"dtl/core/partition"
	"dtl/core/runtime"
)

// around is a container with a halo, as one row of a test.
type around struct {
	spec    container.Spec
	margins []halo.Margin
}

func (a around) String() string {
	return fmt.Sprintf("%v %s %s margins %v", a.spec.Shape, a.spec.Type, a.spec.Division, a.margins)
}

// visit calls f with the address of each element of a view, and its indices.
func visit(view comm.Result, f func(at []int64, element []byte)) {
	size := view.Type.Size()
	at := make([]int64, len(view.Shape))
	var along func(d int, addr unsafe.Pointer)
	along = func(d int, addr unsafe.Pointer) {
		if d == len(at) {
			f(at, unsafe.Slice((*byte)(addr), size))
			return
		}
		for at[d] = 0; at[d] < view.Shape[d]; at[d]++ {
			along(d+1, unsafe.Add(addr, at[d]*view.Strides[d]))
		}
	}
	along(0, view.Addr)
}

// mark writes what the element of a global index holds in a round.
func mark(element []byte, global, round int64) {
	n := uint64(global*31+round)*0x9e3779b97f4a7c15 | 1
	for i := range element {
		element[i] = byte(n >> (i % 8 * 8))
	}
}

// expected is the oracle: what the element at the given indices of the view with ghosts holds after a round, one index
// at a time. Ghosts that stand for nothing hold 0xee.
func expected(margins []halo.Margin, extents []container.Extents, at []int64, element []byte, round int64) {
	flat := int64(0)
	for d, m := range margins {
		e := extents[d]
		global := e.Offset + at[d] - m.Before
		for m.Mode != halo.Constant && e.Global > 0 && (global < 0 || global >= e.Global) {
			global = nearer(m.Mode, global, e.Global)
		}
		if global < 0 || global >= e.Global {
			for i := range element {
				element[i] = 0xee
			}
			return
		}
		flat = flat*e.Global + global
	}
	mark(element, flat, round)
}

// nearer returns the index that one beyond an end stands for, or another one nearer to that end.
func nearer(mode halo.Mode, index, size int64) int64 {
	end, sign := int64(0), int64(1)
	if index >= size {
		end, sign = size-1, -1
	}
	beyond := sign * (end - index) // 1 for the first ghost
	switch {
	case mode == halo.Wrap:
		return index + sign*size
	case mode == halo.Edge || size == 1:
		return end
	case mode == halo.Reflect:
		return end + sign*beyond
	}
	return end + sign*(beyond-1)
}

// modes are all that there are.
var modes = []halo.Mode{halo.Constant, halo.Wrap, halo.Edge, halo.Reflect, halo.Symmetric}

func extents(t *testing.T, c container.Container, dims int) []container.Extents {
	t.Helper()
	all := make([]container.Extents, dims)
	for d := range all {
		var err error
		all[d], err = container.Along(c, int64(d))
		assert.NoError(t, err)
	}
	return all
}

// write fills the part with what it holds in a round.
func write(t *testing.T, c container.Container, round int64) {
	t.Helper()
	view, err := c.View()
	assert.NoError(t, err)
	defer view.Storage.Release()
	none, along := make([]halo.Margin, len(view.Shape)), extents(t, c, len(view.Shape))
	visit(view, func(at []int64, element []byte) { expected(none, along, at, element, round) })
}

// check compares everything, ghosts too.
func (a around) check(t *testing.T, c container.Container, h *container.Halo, round int64) {
	t.Helper()
	view, err := h.View()
	if !assert.NoError(t, err) {
		return
	}
	defer view.Storage.Release()
	want, along := make([]byte, a.spec.Type.Size()), extents(t, c, len(view.Shape))
	visit(view, func(at []int64, element []byte) {
		expected(a.margins, along, at, want, round)
		if string(want) != string(element) {
			t.Errorf("rank %d, %s, round %d: %x at %v, want %x", c.Context().Rank(), a, round, element, at, want)
		}
	})
}

// run makes the container and its halo, and exchanges in both ways.
func (a around) run(t *testing.T, on *runtime.Context) {
	c, err := container.New(on, a.spec)
	if !assert.NoError(t, err, a) {
		return
	}
	write(t, c, 0)
	h, err := container.NewHalo(c, a.margins)
	if !assert.NoError(t, err, a) {
		return
	}
	none := a
	none.margins = make([]halo.Margin, len(a.margins))
	plain, err := container.NewHalo(c, none.margins)
	assert.NoError(t, err)
	none.check(t, c, plain, 0)
	assert.NoError(t, plain.Close())
	view, err := h.View()
	assert.NoError(t, err)
	visit(view, func(_ []int64, element []byte) {
		for i := range element {
			element[i] = 0xee
		}
	})
	view.Storage.Release()
	write(t, c, 0)
	for round := int64(0); round < 4; round += 2 {
		assert.NoError(t, h.Exchange())
		a.check(t, c, h, round)
		write(t, c, round+1)
		assert.NoError(t, h.Begin())
		assert.NoError(t, h.End())
		a.check(t, c, h, round+1)
		write(t, c, round+2)
	}
	assert.NoError(t, h.Close())
	assert.NoError(t, c.Close())
}

func margins(dims int, mode halo.Mode, before, after int64) []halo.Margin {
	all := make([]halo.Margin, dims)
	for d := range all {
		all[d] = halo.Margin{Before: before, After: after, Mode: mode}
	}
	return all
}

// TestHalosOfVectors has parts narrower than the ghosts, empty ones between others, and circles that close at once.
func TestHalosOfVectors(t *testing.T) {
	for _, ranks := range backendtest.Sizes(t, 7) {
		onRanks(t, ranks, func(on *runtime.Context) {
			for _, size := range []int64{0, 1, 2, int64(ranks) - 1, int64(ranks), int64(ranks) + 1, 40} {
				gaps := make([]int64, ranks)
				gaps[ranks/2] = size / 2
				gaps[ranks-1] += size - size/2
				for _, d := range []container.Division{{}, {Kind: partition.KindExplicit, Sizes: gaps}} {
					for _, mode := range modes {
						for _, width := range [][2]int64{{0, 0}, {1, 1}, {3, 2}, {0, 3}, {9, 0}} {
							around{
								spec:    container.Spec{Family: "vector", Shape: []int64{size}, Type: dtype.Int32, Division: d},
								margins: margins(1, mode, width[0], width[1]),
							}.run(t, on)
						}
					}
				}
			}
		})
	}
}

// drawn returns a row for some number of ranks: 1 to 3 dimensions, any type, any grid, any mixture of margins.
func drawn(rng *rand.Rand, ranks int64) around {
	types := dtype.All()
	a := around{spec: container.Spec{Family: "tensor", Type: types[rng.IntN(len(types))]}}
	dims := 1 + rng.IntN(3)
	for d := range dims {
		a.spec.Shape = append(a.spec.Shape, rng.Int64N(9))
		a.margins = append(a.margins, halo.Margin{Before: rng.Int64N(4), After: rng.Int64N(4), Mode: modes[rng.IntN(len(modes))]})
		extent := ranks
		for d < dims-1 {
			if extent = 1 + rng.Int64N(ranks); ranks%extent == 0 {
				break
			}
		}
		ranks /= extent
		a.spec.Grid = append(a.spec.Grid, extent)
	}
	return a
}

func TestHalosOfGrids(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 4, 6, 7, 8, 12} {
		rng := rand.New(rand.NewPCG(uint64(ranks), 1))
		rows := make([]around, 40)
		for i := range rows {
			rows[i] = drawn(rng, int64(ranks))
		}
		onRanks(t, ranks, func(on *runtime.Context) {
			for _, row := range rows {
				row.run(t, on)
			}
		})
	}
}

// TestLargeFacesTravelAlone has faces that are sent from where they lie and others that are packed, both too large to
// share a message.
func TestLargeFacesTravelAlone(t *testing.T) {
	for _, row := range []struct {
		ranks int
		grid  []int64
	}{{1, []int64{1, 1}}, {2, []int64{2, 1}}, {2, []int64{1, 2}}, {4, []int64{2, 2}}, {3, []int64{3, 1}}} {
		for _, mode := range modes {
			onRanks(t, row.ranks, func(on *runtime.Context) {
				around{
					spec: container.Spec{Family: "tensor", Shape: []int64{140, 140}, Type: dtype.Complex128,
						Division: container.Division{Grid: row.grid}},
					margins: margins(2, mode, 14, 15),
				}.run(t, on)
			})
		}
	}
}
