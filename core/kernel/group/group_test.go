package group

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
)

// side returns workers that run their tasks side by side.
func side(size int) radix.Workers {
	return radix.Workers{Size: size, Run: func(tasks int, do func(int)) {
		var all sync.WaitGroup
		for task := range tasks {
			all.Go(func() { do(task) })
		}
		all.Wait()
	}}
}

// arrays returns values as a column of some arrays, which begin in the midst of their memory, with the rows that are null.
func arrays[T any](v []T, null []bool, cuts ...int) (c Column) {
	for i, lo := range append([]int{0}, cuts...) {
		hi := append(cuts, len(v))[i]
		const before = 3
		data := append(make([]T, before), v[lo:hi]...)
		a := Array{Data: unsafe.Pointer(unsafe.SliceData(data)), Offset: before, Rows: hi - lo}
		a.Valid = bitmap(null, lo, hi, before)
		c = append(c, a)
	}
	return c
}

func bitmap(null []bool, lo, hi, before int) unsafe.Pointer {
	if null == nil {
		return nil
	}
	set := make([]uint8, (hi-lo+before+8)/8)
	for i := lo; i < hi; i++ {
		if !null[i] {
			set[(i-lo+before)/8] |= 1 << ((i - lo + before) % 8)
		}
	}
	return unsafe.Pointer(unsafe.SliceData(set))
}

// texts returns texts as such a column. They are not Go's memory to Number, which keeps addresses: keep holds them.
func texts(v []string, null []bool, cuts ...int) (c Column, keep [][]byte) {
	for i, lo := range append([]int{0}, cuts...) {
		hi := append(cuts, len(v))[i]
		all, ends := []byte("before"), []int32{6}
		for _, text := range v[lo:hi] {
			all = append(all, text...)
			ends = append(ends, int32(len(all)))
		}
		c = append(c, Array{
			Valid: bitmap(null, lo, hi, 0), Data: unsafe.Pointer(unsafe.SliceData(ends)),
			Text: unsafe.Pointer(unsafe.SliceData(all)), Bytes: len(all), Rows: hi - lo,
		})
		keep = append(keep, all)
	}
	return c, keep
}

// numbered is the naive Number.
func numbered[T comparable](v []T, null []bool) (codes, rows []int64) {
	known := map[T]int64{}
	for i, each := range v {
		if null != nil && null[i] {
			codes = append(codes, -1)
			continue
		}
		if _, there := known[each]; !there {
			known[each] = int64(len(known))
			rows = append(rows, int64(i))
		}
		codes = append(codes, known[each])
	}
	return codes, rows
}

func someNull(rng *rand.Rand, n int) []bool {
	null := make([]bool, n)
	for i := range null {
		null[i] = rng.IntN(5) == 0
	}
	return null
}

func TestNumberWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 1000, 2*chunk + 7} {
		for _, distinct := range []uint64{1, 100, math.MaxUint64} {
			for _, null := range [][]bool{nil, someNull(rng, n)} {
				v := make([]uint64, n)
				for i := range v {
					v[i] = rng.Uint64N(distinct) * 0x100000001
				}
				codes, rows := numbered(v, null)
				for _, workers := range []radix.Workers{{}, side(3)} {
					found := make([]int64, n)
					if got := Number(found, arrays(v, null, n/3, n/2), 8, n, workers); !slices.Equal(found, codes) || !slices.Equal(got, rows) {
						t.Errorf("%d rows of %d values, %d workers: %d numbers, not %d", n, distinct, workers.Size, len(got), len(rows))
					}
				}
			}
		}
	}
}

func TestNumberTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 2*chunk + 5
	v := make([]string, n)
	for i := range v {
		v[i] = strings.Repeat("a", rng.IntN(40)) + strings.Repeat("\x00", rng.IntN(3)) + strings.Repeat("b", rng.IntN(3))
	}
	for _, null := range [][]bool{nil, someNull(rng, n)} {
		codes, rows := numbered(v, null)
		for _, workers := range []radix.Workers{{}, side(3)} {
			found := make([]int64, n)
			c, keep := texts(v, null, n/3, n/2)
			if got := Number(found, c, 0, n, workers); !slices.Equal(found, codes) || !slices.Equal(got, rows) {
				t.Errorf("%d workers: %d numbers, not %d", workers.Size, len(got), len(rows))
			}
			_ = keep
		}
	}
}

