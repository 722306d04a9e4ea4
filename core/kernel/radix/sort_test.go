package radix

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/memory"
)

// patterns say, each in its way, what element i of n is: a number below 1000 that becomes one of the type.
var patterns = map[string]func(i, n int, r *rand.Rand) uint64{
	"random bits":      func(_, _ int, r *rand.Rand) uint64 { return r.Uint64() },
	"all equal":        func(int, int, *rand.Rand) uint64 { return 5 },
	"sorted":           func(i, _ int, _ *rand.Rand) uint64 { return uint64(i) },
	"reversed":         func(i, n int, _ *rand.Rand) uint64 { return uint64(n - i) },
	"two values":       func(_, _ int, r *rand.Rand) uint64 { return r.Uint64() & 1 << 40 },
	"low bits alone":   func(_, _ int, r *rand.Rand) uint64 { return 1<<60 | r.Uint64()&7 },
	"both ends":        func(_, _ int, r *rand.Rand) uint64 { return r.Uint64() & (3<<62 | 3) },
	"a few far away":   func(_, _ int, r *rand.Rand) uint64 { return r.Uint64() >> (r.Uint64() & 63) },
	"clusters":         func(_, _ int, r *rand.Rand) uint64 { return r.Uint64() & (3<<62 | (1<<20 - 1)) },
	"one out of place": func(i, n int, _ *rand.Rand) uint64 { return uint64((i + 1) % max(n, 1)) },
}

// specials are bits that floats have rules for.
var specials = []uint64{0, 1 << 63, 1 << 31, 0x7ff0 << 48, 0xfff0 << 48, 0x7ff8 << 48, 0xfff8000000000001, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001}

// manyElements are enough for several workers.
const manyElements = 70_000

// ofMany says whether many elements of a type are sorted by a pattern: of the two types, with -short of one of them.
func ofMany(typ dtype.Type, pattern string) bool {
	if testing.Short() {
		return typ == []dtype.Type{dtype.Float64, dtype.Uint32}[len(pattern)%2]
	}
	return typ == dtype.Float64 || typ == dtype.Uint32
}

func sortCase[T any](t *testing.T, typ dtype.Type, compare func(a, b T) int, same func(a, b T) bool) {
	for name, pattern := range patterns {
		for _, n := range []int{0, 1, 2, few, few + 1, 1000, manyElements} {
			if n == manyElements && !ofMany(typ, name) {
				continue
			}
			for _, mixed := range []bool{false, true} {
				if testing.Short() && n == manyElements && !mixed {
					continue
				}
				r := rand.New(rand.NewPCG(7, uint64(n)))
				a, tmp := make([]T, n), make([]T, n)
				for i := range a {
					bits := pattern(i, n, r)
					if mixed && r.IntN(4) == 0 {
						bits = specials[r.IntN(len(specials))]
					}
					if typ == dtype.Float64 && !mixed {
						bits = math.Float64bits(float64(int64(bits)))
					}
					a[i] = *(*T)(unsafe.Pointer(&bits))
				}
				for descending, workers := range map[bool]Workers{mixed: {}, !mixed: testWorkers(3)} {
					if testing.Short() && n == manyElements && workers.Size == 0 {
						continue
					}
					what := fmt.Sprintf("%d %s, %s, mixed %v, descending %v, workers %d", n, typ, name, mixed, descending, workers.Size)
					checkSort(t, what, typ, a, tmp, descending, workers, compare, same)
				}
			}
		}
	}
}

