package radix

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/memory"
)

// withSorters calls f while words are sorted by a library: here, Go's.
func withSorters(f func()) {
	SetSorter(dtype.Uint32, func(first unsafe.Pointer, n int) { slices.Sort(unsafe.Slice((*uint32)(first), n)) })
	SetSorter(dtype.Uint64, func(first unsafe.Pointer, n int) { slices.Sort(unsafe.Slice((*uint64)(first), n)) })
	SetSorter(dtype.Float64, func(first unsafe.Pointer, n int) { sortLossy(unsafe.Slice((*float64)(first), n)) })
	defer SetSorter(dtype.Uint32, nil)
	defer SetSorter(dtype.Uint64, nil)
	SetDistinct(func(first unsafe.Pointer, n int) bool {
		return !slices.ContainsFunc(unsafe.Slice((*float64)(first), n), func(v float64) bool {
			return v != v || (v == 0 && math.Signbit(v))
		})
	})
	defer SetSorter(dtype.Float64, nil)
	defer SetDistinct(nil)
	f()
}

// sortLossy sorts floats as libraries may: of NaNs and zeros, the bits are lost.
func sortLossy(a []float64) {
	slices.Sort(a)
	for i, v := range a {
		if v == 0 || v != v {
			a[i] = math.Abs(v) + 0
		}
		if v != v {
			a[i] = math.NaN()
		}
	}
}

func sortersCase[T any](t *testing.T, typ dtype.Type) {
	for name, pattern := range patterns {
		for _, n := range []int{0, 1, few, few + 1, 1000, manyElements} {
			if n == manyElements && !ofMany(typ, name) {
				continue
			}
			for share := range 3 { // of specials: none, some, all
				if testing.Short() && n == manyElements && share != 1 {
					continue
				}
				r := rand.New(rand.NewPCG(7, uint64(n)))
				given := make([]T, n)
				for i := range given {
					bits := pattern(i, n, r)
					if r.IntN(2) < share {
						bits = specials[r.IntN(len(specials))]
					}
					given[i] = *(*T)(unsafe.Pointer(&bits))
				}
				for _, descending := range []bool{false, true} {
					what := fmt.Sprintf("%d %s, %s, %d specials, descending %v", n, typ, name, share, descending)
					checkSorters(t, what, typ, given, descending)
				}
			}
		}
	}
}

// checkSorters compares sorts with and without sorters.
func checkSorters[T any](t *testing.T, what string, typ dtype.Type, given []T, descending bool) {
	t.Helper()
	o, tmp := NewOrder(typ, descending), memory.Of(typ, make([]T, len(given)))
	want, wantKeys := slices.Clone(given), slices.Clone(given)
	Sort(memory.Of(typ, want), tmp, o, Workers{})
	signs := SortToKeys(memory.Of(typ, wantKeys), tmp, o, Workers{})
	withSorters(func() {
		for size := 1; size < 4; size++ {
			if testing.Short() && size == 2 {
				continue
			}
			got := slices.Clone(given)
			Sort(memory.Of(typ, got), tmp, o, testWorkers(size))
			if i := differs(got, want); i >= 0 {
				t.Fatalf("%s, workers %d: element %d is %v, want %v", what, size, i, got[i], want[i])
			}
			copy(got, given)
			mine := SortToKeys(memory.Of(typ, got), tmp, o, testWorkers(size))
			if i := differs(got, wantKeys); i >= 0 || mine.Negative() != signs.Negative() {
				t.Fatalf("%s, workers %d: other keys from %d on, or signs", what, size, i)
			}
			FromKeys(memory.Of(typ, got), o, mine, testWorkers(size))
			if i := differs(got, want); i >= 0 {
				t.Fatalf("%s, workers %d: element %d of a key is %v, want %v", what, size, i, got[i], want[i])
			}
		}
	})
}

// differs returns the first place where bits differ, or -1.
func differs[T any](a, b []T) int {
	for i := range a {
		if !sameBits(a[i], b[i]) {
			return i
		}
	}
	return -1
}

func TestSortersGiveTheSameBits(t *testing.T) {
	sortersCase[float64](t, dtype.Float64)
	sortersCase[float32](t, dtype.Float32)
	sortersCase[int64](t, dtype.Int64)
	sortersCase[uint64](t, dtype.Uint64)
	sortersCase[int32](t, dtype.Int32)
	sortersCase[uint32](t, dtype.Uint32)
	sortersCase[int16](t, dtype.Int16)
}
