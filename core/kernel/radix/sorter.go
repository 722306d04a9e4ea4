package radix

import (
	"slices"
	"unsafe"

	"dtl/core/dtype"
)

// sorter sorts numbers in place.
type sorter func(first unsafe.Pointer, n int)

// sampled is of how many words the middle one is where the others are divided.
const sampled = 4095

// sorters has the functions that SetSorter has set.
var sorters [dtype.N]sorter

// SetSorter says how else to sort numbers of a type, Uint32, Uint64 or Float64, in place: by a library that is faster here than the
// loops of this package. Nil takes that back. Nothing may be sorted meanwhile. Results are the same: equal words are, and floats are
// sorted so only if SetDistinct has said how to know that equal ones are equal words.
func SetSorter(t dtype.Type, sort func(first unsafe.Pointer, n int)) { sorters[t] = sort }

// distinct is what SetDistinct has set.
var distinct func(first unsafe.Pointer, n int) bool

// SetDistinct says how to know that of some float64 none is NaN or -0. Nil takes that back.
func SetDistinct(f func(first unsafe.Pointer, n int) bool) { distinct = f }

// number is what sorters sort.
type number interface{ words | float64 }

// sortedBy puts sorted keys, or with their order elements, in the place of elements by a sorter. Several workers first divide them
// into less and more, so that each has its own.
func sortedBy[T words](sort sorter, a []T, o *Order, workers Workers, elements *Order) Signs {
	if natural(a, o, workers) {
		above := T(o.key(0))
		plain := NewOrder(dtype.Uint64, false)
		sortedBy(sort, a, &plain, workers, nil)
		if elements == nil {
			workers.over(len(a), workers.parts(len(a)), func(_, lo, hi int) { raise(a[lo:hi], above) })
		}
		return nil
	}
	parts := workers.parts(len(a))
	lost, all := make(Signs, parts), make([]found, parts)
	workers.over(len(a), parts, func(part, lo, hi int) { all[part], lost[part] = asKeys(a[lo:hi], o) })
	if _, sorted := merged(all); !sorted {
		sortPieces(sort, a, workers)
	}
	if elements != nil {
		workers.over(len(a), parts, func(_, lo, hi int) { asElements(a[lo:hi], elements) })
	}
	return lost
}

// sortPieces sorts numbers by a sorter, in pieces that it divides them into.
func sortPieces[T number](sort sorter, a []T, workers Workers) {
	pieces := [][]T{a}
	for len(pieces) < min(workers.Size, len(a)/chunk) {
		pieces = divide(pieces, sort, workers)
	}
	workers.Each(len(pieces), func(i int) {
		if len(pieces[i]) > 0 {
			sort(unsafe.Pointer(&pieces[i][0]), len(pieces[i]))
		}
	})
}

// floatsOf returns elements as the float64 that they are, if these sort as their keys do: upwards, where none is NaN or -0. Processors
// with registers of 32 bytes compare floats faster than unsigned numbers.
func floatsOf[T words](a []T, o *Order, workers Workers) []float64 {
	if sorters[dtype.Float64] == nil || distinct == nil || o.zero == 0 || o.top != 63 || o.turn != 0 {
		return nil
	}
	parts := workers.parts(len(a))
	known := make([]bool, parts)
	workers.over(len(a), parts, func(part, lo, hi int) { known[part] = distinct(unsafe.Pointer(&a[lo]), hi-lo) })
	if slices.Contains(known, false) {
		return nil
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(&a[0])), len(a))
}

// sortFloats puts sorted floats, or their sorted keys, in the place of floats.
func sortFloats[T words](a []T, floats []float64, o *Order, workers Workers, elements *Order) {
	parts := workers.parts(len(a))
	sorted := make([]bool, parts)
	workers.over(len(a), parts, func(part, lo, hi int) { sorted[part] = slices.IsSorted(floats[lo:min(hi+1, len(a))]) })
	if slices.Contains(sorted, false) {
		sortPieces(sorters[dtype.Float64], floats, workers)
	}
	if elements == nil {
		var none signs
		workers.over(len(a), parts, func(_, lo, hi int) { floatKeys(a[lo:hi], *o, &none) })
	}
}

// divide divides each piece into two of about one size, of which the first has the lesser words.
func divide[T number](pieces [][]T, sort sorter, workers Workers) [][]T {
	halves := make([][]T, 2*len(pieces))
	within := workers
	if len(pieces) > 1 {
		within = Workers{} // they are divided side by side
	}
	workers.Each(len(pieces), func(i int) {
		n := divideOne(pieces[i], sort, within)
		halves[2*i], halves[2*i+1] = pieces[i][:n], pieces[i][n:]
	})
	return halves
}

