package hashmap

import (
	"fmt"
	"math"
	"math/bits"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"dtl/core/mix"
)

// TestEveryByteCounts flips each bit of keys of every width: about half of the hash's bits change, in each of its parts.
func TestEveryByteCounts(t *testing.T) {
	for _, width := range []int{3, 5, 6, 7, 9, 12, 15, 16, 17, 24, 40, 100} {
		key := make([]byte, width)
		for i := range key {
			key[i] = 'a'
		}
		was := hashBytes(unsafe.Pointer(&key[0]), width)
		changed := 0
		for bit := range 8 * width {
			key[bit/8] ^= 1 << (bit % 8)
			now := hashBytes(unsafe.Pointer(&key[0]), width)
			key[bit/8] ^= 1 << (bit % 8)
			for _, part := range []uint64{was ^ now, (was ^ now) >> 32} {
				assert.Greater(t, bits.OnesCount32(uint32(part)), 4, "bit %d of %d bytes", bit, width)
			}
			changed += bits.OnesCount64(was ^ now)
		}
		assert.InDelta(t, 32, float64(changed)/float64(8*width), 4, "%d bytes", width)
	}
}

// TestOwnersAndPlacesAreEvenAndIndependent deals neighbouring numbers out to ranks, and those of one rank to ranges.
func TestOwnersAndPlacesAreEvenAndIndependent(t *testing.T) {
	const keys, ranks, ranges = 200_000, 7, 16
	var counts [ranks][ranges]int
	for key := range uint64(keys) {
		hash := mix.SplitMix64(key)
		counts[ownerOf(hash, ranks)][rangeOf(hash, ranges)]++
	}
	for rank := range counts {
		for _, n := range counts[rank] {
			assert.InDelta(t, keys/ranks/ranges, n, 250, "rank %d", rank)
		}
	}
}

func TestCanonicalFloats(t *testing.T) {
	assert.Equal(t, canonical(0), canonical(math.Copysign(0, -1)))
	assert.Zero(t, canonical(0))
	assert.Equal(t, canonical(math.NaN()), canonical(math.Float64frombits(0xfff0000000000001)))
	for _, f := range []float64{1, -1, math.Inf(1), math.Inf(-1), math.SmallestNonzeroFloat64, math.MaxFloat64} {
		assert.Equal(t, math.Float64bits(f), canonical(f))
	}
}

// TestControl checks the sets of slots of a word against its bytes.
func TestControl(t *testing.T) {
	tags := []uint8{0, erased, 0x80, 0x81, 0xff, 0xfe, 0xc0}
	for n := range 7 * 7 * 7 * 7 {
		var slots [8]uint8
		for i, m := 0, n; i < 8; i++ {
			slots[i] = tags[m%7]
			if m /= 7; m == 0 {
				m = n * (i + 3)
			}
		}
		c := *(*control)(unsafe.Pointer(&slots))
		members := func(s set) (list []int) {
			for ; s != 0; s = s.rest() {
				list = append(list, s.first())
			}
			return list
		}
		that := func(f func(slot uint8) bool) (list []int) {
			for i, slot := range slots {
				if f(slot) {
					list = append(list, i)
				}
			}
			return list
		}
		assert.Equal(t, that(func(s uint8) bool { return s == 0 }), members(c.empty()))
		assert.Equal(t, that(func(s uint8) bool { return s < 0x80 }), members(c.free()))
		assert.Equal(t, that(func(s uint8) bool { return s >= 0x80 }), members(c.full()))
		for _, tag := range tags[2:] {
			like := members(c.with(tag))
			assert.Subset(t, like, that(func(s uint8) bool { return s == tag }), fmt.Sprintf("%x", slots))
			assert.NotContains(t, that(func(s uint8) bool { return s < 0x80 }), like, "a slot without an entry")
		}
	}
}
