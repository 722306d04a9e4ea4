package wire

import (
	"math/bits"
	"unsafe"

	"dtl/core/memory"
)

// Fingerprint returns a number that, in all likelihood, differs where the bytes of two spans do. It is no secret hash:
// four lanes of multiply and fold, as in wyhash, at about the speed of memory.
func Fingerprint(s memory.Span) int64 {
	const k0, k1 = 0xa0761d6478bd642f, 0xe7037ed1a0b428db
	bytes := s.Bytes()
	words := unsafe.Slice((*uint64)(s.Addr), bytes/8)
	lanes := [4]uint64{k0, k1, k0 ^ k1, uint64(bytes)}
	for ; len(words) >= 4; words = words[4:] {
		lanes[0] = fold(lanes[0]^words[0], k0)
		lanes[1] = fold(lanes[1]^words[1], k0)
		lanes[2] = fold(lanes[2]^words[2], k0)
		lanes[3] = fold(lanes[3]^words[3], k0)
	}
	for _, w := range words {
		lanes[0] = fold(lanes[0]^w, k1)
	}
	for _, b := range unsafe.Slice((*byte)(s.Addr), bytes)[bytes&^7:] {
		lanes[1] = fold(lanes[1]^uint64(b), k1)
	}
	return int64(fold(fold(lanes[0], k1)^lanes[2], k0) ^ fold(fold(lanes[1], k0)^lanes[3], k1))
}

// fold keeps both halves of the product: no bit of a is lost unless it is zero.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo ^ a
}
