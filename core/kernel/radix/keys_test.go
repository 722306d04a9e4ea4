package radix

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dtl/core/dtype"
	"dtl/core/memory"
)

func TestKeysStayAndComeBack(t *testing.T) {
	for name, pattern := range patterns {
		for _, n := range []int{0, 1, 30, 1000, 15_005, 60_000} {
			r := rand.New(rand.NewPCG(7, uint64(n)))
			a, tmp := make([]int64, n), make([]int64, n)
			for i := range a {
				a[i] = int64(pattern(i, n, r))
			}
			want := slices.Clone(a)
			slices.Sort(want)
			s, o, what := memory.Of(dtype.Int64, a), NewOrder(dtype.Int64, false), fmt.Sprint(n, " ", name)
			signs := SortToKeys(s, memory.Of(dtype.Int64, tmp), o, testWorkers(2))
			if !Sorted(s, KeyOrder(dtype.Int64)) {
				t.Fatalf("%s: keys are not sorted", what)
			}
			FromKeys(s, o, signs, testWorkers(2))
			if !slices.Equal(a, want) {
				t.Fatalf("%s: other elements came back", what)
			}
		}
	}
}

func TestMergeOfKeys(t *testing.T) {
	for _, runs := range [][]int{{5, 5}, {0, 7}, {3, 0, 4}, {1, 2, 3, 4, 5}, {7000, 8000}, {40_000, 100_000, 1}} {
		for _, below := range []int{2, 100, 1 << 40} {
			src, r, at := []uint64{}, rand.New(rand.NewPCG(1, 1)), 0
			for _, run := range runs {
				for range run {
					src = append(src, uint64(r.IntN(below)))
				}
				slices.Sort(src[at:])
				at += run
			}
			want, dst := slices.Clone(src), make([]uint64, len(src))
			slices.Sort(want)
			Merge(memory.Of(dtype.Uint64, dst), memory.Of(dtype.Uint64, src), runs, NewOrder(dtype.Uint64, false), testWorkers(3))
			if !slices.Equal(dst, want) {
				t.Errorf("runs %v below %d: not merged", runs, below)
			}
		}
	}
}
