package container_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/runtime"
	"dtl/core/status"
)

func TestMoveBetweenDivisions(t *testing.T) {
	everyVector(t, func(t *testing.T, on *runtime.Context, v *container.Array, size int64) {
		for _, d := range divisions(size, on.Size()) {
			to := made(t, on, size, d)
			axes, err := container.Whole(to, v)
			assert.NoError(t, err)
			plan, err := container.NewPlan(to, v, axes, 64)
			assert.NoError(t, err)
			for range 2 {
				assert.NoError(t, plan.Execute())
			}
			holds(t, to, func(g int64) int64 { return 10 * g })
			assert.NoError(t, to.Resize(size))
			assert.ErrorContains(t, plan.Execute(), "stale")
			assert.NoError(t, to.Close())
			assert.ErrorIs(t, plan.Execute(), status.InvalidHandle)
		}
	})
}

// TestMoveOntoItself shifts by one, and turns around: what is read must not have been written.
func TestMoveOntoItself(t *testing.T) {
	everyVector(t, func(t *testing.T, on *runtime.Context, v *container.Array, size int64) {
		if size < 2 {
			return
		}
		shift := []container.Axis{{FromStep: 1, ToStart: 1, ToStep: 1, Count: size - 1}}
		assert.NoError(t, container.Move(v, v, shift, 0))
		holds(t, v, func(g int64) int64 { return 10 * max(g-1, 0) })
		turn := []container.Axis{{FromStart: size - 1, FromStep: -1, ToStep: 1, Count: size}}
		assert.NoError(t, container.Move(v, v, turn, 0))
		holds(t, v, func(g int64) int64 { return 10 * max(size-2-g, 0) })
	})
}

func TestAssign(t *testing.T) {
	everyVector(t, func(t *testing.T, on *runtime.Context, v *container.Array, size int64) {
		every := (size + 1) / 2
		axes := []container.Axis{{FromStep: 1, ToStep: 2, Count: every}}
		values := ramp(int(every))
		if every != 1 {
			assert.NoError(t, container.Assign(v, list(values...), axes))
			holds(t, v, func(g int64) int64 { return g/2*bit(g%2 == 0) + 10*g*bit(g%2 == 1) })
		}
		assert.NoError(t, container.Assign(v, list(-4), axes))
		holds(t, v, func(g int64) int64 { return -4*bit(g%2 == 0) + 10*g*bit(g%2 == 1) })
		axes[0].Count++
		assert.ErrorIs(t, container.Assign(v, list(1), axes), status.OutOfBounds)
		assert.ErrorIs(t, container.Assign(v, list(1, 2), []container.Axis{{FromStep: 1, ToStep: 1, Count: size}, {FromStep: 1, To: 1, Count: 1}}),
			status.InvalidArgument)
	})
}

// TestAssignSpreads writes the values of a row to all rows, and those of a column to all columns.
func TestAssignSpreads(t *testing.T) {
	for n := 1; n <= 3; n++ {
		onRanks(t, n, func(on *runtime.Context) {
			a, err := container.New(on, container.Spec{Type: dtype.Int64, Shape: []int64{7, 3}})
			if !assert.NoError(t, err) {
				return
			}
			rows, columns := container.Axis{ToStep: 1, Count: 7}, container.Axis{To: 1, ToStep: 1, Count: 3}
			given := func(a container.Axis) container.Axis { a.FromStep = 1; return a }
			want := func(d int) {
				rows := where(t, a)
				for i, x := range locals(t, a) {
					assert.EqualValues(t, 10*[]int64{rows[i/3], int64(i % 3)}[d], x)
				}
			}
			assert.NoError(t, container.Assign(a, list(0, 10, 20), []container.Axis{rows, given(columns)}))
			want(1)
			assert.NoError(t, container.Assign(a, list(0, 10, 20, 30, 40, 50, 60), []container.Axis{given(rows), columns}))
			want(0)
			assert.ErrorIs(t, container.Assign(a, list(1, 2), []container.Axis{rows, given(columns)}), status.InvalidArgument)
			assert.NoError(t, a.Close())
		})
	}
}

