package backend_test

import (
	"slices"
	"testing"

	"dtl/core/backend"
)

// TestBoxRuns copies boxes byte by byte, as the runs say and as the indices do.
func TestBoxRuns(t *testing.T) {
	for _, row := range []struct {
		name            string
		shape, to, from []int64
		item, runs      int
	}{
		{"one element", []int64{1}, []int64{4}, []int64{4}, 4, 1},
		{"side by side", []int64{3, 4}, []int64{32, 8}, []int64{32, 8}, 8, 1},
		{"gaps on one side", []int64{3, 4}, []int64{32, 8}, []int64{48, 8}, 8, 1},
		{"columns", []int64{3, 4}, []int64{2, 6}, []int64{8, 2}, 2, 3},
		{"three dimensions", []int64{2, 3, 4}, []int64{48, 16, 4}, []int64{100, 20, 4}, 4, 2},
		{"an extent of one", []int64{3, 1, 4}, []int64{4, 99, 1}, []int64{8, 77, 1}, 1, 1},
		{"one element for all", []int64{2, 3}, []int64{20, 4}, []int64{0, 0}, 4, 2},
		{"backwards", []int64{5}, []int64{4}, []int64{-4}, 4, 1},
		{"nothing", []int64{0, 3}, []int64{12, 4}, []int64{12, 4}, 4, -1},
	} {
		src, dst, want := make([]byte, 400), make([]byte, 400), make([]byte, 400)
		for i := range src {
			src[i] = byte(i % 251)
		}
		const middle = 100 // of which elements may lie before
		var walk func(d int, to, from int64)
		walk = func(d int, to, from int64) {
			if d == len(row.shape) {
				copy(want[middle+to:][:row.item], src[middle+from:])
				return
			}
			for i := range row.shape[d] {
				walk(d+1, to+i*row.to[d], from+i*row.from[d])
			}
		}
		walk(0, 0, 0)
		all := backend.BoxRuns(row.shape, row.to, row.from, row.item)
		for _, r := range all {
			for k := range r.Count {
				copy(dst[middle+r.To+k*r.ToStep:][:r.Unit], src[middle+r.From+k*r.FromStep:])
			}
		}
		if !slices.Equal(dst, want) || row.runs >= 0 && len(all) != row.runs {
			t.Errorf("%s: %v", row.name, all)
		}
	}
}
