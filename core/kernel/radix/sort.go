// Package radix sorts elements by keys: unsigned numbers that compare as the elements do. It also merges, searches and
// selects by keys.
package radix

import (
	"unsafe"

	"dtl/core/memory"
)

// What is sorted here are elements of up to eight bytes in an Order of their type, or records of sixteen, of dtype
// complex128: two words each, of which the first is the key in the order of uint64.

// Sort sorts elements in place. tmp is memory of as many bytes, whose contents are lost. Elements with equal keys keep
// their order, but for NaNs, which come in that of their bits.
func Sort(s, tmp memory.Span, o Order, workers Workers) {
	switch s.Type.Size() {
	case 1:
		sortWords[uint8](s, tmp, &o, workers)
	case 2:
		sortWords[uint16](s, tmp, &o, workers)
	case 4:
		sortWords[uint32](s, tmp, &o, workers)
	case 8:
		sortWords[uint64](s, tmp, &o, workers)
	default:
		radix(items[[2]uint64](s), items[[2]uint64](tmp), workers)
	}
}

// items returns a span's memory as items.
func items[T item](s memory.Span) []T {
	return unsafe.Slice((*T)(s.Addr), s.Bytes()/int(unsafe.Sizeof(*new(T))))
}

func sortWords[T words](s, tmp memory.Span, o *Order, workers Workers) {
	a := items[T](s)
	lost := keysOf(a, items[T](tmp), o, workers, o)
	restore(a, lost, o)
}

// keysOf puts sorted keys in the place of elements, or, with their order, the elements of these keys.
func keysOf[T words](a, tmp []T, o *Order, workers Workers, elements *Order) Signs {
	if len(a) == 0 {
		return nil
	}
	if sort := sorters[unsigned[unsafe.Sizeof(a[0])]]; sort != nil && len(a) > few {
		if floats := floatsOf(a, o, workers); floats != nil {
			sortFloats(a, floats, o, workers, elements)
			return nil
		}
		return sortedBy(sort, a, o, workers, elements)
	}
	if o.plain() {
		radix(a, tmp, workers)
		return nil
	}
	if len(a)*int(unsafe.Sizeof(a[0])) > cached {
		return spreadKeys(a, tmp, o, workers, elements)
	}
	found, lost := toKeys(a, o)
	if !found.sorted {
		radixKnown(a, tmp, elements)
	} else if elements != nil {
		fromKeys(a, elements)
	}
	return Signs{lost}
}

// SortToKeys is Sort that leaves the sorted keys, which compare as unsigned numbers do, and what FromKeys cannot know.
func SortToKeys(s, tmp memory.Span, o Order, workers Workers) Signs {
	switch s.Type.Size() {
	case 1:
		return keysOf(items[uint8](s), items[uint8](tmp), &o, workers, nil)
	case 2:
		return keysOf(items[uint16](s), items[uint16](tmp), &o, workers, nil)
	case 4:
		return keysOf(items[uint32](s), items[uint32](tmp), &o, workers, nil)
	case 8:
		return keysOf(items[uint64](s), items[uint64](tmp), &o, workers, nil)
	}
	radix(items[[2]uint64](s), items[[2]uint64](tmp), workers)
	return nil
}

// FromKeys puts elements in the place of their keys, zeros with the signs that they had; nil: all positive.
func FromKeys(s memory.Span, o Order, signs Signs, workers Workers) {
	switch s.Type.Size() {
	case 1:
		elementsOf(items[uint8](s), &o, signs, workers)
	case 2:
		elementsOf(items[uint16](s), &o, signs, workers)
	case 4:
		elementsOf(items[uint32](s), &o, signs, workers)
	case 8:
		elementsOf(items[uint64](s), &o, signs, workers)
	}
}

func elementsOf[T words](a []T, o *Order, signs Signs, workers Workers) {
	if o.plain() {
		return
	}
	workers.over(len(a), workers.parts(len(a)), func(_, lo, hi int) { fromKeys(a[lo:hi], o) })
	restore(a, signs, o)
}

// plain reports whether elements are their own keys.
func (o *Order) plain() bool { return o.sign == 0 && o.turn == 0 }

// search returns the number of sorted items whose keys are less, or with also not greater.
func search[T item](a []T, o *Order, key uint64, also bool) int {
	lo, hi := 0, len(a)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		k := o.key(word(&a[mid]))
		if k < key || also && k == key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// Search returns how many elements of a sorted span have keys less than one, or, with also, not greater.
func Search(s memory.Span, o Order, key uint64, also bool) int {
	switch s.Type.Size() {
	case 1:
		return search(items[uint8](s), &o, key, also)
	case 2:
		return search(items[uint16](s), &o, key, also)
	case 4:
		return search(items[uint32](s), &o, key, also)
	case 8:
		return search(items[uint64](s), &o, key, also)
	}
	return search(items[[2]uint64](s), &o, key, also)
}

// Sorted reports whether the elements are sorted. NaNs are equal to each other.
func Sorted(s memory.Span, o Order) bool {
	switch s.Type.Size() {
	case 1:
		return sorted(items[uint8](s), &o)
	case 2:
		return sorted(items[uint16](s), &o)
	case 4:
		return sorted(items[uint32](s), &o)
	}
	return sorted(items[uint64](s), &o)
}

func sorted[T item](a []T, o *Order) bool {
	order, last := *o, uint64(0)
	for i := range a {
		k := order.key(word(&a[i]))
		if k < last && k <= order.last {
			return false
		}
		last = k
	}
	return true
}