func TestGatherAndDistribute(t *testing.T) {
	everyVector(t, func(t *testing.T, on *runtime.Context, v *container.Array, size int64) {
		c, err := on.Comm()
		assert.NoError(t, err)
		storage, err := memory.NewStorage(c.Memory(), int(size)*8, 64)
		assert.NoError(t, err)
		defer storage.Release()
		span := memory.Span{Addr: storage.Addr(), Count: int(size), Type: dtype.Int64}
		out := &comm.Array{Span: span, Shape: []int64{size}}
		for root := range int64(on.Size()) {
			here := out
			if on.Rank() != int(root) {
				here = nil
			}
			assert.NoError(t, container.GatherTo(v, here, root))
			for i, x := range memory.As[int64](span) {
				if here != nil {
					assert.EqualValues(t, 10*i, x)
				}
				memory.As[int64](span)[i] = -int64(i)
			}
			assert.NoError(t, container.Distribute(v, here, root))
			holds(t, v, func(g int64) int64 { return -g })
			fillTens(t, v)
		}
		assert.ErrorIs(t, container.GatherTo(v, nil, 0), status.InvalidArgument)
		assert.ErrorIs(t, container.GatherTo(v, out, int64(on.Size())), status.OutOfBounds)
		assert.ErrorIs(t, container.Distribute(v, out, -1), status.OutOfBounds)
	})
}

// TestOtherContext moves between a context and one whose ranks stand the other way round.
func TestOtherContext(t *testing.T) {
	for n := 1; n <= 4; n++ {
		onRanks(t, n, func(on *runtime.Context) {
			turned, err := on.Split(0, -on.Rank())
			if !assert.NoError(t, err) {
				return
			}
			from, to := made(t, on, 11, container.Division{}), made(t, turned, 11, divisions(11, n)[1])
			fillTens(t, from)
			axes, err := container.Whole(to, from)
			assert.NoError(t, err)
			for _, move := range moves {
				assert.NoError(t, move.f(to, from, axes), move.name)
				holds(t, to, func(g int64) int64 { return 10 * g })
				assert.NoError(t, to.Close())
				to = made(t, turned, 11, divisions(11, n)[1])
			}
			assert.NoError(t, from.Close())
			assert.NoError(t, to.Close())
			assert.NoError(t, turned.Close())
		})
	}
}

// moves are the ways to move everything once.
var moves = []struct {
	name string
	f    func(to, from container.Container, axes []container.Axis) error
}{
	{"move", func(to, from container.Container, axes []container.Axis) error {
		return container.Move(to, from, axes, 0)
	}},
	{"copy", func(to, from container.Container, axes []container.Axis) error {
		return container.Copy(to, from, axes, 0)
	}},
	{"plan", func(to, from container.Container, axes []container.Axis) error {
		plan, err := container.NewPlan(to, from, axes, 0)
		if err != nil {
			return err
		}
		return plan.Execute()
	}},
}

// TestWrongDestination makes moves whose destination is, on one rank, on another context: the ranks are the source's, so
// all hear of it.
func TestWrongDestination(t *testing.T) {
	onRanks(t, 3, func(on *runtime.Context) {
		other, err := on.Split(0, on.Rank())
		if !assert.NoError(t, err) {
			return
		}
		from, to := made(t, on, 11, container.Division{}), made(t, on, 11, container.Division{})
		wrong := made(t, other, 11, container.Division{})
		axes, err := container.Whole(to, from)
		assert.NoError(t, err)
		for _, move := range moves[1:] {
			mine := to
			if on.Rank() == 1 {
				mine = wrong
			}
			assert.ErrorIs(t, move.f(mine, from, axes), status.Mismatch, move.name)
		}
		for _, c := range []*container.Array{from, to, wrong} {
			assert.NoError(t, c.Close())
		}
		assert.NoError(t, other.Close())
	})
}