func TestNumberHalfWords(t *testing.T) {
	v := []uint32{7, 7, 9, math.MaxUint32, 9, 0}
	codes, rows := numbered(v, nil)
	found := make([]int64, len(v))
	if got := Number(found, arrays(v, nil), 4, len(v), radix.Workers{}); !slices.Equal(found, codes) || !slices.Equal(got, rows) {
		t.Errorf("%v in rows %v, not %v in %v", found, got, codes, rows)
	}
}

func TestNumbersThatAreLookedUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const n, known = 4*chunk + 7, 2 * chunk
	v := make([]uint64, n)
	for i := range v {
		v[i] = rng.Uint64N(4 * chunk)
	}
	codes, rows := numbered(v[:known], nil)
	of := map[uint64]int64{}
	for i, code := range codes {
		of[v[i]] = code
	}
	for _, each := range v[known:] {
		if code, there := of[each]; there {
			codes = append(codes, code)
		} else {
			codes = append(codes, -1)
		}
	}
	for _, workers := range []radix.Workers{{}, side(3)} {
		found := make([]int64, n)
		if got := Number(found, arrays(v, nil, n/3, n/2), 8, known, workers); !slices.Equal(found, codes) || !slices.Equal(got, rows) {
			t.Errorf("%d workers: %d numbers, not %d", workers.Size, len(got), len(rows))
		}
	}
}

func TestRenumber(t *testing.T) {
	codes := []int64{0, -1, 2, 1}
	if Renumber(codes, []int64{30, 10, 20, 99}, radix.Workers{}); !slices.Equal(codes, []int64{30, 99, 20, 10}) {
		t.Errorf("%v", codes)
	}
}

// folded checks the folds of a type beside a naive loop, and that they are the same of any number of workers.
func folded[V int8 | int64 | uint16 | float64, S int64 | uint64 | float64](t *testing.T, of, sums dtype.Type, draw func(rng *rand.Rand) V) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, width := range []int{1, 10, chunk} {
		n := 2*chunk + 3
		v, codes := make([]V, n), make([]int64, n)
		for i := range v {
			v[i], codes[i] = draw(rng), rng.Int64N(int64(width))
		}
		for _, null := range [][]bool{nil, someNull(rng, n)} {
			c := arrays(v, null, 100, n/2)
			count, sum, total := make([]int64, width), make([]S, width), make([]float64, width)
			least, most := make([]V, width), make([]V, width)
			about, squares := make([]float64, width), make([]float64, 2*width)
			for i := range about {
				about[i] = float64(i % 7)
			}
			for i, x := range v {
				if code := codes[i]; null == nil || !null[i] {
					if first := count[code] == 0; first || x < least[code] || least[code] != least[code] {
						least[code] = x
					}
					if first := count[code] == 0; first || x > most[code] || most[code] != most[code] {
						most[code] = x
					}
					count[code]++
					sum[code] += S(x)
					total[code] += float64(x)
					squares[code] += (float64(x) - about[code]) * (float64(x) - about[code])
					squares[width+int(code)] += float64(x) - about[code]
				}
			}
			makes(t, Count, count, dtype.Int64, nil, codes, c, of, count)
			makes(t, Sum, sum, sums, nil, codes, c, of, count)
			makes(t, Total, total, dtype.Float64, nil, codes, c, of, count)
			makes(t, Least, least, of, nil, codes, c, of, count)
			makes(t, Most, most, of, nil, codes, c, of, count)
			makes(t, Squares, squares, dtype.Float64, about, codes, c, of, count)
		}
	}
}

