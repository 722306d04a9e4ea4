package radix

import "math/bits"

// Signs has the signs of the zeros among some elements, in the order of the elements.
type Signs []signs

// Negative reports whether there is a zero with a sign.
func (s Signs) Negative() bool {
	for _, part := range s {
		if part.negative > 0 {
			return true
		}
	}
	return false
}

// signs has the signs of the zeros of one part.
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

// found is what is known of a part of the keys.
type found struct {
	first, last uint64
	differ      uint64 // the bits in which they differ
	sorted      bool
}

// toKeys puts keys in the place of elements, and returns what it found, and the signs that are lost.
func toKeys[T words](a []T, o *Order) (f found, lost signs) {
	order := *o
	first := order.key(uint64(a[0]))
	last, later := first, uint64(0)
	for i, v := range a {
		b := uint64(v)
		if b&^order.zero == 0 && order.zero != 0 {
			lost.add(b != 0)
		}
		k := order.key(b)
		a[i] = T(k)
		f.differ |= k ^ first
		_, less := bits.Sub64(k, last, 0)
		later |= less
		last = k
	}
	f.first, f.last, f.sorted = first, last, later == 0
	return f, lost
}

// countKeys counts the keys of each cell, and returns what toKeys does.
func countKeys[T words](a []T, o *Order, c *cells, count []uint32) (f found, lost signs) {
	order, rows, row, rest := *o, &c.rows, c.row, c.rest
	first := order.key(uint64(a[0]))
	last, later := first, uint64(0)
	for _, v := range a {
		b := uint64(v)
		if b&^order.zero == 0 && order.zero != 0 {
			lost.add(b != 0)
		}
		k := order.key(b)
		count[cellOf(rows, row, rest, k)]++
		f.differ |= k ^ first
		_, less := bits.Sub64(k, last, 0)
		later |= less
		last = k
	}
	f.first, f.last, f.sorted = first, last, later == 0
	return f, lost
}

func fromKeys[T words](a []T, o *Order) {
	order := *o
	for i, v := range a {
		a[i] = T(order.bits(uint64(v)))
	}
}

// writeElements writes elements to another place than their keys.
func writeElements[T words](dst, keys []T, o *Order) {
	order := *o
	dst = dst[:len(keys)]
	for i, v := range keys {
		dst[i] = T(order.bits(uint64(v)))
	}
}

// merged returns what is known of all parts.
func merged(all []found) (differ uint64, sorted bool) {
	sorted = true
	for part, f := range all {
		differ |= f.differ | (f.first ^ all[0].first)
		sorted = sorted && f.sorted && (part == 0 || all[part-1].last <= f.first)
	}
	return differ, sorted
}

// restore gives sorted zeros the signs that they had.
func restore[T words](a []T, lost Signs, o *Order) {
	if !lost.Negative() {
		return
	}
	at := search(a, o, o.key(0), false)
	for _, s := range lost {
		for i := range s.zeros {
			if s.bits[i>>6]>>(i&63)&1 != 0 {
				a[at+i] = T(o.zero)
			}
		}
		at += s.zeros
	}
}