// TestJoin joins a vector of each division with one that is divided by blocks, and one more of its elements, turned around.
func TestJoin(t *testing.T) {
	everyVector(t, func(t *testing.T, on *runtime.Context, v *container.Array, size int64) {
		other := made(t, on, size, container.Division{})
		fillTens(t, other)
		pieces := []container.Piece{
			{From: v, Axes: []container.Axis{{FromStep: 1, ToStep: 1, Count: size}}},
			{From: other, Axes: []container.Axis{{FromStart: max(size-1, 0), FromStep: -1, ToStart: size, ToStep: 1, Count: size}}},
			{From: v, Axes: []container.Axis{{FromStart: max(size-1, 0), FromStep: 1, ToStart: 2 * size, ToStep: 1, Count: min(size, 1)}}},
		}
		spec := selected(2*size+min(size, 1), container.Division{})
		to, err := container.Join(spec, pieces)
		assert.NoError(t, err)
		holds(t, to, func(g int64) int64 {
			switch {
			case g < size:
				return 10 * g
			case g < 2*size:
				return 10 * (2*size - 1 - g)
			}
			return 10 * (size - 1)
		})
		assert.NoError(t, to.Close())
		stay := []container.Piece{{From: v}, {From: other}}
		to, err = container.Join(spec, stay)
		assert.NoError(t, err)
		assert.NoError(t, to.Close())
		pieces[0].Axes[0].Count++
		_, err = container.Join(spec, pieces)
		assert.ErrorIs(t, err, status.OutOfBounds)
		assert.NoError(t, other.Close())
		_, err = container.Join(spec, stay)
		assert.ErrorIs(t, err, status.InvalidHandle)
	})
}

func TestRanksThatJoinOtherPieces(t *testing.T) {
	onRanks(t, 2, func(on *runtime.Context) {
		a, b := made(t, on, 4, container.Division{}), made(t, on, 4, container.Division{})
		at := func(start int64) []container.Piece {
			return []container.Piece{{From: a, Axes: []container.Axis{{FromStep: 1, ToStart: start, ToStep: 1, Count: 4}}}}
		}
		of := []container.Piece{{From: []*container.Array{a, b}[on.Rank()]}}
		for _, pieces := range [][]container.Piece{at(int64(on.Rank())), append(at(0), at(4)...)[:1+on.Rank()], of} {
			_, err := container.Join(selected(8, container.Division{}), pieces)
			assert.ErrorIs(t, err, status.Mismatch)
		}
		assert.NoError(t, a.Close())
		assert.NoError(t, b.Close())
	})
}

// TestMoveAll joins a vector of each division with one that is divided by blocks, and one more of its elements, turned around.
func TestMoveAll(t *testing.T) {
	everyVector(t, func(t *testing.T, on *runtime.Context, v *container.Array, size int64) {
		other := made(t, on, size, container.Division{})
		fillTens(t, other)
		to := made(t, on, 2*size+1, container.Division{})
		pieces := []container.Piece{
			{From: v, Axes: []container.Axis{{FromStep: 1, ToStep: 1, Count: size}}},
			{From: other, Axes: []container.Axis{{FromStart: max(size-1, 0), FromStep: -1, ToStart: size, ToStep: 1, Count: size}}},
		}
		if size > 0 {
			pieces = append(pieces, container.Piece{From: v, Axes: []container.Axis{{FromStart: size - 1, FromStep: 1, ToStart: 2 * size, ToStep: 1, Count: 1}}})
		}
		assert.NoError(t, container.MoveAll(to, pieces))
		holds(t, to, func(g int64) int64 {
			switch {
			case size == 0:
				return 0
			case g < size:
				return 10 * g
			case g < 2*size:
				return 10 * (2*size - 1 - g)
			}
			return 10 * (size - 1)
		})
		pieces[0].Axes[0].Count++
		assert.ErrorIs(t, container.MoveAll(to, pieces), status.OutOfBounds)
		assert.ErrorIs(t, container.MoveAll(v, pieces), status.InvalidArgument) // it would be read and written
		assert.NoError(t, other.Close())
		assert.ErrorIs(t, container.MoveAll(to, pieces), status.InvalidHandle)
		assert.NoError(t, to.Close())
	})
}

