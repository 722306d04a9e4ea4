package radix

import (
	"math"
	"math/bits"

	"dtl/core/memory"
)

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
	if len(a) >= 1<<14 && len(a) < math.MaxUint32 {
		return countInTurn(counts, a, o, r)
	}
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

// countInTurn is count with a table for every other element: equal ones that follow each other do not wait for one number.
func countInTurn[T words](counts []int64, a []T, o Order, r Range) (nans int) {
	var even, odd [1 << countBits]uint32
	bits := min(r.Below, countBits)
	below, mask := r.Below-bits, uint64(1)<<bits-1
	counts = counts[:1<<bits]
	for i := 0; i+1 < len(a); i += 2 {
		x, y := o.key(uint64(a[i])), o.key(uint64(a[i+1]))
		if x > o.last {
			nans++
		}
		if y > o.last {
			nans++
		}
		x, y = x>>below, y>>below
		first, second := uint32(0), uint32(0)
		if x>>bits == r.Start {
			first = 1
		}
		if y>>bits == r.Start {
			second = 1
		}
		even[x&mask&(1<<countBits-1)] += first // no branch: half of the elements may be in the range, in any order
		odd[y&mask&(1<<countBits-1)] += second
	}
	for i := range counts {
		counts[i] += int64(even[i]) + int64(odd[i])
	}
	return nans + count(counts, a[len(a)&^1:], o, r)
}

// Between writes the keys of elements that are not outside [lo, hi] to dst, which has room for those of all, and returns how many there
// are, how many elements have lesser ones, and how many are NaNs.
func Between(dst []uint64, s memory.Span, o Order, lo, hi uint64) (inside, less, nans int) {
	switch s.Type.Size() {
	case 1:
		return between(dst, items[uint8](s), o, lo, hi)
	case 2:
		return between(dst, items[uint16](s), o, lo, hi)
	case 4:
		return between(dst, items[uint32](s), o, lo, hi)
	}
	return between(dst, items[uint64](s), o, lo, hi)
}

func between[T words](dst []uint64, a []T, o Order, lo, hi uint64) (inside, less, nans int) {
	width, last := hi-lo, o.last
	var all uint64
	for _, v := range a {
		k := o.key(uint64(v))
		_, below := bits.Sub64(k, lo, 0) // no branch: about half of the elements are less, in any order
		all += below
		if k-lo <= width {
			dst[inside] = k
			inside++
		}
		if k > last {
			nans++
		}
	}
	return inside, int(all), nans
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
