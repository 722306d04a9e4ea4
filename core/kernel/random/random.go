// Package random draws random numbers: words of SFC64, and the integers and floats that they make.
package random

import (
	"math"
	"math/bits"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// Kind is what is drawn.
type Kind int64

// The kinds. Their numbers travel over the bridge.
const (
	Integers Kind = iota // from a least one on, each as likely as the others
	Floats               // from a least one on, up to but not including another
	kinds
)

// largest is the most numbers of a block: those that are left out take memory.
const largest = 1 << 24

// Range is which numbers are drawn.
type Range struct {
	Kind  Kind
	Least uint64 // the first of integers, or the bits of the float64 that is the first of floats
	Width uint64 // the last of integers minus the first, or the bits of the float64 by which floats are less than that much larger
}

// Check refuses a range of numbers that there are none of in an element type, and blocks of no numbers, or of too many.
func Check(t dtype.Type, r Range, block int64) error {
	if !t.Valid() || r.Kind < 0 || r.Kind >= kinds {
		return status.New(status.InvalidArgument, "kind %d of random numbers of %s does not exist", r.Kind, t)
	}
	if drawings[t][r.Kind] == nil {
		return status.New(status.InvalidType, "random numbers of kind %d are not of %s", r.Kind, t)
	}
	if block < 1 || block > largest {
		return status.New(status.InvalidArgument, "blocks of %d random numbers: %d outside [1, %d]", block, block, largest)
	}
	return nil
}

// Fill draws the numbers of a stream from the index first on. Blocks have so many numbers each; those of the
// first block before first are left out, and of the last one those that have no room.
func Fill(dst memory.Span, r Range, s Stream, block, first int64) error {
	if err := Check(dst.Type, r, block); err != nil {
		return err
	}
	if first < 0 {
		return status.New(status.OutOfBounds, "random number %d is before the first", first)
	}
	draw := drawings[dst.Type][r.Kind]
	number, skip := uint64(first/block), int(first%block)
	for at := 0; at < dst.Count; number++ {
		n, start := min(int(block)-skip, dst.Count-at), s.Start(number)
		draw(dst.Slice(at, at+n), r, words{start[0], start[1], start[2], start[3]}, skip)
		at, skip = at+n, 0
	}
	return nil
}

// words is the state of SFC64, the generator of Doty-Humphrey's PractRand. It is small enough to be kept in registers.
type words struct{ a, b, c, counter uint64 }

// next returns a word, and the state after it.
func (s words) next() (uint64, words) {
	word := s.a + s.b + s.counter
	return word, words{s.b ^ s.b>>11, s.c + s.c<<3, bits.RotateLeft64(s.c, 24) + word, s.counter + 1}
}

// drawing fills a span with the numbers of a block after the first ones.
type drawing func(dst memory.Span, r Range, s words, skip int)

var drawings = [dtype.N][kinds]drawing{
	dtype.Float64:    {Floats: skipping(float64s)},
	dtype.Float32:    {Floats: skipping(float32s)},
	dtype.Int64:      {Integers: skipping(integers[int64])},
	dtype.Int32:      {Integers: skipping(integers[int32])},
	dtype.Int16:      {Integers: skipping(integers[int16])},
	dtype.Int8:       {Integers: skipping(integers[int8])},
	dtype.Uint64:     {Integers: skipping(integers[uint64])},
	dtype.Uint32:     {Integers: skipping(integers[uint32])},
	dtype.Uint16:     {Integers: skipping(integers[uint16])},
	dtype.Uint8:      {Integers: skipping(integers[uint8])},
	dtype.Bool:       {Integers: skipping(integers[uint8])},
	dtype.Complex64:  {},
	dtype.Complex128: {},
}

// skipping returns what draws the first numbers, too, and leaves them out: how many words they take, nobody knows before.
func skipping[T kernel.Ordered](fill func(dst []T, r Range, s words)) drawing {
	return func(dst memory.Span, r Range, s words, skip int) {
		to := memory.As[T](dst)
		if skip == 0 {
			fill(to, r, s)
			return
		}
		all := make([]T, skip+len(to))
		fill(all, r, s)
		copy(to, all[skip:])
	}
}

// integers draws whole numbers. Powers of two take as many bits of a word; others are the upper half of a product with half
// a word, or a whole one, without those that would make some likelier (Lemire 2019, "Fast random integer generation in an
// interval").
func integers[T kernel.Integer](dst []T, r Range, s words) {
	switch w := r.Width; {
	case w&(w+1) != 0 && w > math.MaxUint32:
		byWords(dst, r, s)
	case w&(w+1) != 0:
		byHalves(dst, r, s)
	case w <= math.MaxUint8:
		byBits(dst, r, s, 8)
	case w <= math.MaxUint16:
		byBits(dst, r, s, 16)
	case w <= math.MaxUint32:
		byBits(dst, r, s, 32)
	default:
		byBits(dst, r, s, 64)
	}
}

// byBits takes numbers out of parts of words, the lowest first.
func byBits[T kernel.Integer](dst []T, r Range, s words, width uint) {
	var word uint64
	each := int(64 / width)
	if width == 8 {
		dst, s = byBytes(dst, r, s)
	}
	for len(dst) >= each {
		word, s = s.next()
		for i := range dst[:each] {
			dst[i] = T(r.Least + word&r.Width)
			word >>= width & 63
		}
		dst = dst[each:]
	}
	word, _ = s.next()
	for i := range dst {
		dst[i] = T(r.Least + word&r.Width)
		word >>= width & 63
	}
}

// byBytes takes eight numbers out of each word as long as there is room for so many, and returns the rest.
func byBytes[T kernel.Integer](dst []T, r Range, s words) ([]T, words) {
	var w uint64
	least, mask := r.Least, r.Width
	for ; len(dst) >= 8; dst = dst[8:] {
		w, s = s.next()
		to := dst[:8:8]
		to[0], to[1], to[2], to[3] = T(least+w&mask), T(least+w>>8&mask), T(least+w>>16&mask), T(least+w>>24&mask)
		to[4], to[5], to[6], to[7] = T(least+w>>32&mask), T(least+w>>40&mask), T(least+w>>48&mask), T(least+w>>56&mask)
	}
	return dst, s
}

// byHalves makes a number of each half of a word, the lower one first, but for those that are left out.
func byHalves[T kernel.Integer](dst []T, r Range, s words) {
	count, least := r.Width+1, r.Least
	limit := uint32((uint64(1) << 32) % count)
	var word uint64
	i := 0
	for i+1 < len(dst) {
		word, s = s.next()
		low, high := (word&math.MaxUint32)*count, (word>>32)*count
		dst[i] = T(least + low>>32)
		if uint32(low) >= limit {
			i++
		}
		dst[i] = T(least + high>>32)
		if uint32(high) >= limit {
			i++
		}
	}
	for i < len(dst) {
		word, s = s.next()
		for _, half := range [2]uint64{word & math.MaxUint32, word >> 32} {
			if x := half * count; i < len(dst) && uint32(x) >= limit {
				dst[i] = T(least + x>>32)
				i++
			}
		}
	}
}

// byWords makes a number of each word, but for those that are left out.
func byWords[T kernel.Integer](dst []T, r Range, s words) {
	count := r.Width + 1
	limit := -count % count
	var word uint64
	for i := 0; i < len(dst); {
		word, s = s.next()
		if high, low := bits.Mul64(word, count); low >= limit {
			dst[i] = T(r.Least + high)
			i++
		}
	}
}

// float64s makes a number of 53 bits of each word.
func float64s(dst []float64, r Range, s words) {
	least, width := math.Float64frombits(r.Least), math.Float64frombits(r.Width)
	var word uint64
	for i := range dst {
		word, s = s.next()
		dst[i] = least + float64(float64(word>>11)*0x1p-53*width)
	}
}

// float32s makes a number of 24 bits of each half of a word, the lower one first.
func float32s(dst []float32, r Range, s words) {
	least, width := float32(math.Float64frombits(r.Least)), float32(math.Float64frombits(r.Width))
	var word uint64
	for i := range dst {
		if i&1 == 0 {
			word, s = s.next()
		} else {
			word >>= 32
		}
		dst[i] = least + float32(float32(uint32(word)>>8)*0x1p-24*width)
	}
}
