package kernel

import (
	"unsafe"

	"dtl/core/memory"
)

// What is sorted here are elements of up to eight bytes in an Order of their type, or records of sixteen, of dtype
// complex128: two words each, of which the first is the key in the order of uint64.

// Sort sorts elements in place. tmp is memory of as many bytes, whose contents are lost. Elements with equal keys keep
// their order, but for NaNs, which come in that of their bits.
func Sort(s, tmp memory.Span, o Order, crew Crew) {
	switch s.Type.Size() {
	case 1:
		sortWords[uint8](s, tmp, &o, crew)
	case 2:
		sortWords[uint16](s, tmp, &o, crew)
	case 4:
		sortWords[uint32](s, tmp, &o, crew)
	case 8:
		sortWords[uint64](s, tmp, &o, crew)
	default:
		radix(items[[2]uint64](s), items[[2]uint64](tmp), crew)
	}
}

// items returns a span's memory as items.
func items[T item](s memory.Span) []T {
	return unsafe.Slice((*T)(s.Addr), s.Bytes()/int(unsafe.Sizeof(*new(T))))
}

func sortWords[T words](s, tmp memory.Span, o *Order, crew Crew) {
	a := items[T](s)
	parts := crew.parts(len(a))
	signs := make([]signs, parts)
	if !o.plain() {
		crew.over(len(a), parts, func(part, lo, hi int) { signs[part] = toKeys(a[lo:hi], o) })
	}
	radix(a, items[T](tmp), crew)
	if !o.plain() {
		crew.over(len(a), parts, func(_, lo, hi int) { fromKeys(a[lo:hi], o) })
		restore(a, signs, o)
	}
}

// plain reports whether elements are their own keys.
func (o *Order) plain() bool { return o.sign == 0 && o.turn == 0 }

// signs are those of the zeros of some elements, in their order.
type signs struct {
	zeros, negative int
	bits            []uint64
}

func (s *signs) add(negative bool) {
	if s.zeros&63 == 0 {
		s.bits = append(s.bits, 0)
	}
	if negative {
		s.bits[s.zeros>>6] |= 1 << (s.zeros & 63)
		s.negative++
	}
	s.zeros++
}

// toKeys puts keys in the place of elements, and returns the signs that are lost.
func toKeys[T words](a []T, o *Order) (lost signs) {
	order := *o
	for i, v := range a {
		b := uint64(v)
		if b&^order.zero == 0 && order.zero != 0 {
			lost.add(b != 0)
		}
		a[i] = T(order.key(b))
	}
	return lost
}

func fromKeys[T words](a []T, o *Order) {
	order := *o
	for i, v := range a {
		a[i] = T(order.bits(uint64(v)))
	}
}

// restore gives sorted zeros the signs that they had.
func restore[T words](a []T, lost []signs, o *Order) {
	at := -1
	for _, s := range lost {
		if s.negative > 0 && at < 0 {
			at = search(a, o, o.key(0), false)
		}
	}
	if at < 0 {
		return
	}
	for _, s := range lost {
		for i := range s.zeros {
			if s.bits[i>>6]>>(i&63)&1 != 0 {
				a[at+i] = T(o.zero)
			}
		}
		at += s.zeros
	}
}

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