// divideOne moves the lesser words before the others, and returns how many they are. Each worker does so with a part; then
// what is on the wrong side changes places.
func divideOne[T number](a []T, sort sorter, workers Workers) int {
	if len(a) < 2 {
		return 0
	}
	pivot, parts := middle(a, sort), workers.parts(len(a))
	less, total := make([]int, parts), 0
	workers.over(len(a), parts, func(part, lo, hi int) { less[part] = below(a[lo:hi], pivot) })
	for _, n := range less {
		total += n
	}
	var high, low [][]T // words that are not less before total, and those that are after it
	for part, n := range less {
		lo, hi := len(a)*part/parts, len(a)*(part+1)/parts
		if mid := lo + n; mid < total {
			high = append(high, a[mid:min(hi, total)])
		}
		if from := max(lo, total); from < lo+n {
			low = append(low, a[from:lo+n])
		}
	}
	exchange(high, low, workers)
	return total
}

// exchange changes the words of high with those of low, which are as many, in tasks of a chunk at most.
func exchange[T number](high, low [][]T, workers Workers) {
	var both [][2][]T
	for len(high) > 0 && len(low) > 0 {
		n := min(len(high[0]), len(low[0]), chunk)
		both = append(both, [2][]T{high[0][:n], low[0][:n]})
		if high[0] = high[0][n:]; len(high[0]) == 0 {
			high = high[1:]
		}
		if low[0] = low[0][n:]; len(low[0]) == 0 {
			low = low[1:]
		}
	}
	workers.Each(len(both), func(i int) {
		x, y := both[i][0], both[i][1]
		for j := range x {
			x[j], y[j] = y[j], x[j]
		}
	})
}

// middle returns about the median: on average, half a percent of the words lie between both.
func middle[T number](a []T, sort sorter) T {
	some := make([]T, min(len(a), sampled))
	for i := range some {
		some[i] = a[len(a)/len(some)*i+len(a)%len(some)*i/len(some)]
	}
	sort(unsafe.Pointer(&some[0]), len(some))
	return some[len(some)/2]
}

// below moves the words that are less than one before the others, and returns how many they are. It has no branch that
// depends on them.
func below[T number](a []T, pivot T) int {
	n := 0
	for i, v := range a {
		less := 0
		if v < pivot {
			less = 1
		}
		a[i] = a[n]
		a[n] = v
		n += less
	}
	return n
}

// asKeys is toKeys that does not say which bits differ.
func asKeys[T words](a []T, o *Order) (f found, lost signs) {
	order, last := *o, uint64(0)
	f.sorted = true
	for _, v := range a {
		k := order.key(uint64(v))
		if k < last {
			f.sorted = false
			break
		}
		last = k
	}
	switch {
	case o.plain():
	case o.zero == 0: // no number has two keys, and none is infinite
		turn := T(o.sign ^ o.turn)
		for i := range a {
			a[i] ^= turn
		}
	default:
		floatKeys(a, order, &lost)
	}
	f.first, f.last = word(&a[0]), word(&a[len(a)-1])
	return f, lost
}

// floatKeys puts keys in the place of elements that have signs.
func floatKeys[T words](a []T, o Order, lost *signs) {
	zero, top := T(o.zero), o.top
	negative, positive, add := T((o.flip|o.sign)^o.turn), T(o.sign^o.turn), T(o.add)
	for i, b := range a {
		if b&^zero == 0 {
			lost.add(b != 0)
			b = 0
		}
		m := -(b >> top)
		a[i] = (b ^ (m&negative | ^m&positive)) + add
	}
}

// asElements is fromKeys, faster where keys differ from elements by the same bits.
func asElements[T words](a []T, o *Order) {
	if o.zero != 0 {
		fromKeys(a, o)
		return
	}
	turn := T(o.sign ^ o.turn)
	for i := range a {
		a[i] ^= turn
	}
}

// raise adds the same to all words.
func raise[T words](a []T, by T) {
	for i := range a {
		a[i] += by
	}
}

// natural reports whether elements sort as their bits do, of which their keys differ by the same: no bit is turned, and none
// of them is negative.
func natural[T words](a []T, o *Order, workers Workers) bool {
	if o.turn != 0 || o.sign == 0 {
		return false
	}
	parts := workers.parts(len(a))
	negative := make([]bool, parts)
	workers.over(len(a), parts, func(part, lo, hi int) { negative[part] = anyHas(a[lo:hi], T(o.sign)) })
	return !slices.Contains(negative, true)
}

// anyHas reports whether any word has a bit.
func anyHas[T words](a []T, bit T) bool {
	for len(a) >= 8 {
		var some T
		n := min(len(a), 4096) &^ 7
		for x := a[:n]; len(x) >= 8; x = x[8:] {
			y := (*[8]T)(x)
			some |= y[0] | y[1] | y[2] | y[3] | y[4] | y[5] | y[6] | y[7]
		}
		if some&bit != 0 {
			return true
		}
		a = a[n:]
	}
	for _, v := range a {
		if v&bit != 0 {
			return true
		}
	}
	return false
}