func TestRanksThatMoveOtherPieces(t *testing.T) {
	onRanks(t, 2, func(on *runtime.Context) {
		a, to := made(t, on, 4, container.Division{}), made(t, on, 8, container.Division{})
		at := func(start int64) []container.Piece {
			return []container.Piece{{From: a, Axes: []container.Axis{{FromStep: 1, ToStart: start, ToStep: 1, Count: 4}}}}
		}
		assert.ErrorIs(t, container.MoveAll(to, at(int64(on.Rank()))), status.Mismatch)
		assert.Error(t, container.MoveAll(to, at(0)[:1-on.Rank()])) // on both, of which one has nothing to move
		assert.NoError(t, a.Close())
		assert.NoError(t, to.Close())
	})
}

func TestMoveCombining(t *testing.T) {
	onRanks(t, 3, func(on *runtime.Context) {
		make := func(grid ...int64) *container.Array {
			spec := container.Spec{Family: "tensor", Shape: []int64{5, 7}, Type: dtype.Int64, Division: container.Division{Grid: grid}}
			a, err := container.New(on, spec)
			assert.NoError(t, err)
			return a
		}
		rows, columns := make(3, 1), make(1, 3)
		numbers := func(c *container.Array) (all []int64) { // of this rank's elements, in C order
			for _, i := range along(t, c, 0) {
				for _, j := range along(t, c, 1) {
					all = append(all, 7*i+j)
				}
			}
			return all
		}
		for _, c := range []*container.Array{rows, columns} {
			view, err := c.View()
			assert.NoError(t, err)
			copy(memory.As[int64](view.Span), numbers(c))
			view.Storage.Release()
		}
		add := func(dst unsafe.Pointer, dstStride int, src unsafe.Pointer, srcStride, count, size int) {
			for i := range count * size / 8 {
				row, at := i*8/size, i*8%size
				*(*int64)(unsafe.Add(dst, row*dstStride+at)) += *(*int64)(unsafe.Add(src, row*srcStride+at))
			}
		}
		assert.NoError(t, container.MoveCombining("add", rows, columns, add))
		for i, v := range locals(t, rows) {
			assert.Equal(t, 2*numbers(rows)[i], v)
		}
		for _, a := range []*container.Array{rows, columns} {
			assert.NoError(t, a.Close())
		}
	})
}

func TestPermutePart(t *testing.T) {
	onRanks(t, 2, func(on *runtime.Context) {
		make := func(shape []int64, typ dtype.Type, grid ...int64) *container.Array {
			a, err := container.New(on, container.Spec{Family: "tensor", Shape: shape, Type: typ, Division: container.Division{Grid: grid}})
			assert.NoError(t, err)
			return a
		}
		from, to := make([]int64{4, 2, 3}, dtype.Int64, 2, 1, 1), make([]int64{3, 4, 2}, dtype.Int64, 1, 2, 1)
		view, err := from.View()
		assert.NoError(t, err)
		for i := range memory.As[int64](view.Span) {
			memory.As[int64](view.Span)[i] = int64(i)
		}
		view.Storage.Release()
		assert.NoError(t, container.PermutePart(to, from, []int64{2, 0, 1}))
		assert.Equal(t, []int64{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}, locals(t, to))
		other := make([]int64{3, 4, 2}, dtype.Float64, 1, 2, 1)
		for _, err := range []error{
			container.PermutePart(to, from, []int64{0, 1, 2}), container.PermutePart(to, from, []int64{2, 0}),
			container.PermutePart(to, from, []int64{2, 0, 3}), container.PermutePart(to, from, []int64{2, 0, -1}),
			container.PermutePart(other, from, []int64{2, 0, 1}), container.PermutePart(to, to, []int64{0, 1, 2}),
		} {
			assert.ErrorIs(t, err, status.InvalidArgument)
		}
		for _, a := range []*container.Array{from, to, other} {
			assert.NoError(t, a.Close())
		}
	})
}
