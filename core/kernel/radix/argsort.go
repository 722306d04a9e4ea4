package radix

import (
	"math/bits"

	"dtl/core/dtype"
	"dtl/core/memory"
)

// Argsort writes to dst, which is int64, where in s the elements are that come first, second and so on in an order: stably,
// with all NaNs equal. tmp is memory of as many words, whose contents are lost.
//
// One word is sorted for each element: as many bits of its key as a word has room for, above the bits of its place. Few
// elements differ only in what was left out; those are sorted by that.
func Argsort(dst, tmp, s memory.Span, o Order, workers Workers) {
	switch s.Type.Size() {
	case 1:
		argsort[uint8](dst, tmp, s, o, workers)
	case 2:
		argsort[uint16](dst, tmp, s, o, workers)
	case 4:
		argsort[uint32](dst, tmp, s, o, workers)
	default:
		argsort[uint64](dst, tmp, s, o, workers)
	}
}

func argsort[T words](dst, tmp, s memory.Span, o Order, workers Workers) {
	a, places := items[T](s), items[uint64](dst)
	if len(a) == 0 {
		return
	}
	x := indexing[T]{a: a, order: o, width: uint(bits.Len(uint(len(a) - 1)))}
	k, sorted := x.surveyAll(workers)
	if sorted {
		workers.over(len(a), workers.parts(len(a)), func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				places[i] = uint64(i)
			}
		})
		return
	}
	l := x.lead(k)
	workers.over(len(a), workers.parts(len(a)), func(_, lo, hi int) { x.packAll(places[lo:hi], lo, l) })
	x.sortPacked(places, items[uint64](tmp)[:len(a)], l, workers)
}

// indexing is one Indices.
type indexing[T words] struct {
	a     []T
	order Order
	width uint // of a place, in bits
}

// extent is between which keys some are, and in which bits they differ.
type extent struct{ least, most, differ uint64 }

// lead says which bits of keys are packed: those of how far keys are above the least one, from shift on.
type lead struct {
	least uint64
	shift uint
	whole bool // the others do not differ
}

func (x *indexing[T]) lead(k extent) lead {
	l := lead{least: k.least, shift: uint(bits.TrailingZeros64(k.differ)), whole: true}
	if room, long := 64-x.width, uint(bits.Len64(k.most-k.least)); long > l.shift+room {
		l.shift, l.whole = long-room, false
	}
	return l
}

// surveyAll returns the extent of all keys, and whether they are sorted.
func (x *indexing[T]) surveyAll(workers Workers) (k extent, sorted bool) {
	parts := workers.parts(len(x.a))
	all, ascend := make([]extent, parts), make([]bool, parts)
	first := x.order.rank(uint64(x.a[0]))
	workers.over(len(x.a), parts, func(part, lo, hi int) {
		before := uint64(0)
		if lo > 0 {
			before = x.order.rank(uint64(x.a[lo-1]))
		}
		all[part], ascend[part] = ranksOf(x.a[lo:hi], x.order, first, before)
	})
	k, sorted = all[0], ascend[0]
	for i, other := range all {
		k.least, k.most, k.differ = min(k.least, other.least), max(k.most, other.most), k.differ|other.differ
		sorted = sorted && ascend[i]
	}
	return k, sorted
}

// ranksOf returns the extent of some ranks, the bits in which they differ from the first of all included, and whether
// they are sorted, after the one before them.
func ranksOf[T words](a []T, o Order, first, before uint64) (k extent, sorted bool) {
	k, sorted = extent{least: ^uint64(0)}, true
	for _, v := range a {
		r := o.rank(uint64(v))
		k.least, k.most, k.differ = min(k.least, r), max(k.most, r), k.differ|(r^first)
		sorted = sorted && r >= before
		before = r
	}
	return k, sorted
}

// packAll packs the keys of elements from one on with their places.
func (x *indexing[T]) packAll(dst []uint64, from int, l lead) {
	order, width := x.order, x.width&63
	shift := l.shift & 63
	for i, v := range x.a[from : from+len(dst)] {
		dst[i] = (order.rank(uint64(v))-l.least)>>shift<<width | uint64(from+i)
	}
}

// sortPacked sorts words that have been packed, and leaves their places.
func (x *indexing[T]) sortPacked(words, tmp []uint64, l lead, workers Workers) {
	plain := NewOrder(dtype.Uint64, false)
	keysOf(words, tmp, &plain, workers, nil)
	parts := workers.parts(len(words))
	if l.whole {
		workers.over(len(words), parts, func(_, lo, hi int) { x.places(words[lo:hi]) })
		return
	}
	starts, long := make([]int, parts+1), make([][][2]int, parts)
	for part := range starts {
		starts[part] = x.runStart(words, len(words)*part/parts)
	}
	most := max(len(words)/4, chunk)
	workers.Each(parts, func(part int) {
		long[part] = x.sortTies(words, tmp, starts[part], starts[part+1], most)
	})
	for _, runs := range long {
		for _, run := range runs {
			x.sortPlaces(words[run[0]:run[1]], tmp[run[0]:run[1]], workers)
		}
	}
}

// places leaves the places of packed words.
func (x *indexing[T]) places(words []uint64) {
	mask := uint64(1)<<x.width - 1
	for i := range words {
		words[i] &= mask
	}
}

// runStart returns the first word from one on whose key's leading bits are not those of the word before it.
func (x *indexing[T]) runStart(words []uint64, from int) int {
	if from == 0 || from == len(words) {
		return from
	}
	plain := NewOrder(dtype.Uint64, false)
	return from + search(words[from:], &plain, words[from-1]|(uint64(1)<<x.width-1), true)
}

// sortTies sorts the words of a part of which the packed bits of keys are equal by their whole keys, and leaves places. It returns
// the bounds of runs that are longer than most, which it leaves as they are.
func (x *indexing[T]) sortTies(words, tmp []uint64, lo, hi, most int) (long [][2]int) {
	mask := uint64(1)<<x.width - 1
	for i := lo; i < hi; {
		w := words[i]
		words[i] = w & mask
		from, end := i, w|mask
		for i++; i < hi && words[i] <= end; i++ {
			words[i] &= mask
		}
		switch n := i - from; {
		case n == 1:
		case n <= few:
			x.insert(words[from:i])
		case n <= most:
			x.sortPlaces(words[from:i], tmp[from:i], Workers{})
		default:
			long = append(long, [2]int{from, i})
		}
	}
	return long
}

// insert sorts few places by the keys of their elements.
func (x *indexing[T]) insert(places []uint64) {
	for i := 1; i < len(places); i++ {
		v := places[i]
		k := x.order.rank(uint64(x.a[v]))
		j := i
		for ; j > 0 && x.order.rank(uint64(x.a[places[j-1]])) > k; j-- {
			places[j] = places[j-1]
		}
		places[j] = v
	}
}

// sortPlaces sorts places, which ascend, by the keys of their elements: again packed, the bits in which all are equal left out.
func (x *indexing[T]) sortPlaces(places, tmp []uint64, workers Workers) {
	k := extent{least: ^uint64(0)}
	first := x.order.rank(uint64(x.a[places[0]]))
	for _, at := range places {
		r := x.order.rank(uint64(x.a[at]))
		k.least, k.most, k.differ = min(k.least, r), max(k.most, r), k.differ|(r^first)
	}
	if k.differ == 0 {
		return
	}
	l := x.lead(k)
	for i, at := range places {
		places[i] = (x.order.rank(uint64(x.a[at]))-l.least)>>(l.shift&63)<<(x.width&63) | at
	}
	x.sortPacked(places, tmp, l, workers)
}