// makes checks one fold of groups, of those that have a value.
func makes[S int8 | int64 | uint16 | uint64 | float64](
	t *testing.T, f Fold, want []S, out dtype.Type, about []float64, codes []int64, c Column, of dtype.Type, count []int64,
) {
	t.Helper()
	found, again := make([]S, len(want)), make([]S, len(want))
	for workers, into := range map[int][]S{1: found, 3: again} {
		if err := f.Make(memory.Of(out, into), about, codes, c, of, side(workers)); err != nil {
			t.Fatal(err)
		}
	}
	added := make([]S, len(want))
	err := f.Make(memory.Of(out, added), about, nil, nil, of, radix.Workers{})
	for lo, step := 0, len(codes)/3+1; lo < len(codes) && err == nil; lo += step {
		var some Column
		hi := min(lo+step, len(codes))
		c.between(lo, hi, func(a Array, _ int) { some = append(some, a) })
		err = f.Add(memory.Of(out, added), about, codes[lo:hi], some, of)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if count[i%len(count)] == 0 {
			continue
		}
		for _, made := range [][]S{found, added} {
			near := math.Abs(float64(made[i])-float64(want[i])) <= 1e-9*(1+math.Abs(float64(want[i])))
			if !near && (want[i] == want[i] || made[i] == made[i]) {
				t.Fatalf("fold %d of %s: %v of group %d, not %v", f, of, made[i], i, want[i])
			}
		}
		if found[i] != again[i] && found[i] == found[i] {
			t.Fatalf("fold %d of %s: %v by one worker, %v by three", f, of, found[i], again[i])
		}
	}
}

func TestFolds(t *testing.T) {
	folded[int64, int64](t, dtype.Int64, dtype.Int64, func(rng *rand.Rand) int64 { return rng.Int64() - math.MaxInt64/2 })
	folded[int8, int64](t, dtype.Int8, dtype.Int64, func(rng *rand.Rand) int8 { return int8(rng.Uint32()) })
	folded[uint16, uint64](t, dtype.Uint16, dtype.Uint64, func(rng *rand.Rand) uint16 { return uint16(rng.Uint32()) })
	folded[float64, float64](t, dtype.Float64, dtype.Float64, func(rng *rand.Rand) float64 {
		if rng.IntN(100_000) == 0 {
			return math.NaN()
		}
		return rng.Float64()
	})
}

