package kernel

import (
	"math/bits"
	"unsafe"
)

// few items are sorted by insertion.
const few = 40

// cached is how many bytes are sorted in the cache, with as many of temporary memory.
const cached = 384 << 10

// radix sorts items by their words, and keeps the order of equal ones. tmp is as long. Many items are first dealt out to
// buckets that fit the cache; there, two counting sorts by leading bits that differ leave little to do.
func radix[T item](a, tmp []T, crew Crew) {
	n := len(a)
	if n <= few {
		insertion(a)
		return
	}
	differ, sorted := surveyParts(a, crew.parts(n), crew)
	if sorted {
		return
	}
	if n*int(unsafe.Sizeof(a[0])) > cached {
		spread(a, tmp, differ, crew, func(dst, src []T) { copy(dst, src) })
	} else if !inCache(a, tmp, differ) {
		copy(a, tmp)
	}
}

// radixKnown sorts keys that differ in the given bits, and puts the elements in their place where there is an order.
func radixKnown[T words](a, tmp []T, differ uint64, crew Crew, home *Order) {
	if home == nil {
		home = &Order{}
	}
	goHome := func(dst, src []T) { takeHome(dst, src, home) }
	if home.full == 0 {
		goHome = func(dst, src []T) { copy(dst, src) }
	}
	switch n := len(a); {
	case n <= few:
		insertion(a)
		goHome(a, a)
	case n*int(unsafe.Sizeof(a[0])) > cached:
		spread(a, tmp, differ, crew, goHome)
	case inCache(a, tmp, differ):
		goHome(a, a)
	default:
		goHome(a, tmp)
	}
}

// survey returns the bits in which the words differ, and whether they are sorted.
func survey[T item](a []T) (differ uint64, sorted bool) {
	first := word(&a[0])
	last := first
	for i := range a {
		k := word(&a[i])
		if k < last {
			return differ | differing(a[i:], first), false
		}
		differ |= k ^ first
		last = k
	}
	return differ, true
}

// differing returns the bits in which any word differs from one.
func differing[T item](a []T, from uint64) uint64 {
	var d, e uint64
	for len(a) >= 2 {
		d |= word(&a[0]) ^ from
		e |= word(&a[1]) ^ from
		a = a[2:]
	}
	for i := range a {
		d |= word(&a[i]) ^ from
	}
	return d | e
}

func insertion[T item](a []T) {
	for i := 1; i < len(a); i++ {
		insert(a, i)
	}
}

// insert moves item i to its place among those before it, which are sorted.
func insert[T item](a []T, i int) {
	v := a[i]
	k := word(&v)
	j := i
	for ; j > 0 && word(&a[j-1]) > k; j-- {
		a[j] = a[j-1]
	}
	a[j] = v
}

// digitBits is the most of a counting sort.
const digitBits = 10

// inCache sorts items whose words differ in the given bits, and reports whether they are in a then, or in tmp.
func inCache[T item](a, tmp []T, differ uint64) bool {
	top := bits.Len64(differ)
	lead := min(top, bits.Len(uint(len(a)))+4, 2*digitBits)
	shift := uint(top - lead)
	if lead <= digitBits {
		count := [1 << digitBits]uint32{}
		mask := uint64(1)<<lead - 1
		for i := range a {
			count[word(&a[i])>>shift&mask&(1<<digitBits-1)]++
		}
		dealBy(tmp, a, &count, shift, mask)
		mend(tmp, a, shift)
		return false
	}
	low := uint(lead / 2)
	var lows, highs [1 << digitBits]uint32
	lowMask, highMask := uint64(1)<<low-1, uint64(1)<<(lead-int(low))-1
	for i := range a {
		k := word(&a[i]) >> shift
		lows[k&lowMask&(1<<digitBits-1)]++
		highs[k>>low&highMask&(1<<digitBits-1)]++
	}
	dealBy(tmp, a, &lows, shift, lowMask)
	dealBy(a, tmp, &highs, shift+low, highMask)
	mend(a, tmp, shift)
	return true
}

// dealBy is one counting sort: by the bits of mask from shift on, which count has counted.
func dealBy[T item](dst, src []T, count *[1 << digitBits]uint32, shift uint, mask uint64) {
	at := uint32(0)
	for d, n := range count[:mask+1] {
		count[d] = at
		at += n
	}
	dst = dst[:len(src)]
	for i := range src {
		d := word(&src[i]) >> (shift & 63) & mask & (1<<digitBits - 1)
		at := count[d]
		count[d] = at + 1
		dst[at] = src[i]
	}
}

// mend sorts items that are sorted but for the lowest bits.
func mend[T item](a, tmp []T, shift uint) {
	if shift == 0 {
		return
	}
	last := word(&a[0])
	for i := 1; i < len(a); i++ {
		k := word(&a[i])
		if k >= last {
			last = k
			continue
		}
		lo, hi, lead := i-1, i+1, k>>shift
		for lo > 0 && word(&a[lo-1])>>shift == lead {
			lo--
		}
		for hi < len(a) && word(&a[hi])>>shift == lead {
			hi++
		}
		radix(a[lo:hi], tmp[lo:hi], Crew{})
		i = hi - 1
		last = word(&a[i])
	}
}
