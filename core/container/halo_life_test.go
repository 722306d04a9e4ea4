package container_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/halo"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/runtime"
	"dtl/core/status"
)

// ring is a vector of n elements, ten times their index, and a halo of width 1 around a circle.
func ring(t *testing.T, on *runtime.Context, n int64) (*container.Array, *container.Halo) {
	t.Helper()
	v := made(t, on, n, container.Division{})
	h, err := container.NewHalo(v, margins(1, halo.Wrap, 1, 1))
	if err != nil {
		t.Error(err)
		panic(err)
	}
	fillTens(t, v)
	return v, h
}

// ghosts copies the view with ghosts of a vector.
func ghosts(t *testing.T, h *container.Halo) []int64 {
	t.Helper()
	view, err := h.View()
	if !assert.NoError(t, err) {
		return nil
	}
	return taken(view)
}

func TestElementsStayWhenRoomIsMade(t *testing.T) {
	for n := 1; n <= 3; n++ {
		onRanks(t, n, func(on *runtime.Context) {
			v := made(t, on, 10, container.Division{})
			fillTens(t, v)
			for width := range int64(4) {
				h, err := container.NewHalo(v, margins(1, halo.Wrap, width, width/2))
				assert.NoError(t, err)
				holds(t, v, func(g int64) int64 { return 10 * g })
				assert.NoError(t, h.Close())
			}
			assert.NoError(t, v.Resize(13), "the room has gone with it")
			holds(t, v, func(g int64) int64 { return 10 * g * bit(g < 10) })
			assert.NoError(t, v.Close())
		})
	}
}

// TestViewsHinderRoom has one rank hold a view: all are refused, until it has gone. A halo that fits is not.
func TestViewsHinderRoom(t *testing.T) {
	for n := 1; n <= 3; n++ {
		onRanks(t, n, func(on *runtime.Context) {
			v, h := ring(t, on, 9)
			var view comm.Result
			var err error
			if on.Rank() == 0 {
				view, err = h.View()
				assert.NoError(t, err)
			}
			_, err = container.NewHalo(v, margins(1, halo.Constant, 1, 2))
			assert.ErrorIs(t, err, status.ViewsOut)
			assert.ErrorContains(t, err, "1 view of the container is out")
			assert.NoError(t, h.Exchange(), "nothing has changed")
			same, err := container.NewHalo(v, margins(1, halo.Constant, 0, 1))
			assert.NoError(t, err, "it shares the room")
			if view.Storage != nil {
				view.Storage.Release()
			}
			wider, err := container.NewHalo(v, margins(1, halo.Constant, 1, 2))
			assert.NoError(t, err)
			assert.NoError(t, wider.Exchange())
			for _, h := range []*container.Halo{h, same, wider} {
				assert.NoError(t, h.Close())
				assert.NoError(t, h.Close(), "a second time")
				assert.ErrorContains(t, h.Exchange(), "the halo is closed")
			}
			assert.NoError(t, v.Close())
		})
	}
}

func TestHalosAndSpansGetStale(t *testing.T) {
	for n := 1; n <= 3; n++ {
		onRanks(t, n, func(on *runtime.Context) {
			for _, change := range []func(v *container.Array) error{
				func(v *container.Array) error { return v.Resize(9) },
				func(v *container.Array) error {
					return v.Redistribute(container.Division{Kind: partition.KindCyclic}, 0)
				},
				func(v *container.Array) error {
					h, err := container.NewHalo(v, margins(1, halo.Wrap, 1, 2))
					assert.NoError(t, h.Close())
					return err
				},
			} {
				v, h := ring(t, on, 9)
				span, err := container.NewSpan(v, 0, -1)
				assert.NoError(t, err)
				assert.NoError(t, change(v))
				for _, call := range []func() error{h.Exchange, h.Begin, func() error { _, err := h.View(); return err }} {
					err := call()
					assert.ErrorIs(t, err, status.InvalidHandle)
					assert.ErrorContains(t, err, "the halo is stale")
				}
				_, err = span.View()
				assert.ErrorContains(t, err, "the span is stale")
				holds(t, v, func(g int64) int64 { return 10 * g })
				assert.NoError(t, h.Close())
				assert.NoError(t, v.Close())
			}
		})
	}
}

