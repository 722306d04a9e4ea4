package radix

import "dtl/core/memory"

// countBits is how many bits of a key Count tells apart.
const countBits = 12

// Range is the keys that start with some bits: all whose bits from Below on are Start.
type Range struct {
	Start uint64
	Below uint // how many bits are left
}

// All returns the range of all keys of an order.
func (o *Order) All() Range { return Range{Below: uint(o.top) + 1} }

// Parts returns how many ranges Count divides a range into.
func (r Range) Parts() int { return 1 << min(r.Below, countBits) }

// Part returns the n-th of them.
func (r Range) Part(n int) Range {
	bits := min(r.Below, countBits)
	return Range{Start: r.Start<<bits | uint64(n), Below: r.Below - bits}
}

// Count adds to counts how many elements have keys in each part of a range, and returns how many are NaNs.
func Count(counts []int64, s memory.Span, o Order, r Range) (nans int) {
	switch s.Type.Size() {
	case 1:
		return count(counts, items[uint8](s), o, r)
	case 2:
		return count(counts, items[uint16](s), o, r)
	case 4:
		return count(counts, items[uint32](s), o, r)
	}
	return count(counts, items[uint64](s), o, r)
}

func count[T words](counts []int64, a []T, o Order, r Range) (nans int) {
	bits := min(r.Below, countBits)
	below := r.Below - bits
	counts = counts[:1<<bits]
	for _, v := range a {
		k := o.key(uint64(v))
		if k > o.last {
			nans++
		}
		if k >>= below; k>>bits == r.Start {
			counts[k&(1<<countBits-1)&uint64(len(counts)-1)]++
		}
	}
	return nans
}

// Collect writes the keys of elements in a range to dst, which has room for them, and returns how many there are.
func Collect(dst []uint64, s memory.Span, o Order, r Range) int {
	switch s.Type.Size() {
	case 1:
		return collect(dst, items[uint8](s), o, r)
	case 2:
		return collect(dst, items[uint16](s), o, r)
	case 4:
		return collect(dst, items[uint32](s), o, r)
	}
	return collect(dst, items[uint64](s), o, r)
}

func collect[T words](dst []uint64, a []T, o Order, r Range) (n int) {
	for _, v := range a {
		if k := o.key(uint64(v)); k>>r.Below == r.Start {
			dst[n] = k
			n++
		}
	}
	return n
}
