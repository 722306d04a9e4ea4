package hashmap

import "math/bits"

// A group is 8 slots: a control word of one byte for each, then 8 keys, then 8 values. A control byte is 0 where the
// slot has never been used since the segment was made, 1 where an entry was erased, and else a tag: the highest bit and
// seven bits of the hash. So fresh memory is an empty table, and one comparison of words picks the slots worth a look.
type control uint64

const (
	slots = 8
	ones  = 0x0101010101010101
	tops  = 0x8080808080808080

	erased = 1
)

// tagOf returns the control byte of an entry.
func tagOf(hash uint64) uint8 { return 0x80 | uint8(hash) }

// set of slots: the highest bit of each byte that is in it.
type set uint64

// with returns the slots that may have a tag: all that do, and rarely one more, whose key then differs.
func (c control) with(tag uint8) set {
	x := uint64(c) ^ ones*uint64(tag)
	return set((x - ones) &^ x & tops)
}

// empty returns the slots that were never used: neither the highest nor the lowest bit is set.
func (c control) empty() set { return set(^(uint64(c) | uint64(c)<<7) & tops) }

// free returns the slots without an entry.
func (c control) free() set { return set(^uint64(c) & tops) }

// full returns the slots with an entry.
func (c control) full() set { return set(uint64(c) & tops) }

// first returns the lowest slot of a set that is not empty.
func (s set) first() int { return bits.TrailingZeros64(uint64(s)) >> 3 }

// rest returns the set without its first slot.
func (s set) rest() set { return s & (s - 1) }