func TestOneExchangeAtATime(t *testing.T) {
	for n := 1; n <= 4; n++ {
		onRanks(t, n, func(on *runtime.Context) {
			v, h := ring(t, on, 8)
			assert.ErrorContains(t, h.End(), "no exchange has begun")
			assert.NoError(t, h.Begin())
			assert.ErrorContains(t, h.Begin(), "an exchange is under way")
			assert.ErrorContains(t, h.Exchange(), "an exchange is under way")
			err := v.Resize(9)
			assert.ErrorIs(t, err, status.ViewsOut)
			assert.ErrorContains(t, err, "a halo exchange of the container is under way")
			assert.NoError(t, h.End())
			assert.ErrorContains(t, h.End(), "no exchange has begun")
			assert.NoError(t, v.Resize(9))
			assert.NoError(t, h.Close())
			assert.NoError(t, v.Close())
		})
	}
}

// TestWhatCloses ends the container, or the halo, between begin and end: messages still find their memory.
func TestWhatCloses(t *testing.T) {
	for n := 1; n <= 4; n++ {
		onRanks(t, n, func(on *runtime.Context) {
			v, h := ring(t, on, 8)
			view, err := h.View()
			assert.NoError(t, err)
			assert.NoError(t, h.Begin())
			assert.NoError(t, v.Close())
			assert.NoError(t, h.End())
			all := append([]int64{}, memory.As[int64](view.Span)...)
			assert.Equal(t, 10*int64((8+int(all[1])/10-1)%8), all[0])
			assert.ErrorContains(t, h.Exchange(), "the halo's container is closed")
			_, err = h.View()
			assert.ErrorContains(t, err, "the halo's container is closed")
			view.Storage.Release()
			assert.NoError(t, h.Close())

			v, h = ring(t, on, 8)
			assert.NoError(t, h.Begin())
			assert.NoError(t, h.Close(), "it ends the exchange")
			assert.NoError(t, v.Resize(3))
			assert.NoError(t, v.Close())
			assert.ErrorContains(t, h.End(), "the halo is closed")
		})
	}
}

// TestHalosThatCrossOver begins two exchanges in another order on each rank, of halos with any number of others between them.
func TestHalosThatCrossOver(t *testing.T) {
	for n := 1; n <= 5; n++ {
		onRanks(t, n, func(on *runtime.Context) {
			v, h := ring(t, on, 11)
			for range 47 {
				other, err := container.NewHalo(v, margins(1, halo.Wrap, 1, 1))
				assert.NoError(t, err)
				assert.NoError(t, other.Close())
			}
			w, k := ring(t, on, 7)
			wide, err := container.NewHalo(w, margins(1, halo.Constant, 1, 1))
			assert.NoError(t, err)
			order := []*container.Halo{h, k, wide}
			if on.Rank()%2 == 1 {
				order = []*container.Halo{wide, k, h}
			}
			for _, h := range order {
				assert.NoError(t, h.Begin())
			}
			for _, h := range order {
				assert.NoError(t, h.End())
			}
			for i, h := range []*container.Halo{h, k} {
				all, n := ghosts(t, h), []int64{11, 7}[i]
				for i := range all[1:] {
					assert.Equal(t, (all[i]/10+1)%n, all[i+1]/10)
				}
				assert.NoError(t, h.Close())
			}
			assert.NoError(t, wide.Close())
			assert.NoError(t, v.Close())
			assert.NoError(t, w.Close())
		})
	}
}

