package transfer_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dtl/core/partition"
	"dtl/core/status"
	"dtl/core/transfer"
)

func block(t *testing.T, n int64, ranks int) partition.Layout {
	t.Helper()
	p, err := partition.NewBlock(n, ranks)
	return layout(t, onePart(t, p, err))
}

func cyclic(t *testing.T, n int64, ranks int) partition.Layout {
	t.Helper()
	p, err := partition.NewCyclic(n, ranks)
	return layout(t, onePart(t, p, err))
}

func TestNewRefuses(t *testing.T) {
	ten, square := block(t, 10, 2), grid(t, []int64{10, 3}, 2, 1)
	window := func(start, step, count int64) transfer.Side {
		return transfer.Side{Layout: ten, Window: []transfer.Slice{{Start: start, Step: step, Count: count}}}
	}
	whole := transfer.Side{Layout: ten}
	rows := []struct {
		name     string
		src, dst transfer.Side
		item     int
		code     status.Code
		text     string
	}{
		{"counts", whole, window(0, 1, 9), 8, status.InvalidArgument, "source has 10 indices in dimension 0, destination 9"},
		{"dimensions", whole, transfer.Side{Layout: square}, 8, status.InvalidArgument, "source has 1 dimensions, destination 2"},
		{"second dimension", transfer.Side{Layout: square}, transfer.Side{Layout: grid(t, []int64{10, 4}, 2, 1)}, 8,
			status.InvalidArgument, "source has 3 indices in dimension 1, destination 4"},
		{"windows", transfer.Side{Layout: square, Window: []transfer.Slice{{Step: 1, Count: 10}}}, whole, 8,
			status.InvalidArgument, "source: 1 windows for 2 dimensions"},
		{"step of 0", window(0, 0, 1), window(0, 1, 1), 8, status.InvalidArgument, "step 0"},
		{"negative count", window(0, 1, -1), whole, 8, status.InvalidArgument, "count -1"},
		{"past the end", whole, window(1, 1, 10), 8, status.OutOfBounds, "destination: window of dimension 0: 10 indices from 1"},
		{"past the end in steps", window(1, 3, 4), whole, 8, status.OutOfBounds, "4 indices from 1 in steps of 3 leave [0, 10)"},
		{"before the start", window(5, -2, 4), whole, 8, status.OutOfBounds, "in steps of -2 leave [0, 10)"},
		{"starts before", window(-1, 1, 2), whole, 8, status.OutOfBounds, "2 indices from -1"},
		{"starts behind", window(10, -1, 2), whole, 8, status.OutOfBounds, "2 indices from 10"},
		{"huge step", window(0, math.MaxInt64, 2), whole, 8, status.OutOfBounds, "leave [0, 10)"},
		{"huge negative step", window(9, math.MinInt64, 2), whole, 8, status.OutOfBounds, "leave [0, 10)"},
		{"huge count", window(0, 1, math.MaxInt64), whole, 8, status.OutOfBounds, "leave [0, 10)"},
		{"no size", whole, whole, 0, status.InvalidArgument, "element size 0"},
		{"too many bytes", transfer.Side{Layout: block(t, 1<<61, 2)}, transfer.Side{Layout: block(t, 1<<61, 2)}, 8,
			status.InvalidArgument, "more than 9223372036854775807 bytes"},
		{"too few ranks", transfer.Side{Layout: ten, Ranks: []int{1}}, whole, 8, status.InvalidArgument, "1 ranks named for a layout of 2"},
		{"rank twice", transfer.Side{Layout: ten, Ranks: []int{1, 1}}, whole, 8, status.InvalidArgument, "rank 1 named twice"},
		{"negative rank", whole, transfer.Side{Layout: ten, Ranks: []int{0, -1}}, 8, status.InvalidArgument, "destination: rank -1 outside"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, err := transfer.New(row.src, row.dst, row.item)
			assert.ErrorIs(t, err, row.code)
			assert.ErrorContains(t, err, row.text)
		})
	}
}

// bytesOf counts what a loop over the elements would send.
func bytesOf(src, dst transfer.Side, item int64, from, to int) (n int64) {
	holds := func(s transfer.Side, rank int, index []int64) bool {
		for d, i := range index {
			if !s.Layout.Dim(d).Holds(s.Layout.Coordinate(rank, d), i) {
				return false
			}
		}
		return true
	}
	each(counts(src), func(i []int64, _ int64) {
		if holds(src, from, through(src, i)) && holds(dst, to, through(dst, i)) {
			n += item
		}
	})
	return n
}

func TestBytes(t *testing.T) {
	for _, w := range windows {
		everyKind(t, 100, 64, 3, func(src, dst partition.Layout) {
			if src.Replicated() {
				return
			}
			a := transfer.Side{Layout: src, Window: []transfer.Slice{w[0]}}
			b := transfer.Side{Layout: dst, Window: []transfer.Slice{w[1]}}
			plan, err := transfer.New(a, b, 4)
			require.NoError(t, err)
			for from := range 3 {
				for to := range 3 {
					if want := bytesOf(a, b, 4, from, to); want != plan.Bytes(from, to) {
						t.Fatalf("%v %+v to %+v: rank %d to %d is %d bytes, not %d", w, a, b, from, to, want, plan.Bytes(from, to))
					}
				}
			}
			assert.Zero(t, plan.Bytes(3, 0), "a rank that has no part")
			assert.Zero(t, plan.Bytes(0, 3))
		})
	}
}

// Arithmetic on sizes that no memory has.
func TestBytesOfHugeLayouts(t *testing.T) {
	const n = int64(1) << 59
	plan, err := transfer.New(transfer.Side{Layout: block(t, n, 1000)}, transfer.Side{Layout: cyclic(t, n, 7)}, 8)
	require.NoError(t, err)
	total := int64(0)
	for from := range 1000 {
		for to := range 7 {
			b := plan.Bytes(from, to)
			assert.InDelta(t, n/7000*8, b, 16)
			total += b
		}
	}
	assert.Equal(t, n*8, total)
	every := transfer.Side{Layout: cyclic(t, n, 1_000_003), Window: []transfer.Slice{{Start: n - 1, Step: -999_983, Count: n / 999_983}}}
	other := transfer.Side{Layout: cyclic(t, n, 999_979), Window: []transfer.Slice{{Start: 5, Step: 7, Count: n / 999_983}}}
	plan, err = transfer.New(every, other, 1)
	require.NoError(t, err)
	assert.InDelta(t, float64(n/999_983)/1_000_003/999_979, plan.Bytes(17, 4711), 1)
}

func TestReplicatedSourceServesItself(t *testing.T) {
	p, err := partition.NewReplicated(100, 3)
	require.NoError(t, err)
	plan, err := transfer.New(transfer.Side{Layout: layout(t, p)}, transfer.Side{Layout: cyclic(t, 100, 5)}, 8)
	require.NoError(t, err)
	for from := range 5 {
		for to := range 5 {
			want := int64(0)
			if from == to && to < 3 || to == 3 && from == 0 || to == 4 && from == 1 {
				want = 20 * 8
			}
			assert.Equal(t, want, plan.Bytes(from, to), "%d to %d", from, to)
		}
	}
}