func TestFoldsThatDoNotFit(t *testing.T) {
	one := arrays([]float64{1}, nil)
	for name, err := range map[string]error{
		"no fold":       Fold(99).Make(memory.Of(dtype.Float64, []float64{0}), nil, []int64{0}, one, dtype.Float64, radix.Workers{}),
		"of no numbers": Sum.Make(memory.Of(dtype.Float64, []float64{0}), nil, []int64{0}, one, dtype.Complex64, radix.Workers{}),
		"another type":  Sum.Make(memory.Of(dtype.Int64, []int64{0}), nil, []int64{0}, one, dtype.Float64, radix.Workers{}),
		"fewer rows":    Sum.Make(memory.Of(dtype.Float64, []float64{0}), nil, []int64{0, 0}, one, dtype.Float64, radix.Workers{}),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{0, 1, 2*chunk + 3} {
		for _, width := range []int{1, 7, n/10 + 1, 2*n + 1} {
			v, codes := make([]float64, n), make([]int64, n)
			for i := range v {
				v[i], codes[i] = float64(rng.IntN(50)), rng.Int64N(int64(width))
				if v[i] == 7 {
					v[i] = math.NaN()
				}
				if codes[i] == 3 {
					codes[i] = 0 // which is large, and the third empty
				}
			}
			for _, workers := range []radix.Workers{{}, side(3)} {
				for _, descending := range []bool{false, true} {
					checkOrder(t, codes, v, width, descending, workers)
				}
				rows := make([]int64, n)
				Order(rows, make([]int64, width), codes, memory.Span{}, false, workers)
				if !slices.Equal(rows, ordered(codes, make([]float64, n), false)) {
					t.Fatalf("%d rows of %d groups", n, width)
				}
			}
		}
	}
}

// checkOrder checks Order, Places and Sort of some values.
func checkOrder(t *testing.T, codes []int64, v []float64, width int, descending bool, workers radix.Workers) {
	t.Helper()
	rows, ends, want := make([]int64, len(v)), make([]int64, width), ordered(codes, v, descending)
	if Order(rows, ends, codes, memory.Of(dtype.Float64, v), descending, workers); !slices.Equal(rows, want) {
		t.Fatalf("%d rows of %d groups, descending %t, %d workers", len(v), width, descending, workers.Size)
	}
	checkForemost(t, rows, codes, v, width, descending, workers)
	places, seen := make([]int64, len(v)), make([]int64, width)
	Places(places, rows, ends, workers)
	for _, row := range rows {
		if places[row] != seen[codes[row]] {
			t.Fatalf("row %d is %d in its group, not %d", row, places[row], seen[codes[row]])
		}
		seen[codes[row]]++
	}
	sorted := make([]float64, len(v))
	Sort(memory.Of(dtype.Float64, sorted), ends, codes, memory.Of(dtype.Float64, v), workers)
	for i, row := range ordered(codes, v, false) {
		if sorted[i] != v[row] && v[row] == v[row] {
			t.Fatalf("%v in place %d, not %v", sorted[i], i, v[row])
		}
	}
}

// checkForemost checks Foremost beside rows in the order of their groups and values, of which NaN is the greatest.
func checkForemost(t *testing.T, rows, codes []int64, v []float64, width int, descending bool, workers radix.Workers) {
	t.Helper()
	const n = 3
	want, taken := slices.Repeat([]int64{-1}, n*width), make([]int64, width)
	for _, last := range []bool{false, true} {
		for _, row := range rows {
			if code := codes[row]; (v[row] != v[row]) == last && taken[code] < n {
				want[code*n+taken[code]] = row
				taken[code]++
			}
		}
	}
	found := make([]int64, n*width)
	if Foremost(found, n, codes, memory.Of(dtype.Float64, v), descending, workers); !slices.Equal(found, want) {
		t.Fatalf("the foremost of %d rows of %d groups, descending %t, %d workers", len(v), width, descending, workers.Size)
	}
}

// ordered is the naive Order.
func ordered(codes []int64, v []float64, descending bool) []int64 {
	rows := make([]int64, len(codes))
	for i := range rows {
		rows[i] = int64(i)
	}
	slices.SortStableFunc(rows, func(a, b int64) int {
		if c := cmp.Compare(codes[a], codes[b]); c != 0 {
			return c
		}
		x, y := -v[a], -v[b]
		if descending {
			x, y = y, x
		}
		return cmp.Compare(y, x) // for which NaN is the least
	})
	return rows
}

func TestNumberInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, n := range []int{0, 1, 2*chunk + 3} {
		v, codes := make([]float64, n), make([]int64, n)
		for i := range v {
			v[i] = float64(rng.IntN(2*n) - n)
			if v[i] == 7 {
				v[i] = math.NaN()
			}
		}
		distinct := slices.DeleteFunc(slices.Clone(v), math.IsNaN)
		slices.Sort(distinct)
		distinct = slices.Compact(distinct)
		if slices.ContainsFunc(v, math.IsNaN) {
			distinct = append(distinct, math.NaN())
		}
		for _, workers := range []radix.Workers{{}, side(3)} {
			rows, keys := make([]int64, n), make([]uint64, n)
			rows = rows[:NumberInOrder(codes, rows, keys, memory.Of(dtype.Float64, v), workers)]
			if !slices.IsSorted(keys[:len(rows)]) {
				t.Fatalf("%d keys are not in order", len(rows))
			}
			for number, row := range rows {
				if v[row] != distinct[number] && distinct[number] == distinct[number] {
					t.Fatalf("%v has the number %d of %v", v[row], number, distinct[number])
				}
			}
			for i, code := range codes {
				if v[i] != distinct[code] && v[i] == v[i] {
					t.Fatalf("%v has the number of %v", v[i], distinct[code])
				}
			}
			if len(rows) != len(distinct) {
				t.Fatalf("%d rows, not %d", len(rows), len(distinct))
			}
		}
	}
}
