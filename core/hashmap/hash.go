package hashmap

import (
	"math"
	"math/bits"
	"unsafe"

	"dtl/core/mix"
)

// The hash of a key of 1, 2, 4 or 8 bytes, taken as an unsigned number, is the output of SplitMix64 (Steele, Lea and
// Flood, OOPSLA 2014) for that state: a bijection in which each bit of the key flips about half of the hash's. Longer
// keys, and those of other widths, are folded word by word with the 128-bit product of wyhash, and the result goes
// through SplitMix64. It depends on the key's bytes alone, not on the process, and is no secret: who chooses the keys can
// make them collide.
//
// Three parts of the hash say three things, and share no bit as long as a table has fewer than 2³² groups: bits 31 down
// which rank owns the key, bits 63 down where in the rank's table it lies, bits 6 to 0 its tag there.
const wy = 0xa0761d6478bd642f

// hashBytes hashes n bytes, n at least 1.
func hashBytes(p unsafe.Pointer, n int) uint64 {
	h := uint64(n) * mix.Golden
	if n < 8 {
		w := uint64(0)
		for i, b := range unsafe.Slice((*byte)(p), n) {
			w |= uint64(b) << (8 * i)
		}
		return mix.SplitMix64(h ^ w)
	}
	for _, w := range unsafe.Slice((*uint64)(p), (n-1)/8) {
		h = fold(h ^ w)
	}
	last := *(*uint64)(unsafe.Add(p, n-8)) // overlaps the word before it where n is no multiple of 8
	return mix.SplitMix64(fold(h ^ last))
}

// fold folds the halves of a product into one word. It keeps its argument, so that nothing is lost where that is zero.
func fold(x uint64) uint64 {
	hi, lo := bits.Mul64(x, wy)
	return hi ^ lo ^ x
}

// ownerOf returns which of the ranks has the keys of a hash.
func ownerOf(hash uint64, ranks uint64) int { return int(hash & math.MaxUint32 * ranks >> 32) }

// rangeOf returns which of n equal ranges of places in the table a hash falls into.
func rangeOf(hash uint64, n uint64) int { return int(hash >> 32 * n >> 32) }

// word is a key that fits a register.
type word interface {
	uint8 | uint16 | uint32 | uint64
}

// hashWords sets into[i] to the hash of key i.
func hashWords[K word](keys unsafe.Pointer, _ int, into []uint64) {
	for i, k := range unsafe.Slice((*K)(keys), len(into)) {
		into[i] = mix.SplitMix64(uint64(k))
	}
}

// hashWide returns the hash of keys of any width, as hashWords does of words.
func hashWide(keys unsafe.Pointer, width int, into []uint64) {
	for i := range into {
		into[i] = hashBytes(unsafe.Add(keys, i*width), width)
	}
}

// hashFloats hashes float64 as they are kept: equal numbers have equal bits, and every NaN is the same key.
func hashFloats(keys unsafe.Pointer, _ int, into []uint64) {
	for i, k := range unsafe.Slice((*float64)(keys), len(into)) {
		into[i] = mix.SplitMix64(canonical(k))
	}
}

// canonical returns the bits that stand for all floats that are one key: -0 is 0, and NaN is NaN.
func canonical(f float64) uint64 {
	if f != f {
		return 0x7ff8000000000000
	}
	return math.Float64bits(f + 0) // -0 + 0 is 0
}