func checkSort[T any](t *testing.T, what string, typ dtype.Type, given, tmp []T, descending bool, workers Workers, compare func(a, b T) int, same func(a, b T) bool) {
	t.Helper()
	by := func(a, b T) int {
		if an, bn := !same(a, a) || compare(a, a) == 2, !same(b, b) || compare(b, b) == 2; an || bn {
			return cmp.Compare(one(an), one(bn))
		}
		if descending {
			a, b = b, a
		}
		return compare(a, b)
	}
	want, got, o := slices.Clone(given), slices.Clone(given), NewOrder(typ, descending)
	slices.SortStableFunc(want, by)
	s := memory.Of(typ, got)
	Sort(s, memory.Of(typ, tmp), o, workers)
	for i := range want {
		if by(want[i], got[i]) != 0 || compare(want[i], want[i]) != 2 && !sameBits(want[i], got[i]) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
	if !Sorted(s, o) {
		t.Errorf("%s: not taken for sorted", what)
	}
	checkRecords(t, what, typ, given, descending, workers, by)
}

func sameBits[T any](a, b T) bool {
	n := unsafe.Sizeof(a)
	return string(unsafe.Slice((*byte)(unsafe.Pointer(&a)), n)) == string(unsafe.Slice((*byte)(unsafe.Pointer(&b)), n))
}

// checkRecords sorts numbered records, as argsort does.
func checkRecords[T any](t *testing.T, what string, typ dtype.Type, given []T, descending bool, workers Workers, by func(a, b T) int) {
	t.Helper()
	n := len(given)
	want, at, room := make([]int64, n), make([]int64, n), make([]int64, n)
	for i := range want {
		want[i] = int64(i)
	}
	slices.SortStableFunc(want, func(i, j int64) int { return by(given[i], given[j]) })
	o, s, indices := NewOrder(typ, descending), memory.Of(typ, given), memory.Of(dtype.Int64, at)
	Argsort(indices, memory.Of(dtype.Int64, room), s, o, workers)
	if !slices.Equal(at, want) {
		t.Fatalf("%s: indices are in another order", what)
	}
	for _, of := range []dtype.Type{RecordType(typ, int64(n)), dtype.Complex128} {
		words, other := make([][2]uint64, n), make([][2]uint64, n)
		records := memory.Span{Addr: unsafe.Pointer(unsafe.SliceData(words)), Count: n, Type: of}
		tmp := memory.Span{Addr: unsafe.Pointer(unsafe.SliceData(other)), Count: n, Type: of}
		Records(records, s, o, 0, workers)
		Sort(records, tmp, NewOrder(dtype.Uint64, false), workers)
		got := make([]int64, n)
		Numbers(memory.Of(dtype.Int64, got), records, workers)
		if !slices.Equal(got, want) {
			t.Fatalf("%s: records of %s are in another order", what, of)
		}
	}
}

func TestNumbersOfAnyRunsAreMerged(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 1))
	for _, most := range []uint64{1, 3, 1 << 40, math.MaxUint64} {
		for _, runs := range [][]int{{}, {0}, {5}, {3, 4}, {0, 9, 0, 1}, {1, 2, 3, 4, 5}, {70_000, 3, 90_000, 0, 50_000}} {
			var keys, numbers []uint64
			for _, n := range runs {
				run := make([]uint64, n)
				for i := range run {
					run[i] = random.Uint64() % most
					if random.Uint64()%8 == 0 {
						run[i] = most // of all bits, at the end
					}
				}
				slices.Sort(run)
				keys = append(keys, run...)
			}
			want := make([]int64, len(keys))
			for i := range want {
				want[i], numbers = int64(i), append(numbers, uint64(i))
			}
			slices.SortStableFunc(want, func(i, j int64) int { return cmp.Compare(keys[i], keys[j]) })
			for _, workers := range []Workers{{}, testWorkers(3)} {
				got := make([]int64, len(keys))
				MergeNumbers(memory.Of(dtype.Int64, got), memory.Of(dtype.Uint64, keys), memory.Of(dtype.Uint64, numbers), runs, workers)
				if !slices.Equal(got, want) {
					t.Fatalf("runs %v of keys up to %d: another order", runs, most)
				}
			}
		}
	}
}

// compareFloats compares numbers; 2 says that there is a NaN.
func compareFloats[T float32 | float64](a, b T) int {
	if a != a || b != b {
		return 2
	}
	return cmp.Compare(a, b)
}

func equal[T comparable](a, b T) bool { return a == b }

func TestSortIsThatOfSlices(t *testing.T) {
	sortCase(t, dtype.Float64, compareFloats[float64], equal[float64])
	sortCase(t, dtype.Float32, compareFloats[float32], equal[float32])
	sortCase(t, dtype.Int64, cmp.Compare[int64], equal[int64])
	sortCase(t, dtype.Int32, cmp.Compare[int32], equal[int32])
	sortCase(t, dtype.Int16, cmp.Compare[int16], equal[int16])
	sortCase(t, dtype.Int8, cmp.Compare[int8], equal[int8])
	sortCase(t, dtype.Uint64, cmp.Compare[uint64], equal[uint64])
	sortCase(t, dtype.Uint32, cmp.Compare[uint32], equal[uint32])
	sortCase(t, dtype.Uint16, cmp.Compare[uint16], equal[uint16])
	sortCase(t, dtype.Uint8, cmp.Compare[uint8], equal[uint8])
}

func TestSortOfManyShortElements(t *testing.T) {
	const n = 1_000_000
	a, tmp, r, counts := make([]uint8, n), make([]uint8, n), rand.New(rand.NewPCG(1, 1)), [256]int{}
	for i := range a {
		a[i] = uint8(r.IntN(200))
		counts[a[i]]++
	}
	Sort(memory.Of(dtype.Uint8, a), memory.Of(dtype.Uint8, tmp), NewOrder(dtype.Uint8, false), testWorkers(2))
	for _, v := range a {
		counts[v]--
	}
	if !slices.IsSorted(a) || counts != [256]int{} {
		t.Error("not sorted, or other elements")
	}
}

func TestMergeKeepsEarlierRunsFirst(t *testing.T) {
	for _, runs := range [][]int{{}, {5}, {0, 7}, {3, 0, 4}, {1, 2, 3, 4, 5}, {40_000, 100_000, 1}, {9, 8, 7, 6, 5, 4, 3, 2}} {
		for _, workers := range []Workers{{}, testWorkers(3)} {
			n := 0
			for _, run := range runs {
				n += run
			}
			src, dst, r, at := make([]float64, n), make([]float64, n), rand.New(rand.NewPCG(1, 1)), 0
			for _, run := range runs {
				for i := range run {
					src[at+i] = []float64{-1, 0, math.Copysign(0, -1), 1, math.NaN(), float64(r.IntN(n))}[r.IntN(6)]
				}
				slices.SortStableFunc(src[at:at+run], last)
				at += run
			}
			want := slices.Clone(src)
			slices.SortStableFunc(want, last)
			Merge(memory.Of(dtype.Float64, dst), memory.Of(dtype.Float64, src), runs, NewOrder(dtype.Float64, false), workers)
			for i := range want {
				if !sameBits(want[i], dst[i]) {
					t.Fatalf("runs %v: element %d is %v, want %v", runs, i, dst[i], want[i])
				}
			}
		}
	}
}

// last compares numbers; NaNs are greatest.
func last(a, b float64) int {
	if a != a || b != b {
		return cmp.Compare(one(a != a), one(b != b))
	}
	return cmp.Compare(a, b)
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