func TestHalosThatCannotBe(t *testing.T) {
	for n := 1; n <= 3; n++ {
		onRanks(t, n, func(on *runtime.Context) {
			v := made(t, on, 10, container.Division{})
			span, err := container.NewSpan(v, 0, -1)
			assert.NoError(t, err)
			cyclic := made(t, on, 10, container.Division{Kind: partition.KindCyclic})
			gone := made(t, on, 10, container.Division{})
			assert.NoError(t, gone.Close())
			for _, row := range []struct {
				name    string
				of      container.Container
				margins []halo.Margin
				code    status.Code
				text    string
			}{
				{"span", span, margins(1, halo.Constant, 1, 1), status.Unsupported, "a span has no halo"},
				{"cyclic", cyclic, margins(1, halo.Constant, 1, 1), status.Unsupported, "redistribute"},
				{"closed", gone, margins(1, halo.Constant, 1, 1), status.InvalidHandle, "the container is closed"},
				{"dimensions", v, margins(2, halo.Constant, 1, 1), status.InvalidArgument, "2 widths for 1 dimensions"},
				{"negative", v, margins(1, halo.Constant, 1, -2), status.InvalidArgument, "width -2 of dimension 0 is negative"},
				{"turns", v, margins(1, halo.Wrap, 0, 651), status.InvalidArgument, "width 651 of dimension 0 goes more than 64 times around its extent 10"},
				{"wide edge", v, margins(1, halo.Edge, 0, 1<<21), status.InvalidArgument, "width 2097152 of dimension 0 is more than 1048576"},
				{"no mode", v, margins(1, 9, 0, 1), status.InvalidArgument, "mode 9 of dimension 0 outside [0, 5)"},
				{"no address", v, margins(1, halo.Constant, 1<<62, 1<<62), status.OutOfMemory, "has no address"},
				{"no memory", v, margins(1, halo.Constant, 1<<58, 0), status.OutOfMemory, ""},
			} {
				_, err := container.NewHalo(row.of, row.margins)
				assert.ErrorIs(t, err, row.code, row.name)
				assert.ErrorContains(t, err, row.text, row.name)
			}
			if n > 1 {
				_, err := container.NewHalo(v, margins(1, halo.Constant, int64(on.Rank()/(n-1)), 1))
				assert.ErrorIs(t, err, status.Mismatch)
				assert.ErrorContains(t, err, "called halo(width (1, 1))")
			}
			h, err := container.NewHalo(v, margins(1, halo.Constant, 1, 1))
			assert.NoError(t, err, "nothing is left of the refused ones")
			assert.NoError(t, h.Exchange())
			assert.NoError(t, h.Close())
			assert.NoError(t, v.Close())
			assert.NoError(t, cyclic.Close())
		})
	}
}

// TestMessagesAreFew counts: one message a neighbour, corners and all, however the boxes lie; faces that are large
// enough go by themselves.
func TestMessagesAreFew(t *testing.T) {
	for _, row := range []struct {
		name        string
		ranks       int
		shape, grid []int64
		margins     []halo.Margin
		most, least int // of any rank
	}{
		{"line", 4, []int64{40}, nil, margins(1, halo.Constant, 1, 1), 2, 1},
		{"circle of two", 2, []int64{40}, nil, margins(1, halo.Wrap, 1, 1), 1, 1},
		{"one side", 4, []int64{40}, nil, margins(1, halo.Constant, 1, 0), 1, 0},
		{"no ghosts", 4, []int64{40}, nil, margins(1, halo.Wrap, 0, 0), 0, 0},
		{"over two parts", 6, []int64{12}, nil, margins(1, halo.Constant, 4, 4), 4, 2},
		{"grid", 9, []int64{9, 9}, []int64{3, 3}, margins(2, halo.Constant, 1, 1), 8, 3},
		{"grid without ends", 9, []int64{9, 9}, []int64{3, 3}, margins(2, halo.Wrap, 2, 2), 8, 8},
		{"grid of three dimensions", 27, []int64{6, 6, 6}, []int64{3, 3, 3}, margins(3, halo.Constant, 1, 1), 26, 7},
		{"large faces on both sides", 2, []int64{1 << 13}, nil, margins(1, halo.Wrap, 1<<11, 1<<11), 2, 2},
		{"alone", 1, []int64{5, 5}, nil, margins(2, halo.Wrap, 1, 1), 0, 0},
	} {
		onRanks(t, row.ranks, func(on *runtime.Context) {
			c, err := container.New(on, container.Spec{Family: "tensor", Shape: row.shape, Type: dtype.Float64,
				Division: container.Division{Grid: row.grid}})
			assert.NoError(t, err)
			h, err := container.NewHalo(c, row.margins)
			assert.NoError(t, err)
			if n := h.Messages(); n > row.most || n < row.least {
				t.Errorf("%s: rank %d sends %d messages, want %d to %d", row.name, on.Rank(), n, row.least, row.most)
			}
			assert.NoError(t, h.Close())
			assert.NoError(t, c.Close())
		})
	}
}
