package radix

import (
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/memory"
)

// Order maps elements to unsigned numbers, their keys, which compare as the elements sort: -0 and 0 have one key, and
// NaNs have the greatest, also where the order is descending. The zero Order takes elements for their own keys.
//
// The key of an element with the bits b is ((b ^ m) ^ turn) + add, where m is sign or, if b is negative, flip | sign.
type Order struct {
	top             uint8 // the number of the highest bit
	flip, sign      uint64
	zero            uint64 // the bits of -0; 0 where there is none
	turn, add, full uint64
	last            uint64 // the greatest key of what is no NaN
}

// NewOrder returns the order of a type that is not complex, ascending or descending.
func NewOrder(t dtype.Type, descending bool) Order {
	width := uint(8 * t.Size())
	full := ^uint64(0) >> (64 - width)
	o := Order{top: uint8(width - 1), full: full, last: full}
	if descending {
		o.turn = full
	}
	top := uint64(1) << (width - 1)
	if form := forms[t]; form.kind == signedKind {
		o.sign = top
	} else if form.kind == floatKind {
		o.sign, o.flip, o.zero = top, full, top
		infinity := form.infinity ^ top       // its bits, turned
		least := (form.infinity | top) ^ full // those of -infinity
		o.last = infinity - least
		o.add = -least & full
		if descending {
			o.add = infinity + 1
		}
	}
	return o
}

// unsigned has the type of unsigned numbers of so many bytes.
var unsigned = [...]dtype.Type{1: dtype.Uint8, 2: dtype.Uint16, 4: dtype.Uint32, 8: dtype.Uint64}

// KeyOrder returns the order of the keys of a type's elements, which are as long as they are.
func KeyOrder(t dtype.Type) Order { return NewOrder(unsigned[t.Size()], false) }

// kind says how the bits of a type compare.
type kind uint8

const (
	unsignedKind kind = iota
	signedKind
	floatKind
	unordered
)

// forms say how the bits of each type compare, and which are those of infinity.
var forms = [dtype.N]struct {
	kind     kind
	infinity uint64
}{
	dtype.Float64:    {floatKind, 0x7ff0000000000000},
	dtype.Float32:    {floatKind, 0x7f800000},
	dtype.Int64:      {signedKind, 0},
	dtype.Int32:      {signedKind, 0},
	dtype.Int16:      {signedKind, 0},
	dtype.Int8:       {signedKind, 0},
	dtype.Uint64:     {unsignedKind, 0},
	dtype.Uint32:     {unsignedKind, 0},
	dtype.Uint16:     {unsignedKind, 0},
	dtype.Uint8:      {unsignedKind, 0},
	dtype.Bool:       {unsignedKind, 0},
	dtype.Complex64:  {unordered, 0},
	dtype.Complex128: {unordered, 0},
}

// key returns the key of an element's bits.
func (o *Order) key(b uint64) uint64 {
	if b == o.zero {
		b = 0
	}
	return (((b ^ (-(b>>o.top)&o.flip | o.sign)) ^ o.turn) + o.add) & o.full
}

// bits returns the element of a key.
func (o *Order) bits(k uint64) uint64 {
	b := ((k - o.add) ^ o.turn) & o.full
	return b ^ ((b>>o.top-1)&o.flip | o.sign)
}

// words are the unsigned numbers that elements of up to eight bytes are.
type words interface {
	uint8 | uint16 | uint32 | uint64
}

// item is what is sorted: a word, or a word with another that goes with it.
type item interface {
	words | [2]uint64
}

// word returns an item's word.
func word[T item](x *T) uint64 {
	switch unsafe.Sizeof(*x) {
	case 1:
		return uint64(*(*uint8)(unsafe.Pointer(x)))
	case 2:
		return uint64(*(*uint16)(unsafe.Pointer(x)))
	case 4:
		return uint64(*(*uint32)(unsafe.Pointer(x)))
	}
	return *(*uint64)(unsafe.Pointer(x))
}

// Key returns the key of an element of a span.
func (o *Order) Key(s memory.Span, i int) uint64 {
	at := unsafe.Add(s.Addr, i*s.Type.Size())
	switch s.Type.Size() {
	case 1:
		return o.key(uint64(*(*uint8)(at)))
	case 2:
		return o.key(uint64(*(*uint16)(at)))
	case 4:
		return o.key(uint64(*(*uint32)(at)))
	}
	return o.key(*(*uint64)(at))
}

// Rank is Key with one number for all NaNs.
func (o *Order) Rank(s memory.Span, i int) uint64 { return min(o.Key(s, i), o.greatest()) }

// greatest returns what Rank is at most: the least key of a NaN, or the greatest key where there are none.
func (o *Order) greatest() uint64 {
	if o.last == o.full {
		return o.full
	}
	return o.last + 1
}

// Greatest returns a key that no element's exceeds.
func (o *Order) Greatest() uint64 { return o.full }

// Set writes the element of a key to a span.
func (o *Order) Set(s memory.Span, i int, key uint64) {
	b := o.bits(key)
	memory.Move(unsafe.Add(s.Addr, i*s.Type.Size()), unsafe.Pointer(&b), s.Type.Size()) // the lowest bytes come first
}

// LeastNaN returns the least key of a NaN.
func (o *Order) LeastNaN() uint64 { return o.last + 1 }

// Last returns the greatest key of what is no NaN.
func (o *Order) Last() uint64 { return o.last }
