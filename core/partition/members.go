package partition

import (
	"math/bits"

	"dtl/core/mix"
)

// members is a set of the indices in [0, size), which counts those below any quickly: a bit for each index, and the
// number of bits set before each chunk of words.
type members struct {
	words  []uint64
	before []int64
}

// chunk is how many words there are between two entries of before.
const chunk = 8

// newMembers returns the set of indices that a rank has by their hash. Its last word is never full.
func newMembers(size int64, rank, ranks int) *members {
	m := &members{words: make([]uint64, size/64+1), before: make([]int64, size/64/chunk+1)}
	// The rank's hashes are a range of all, which is quicker to ask than the rank of each.
	first := part(rank, ranks)
	width := part(rank+1, ranks) - first - 1 // less 1, because the whole has 2⁶⁴
	n := int64(0)
	for w := range m.words {
		if w%chunk == 0 {
			m.before[w/chunk] = n
		}
		base := int64(w) * 64
		count := min(64, size-base)
		word := uint64(0)
		for i := base + count - 1; i >= base; i-- {
			_, outside := bits.Sub64(width, mix.SplitMix64(uint64(i))-first, 0)
			word = word*2 + outside
		}
		word = ^word & (1<<count - 1)
		m.words[w] = word
		n += int64(bits.OnesCount64(word))
	}
	return m
}

// has reports whether index i is a member.
func (m *members) has(i int64) bool { return m.words[i/64]>>(i%64)&1 != 0 }

// below returns how many members there are below i.
func (m *members) below(i int64) int64 {
	last := i / 64
	n := m.before[last/chunk]
	for _, word := range m.words[last/chunk*chunk : last] {
		n += int64(bits.OnesCount64(word))
	}
	return n + int64(bits.OnesCount64(m.words[last]&(1<<(i%64)-1)))
}

// at returns the member that has n below it.
func (m *members) at(n int64) int64 {
	lo, hi := 0, len(m.before) // before[lo] <= n, and before[hi], if there is one, > n
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; m.before[mid] <= n {
			lo = mid
		} else {
			hi = mid
		}
	}
	n -= m.before[lo]
	w := lo * chunk
	for ; n >= int64(bits.OnesCount64(m.words[w])); w++ {
		n -= int64(bits.OnesCount64(m.words[w]))
	}
	word := m.words[w]
	for ; n > 0; n-- {
		word &= word - 1
	}
	return int64(w)*64 + int64(bits.TrailingZeros64(word))
}

// next returns the first index from i on that is a member, or, with flip all ones, that is none; 64 times the words if
// there is none such.
func (m *members) next(i int64, flip uint64) int64 {
	w := int(i / 64)
	word := (m.words[w] ^ flip) &^ (1<<(i%64) - 1)
	for word == 0 {
		if w++; w == len(m.words) {
			return int64(w) * 64
		}
		word = m.words[w] ^ flip
	}
	return int64(w)*64 + int64(bits.TrailingZeros64(word))
}
