package radix

import (
	"math/bits"
	"unsafe"
)

// few items are sorted by insertion.
const few = 40

// cached is how many bytes are sorted in the cache, with as many of temporary memory.
const cached = 384 << 10

// radix sorts items by their words, and keeps the order of equal ones. tmp is as long. Many items are first distributed to
// buckets that fit the cache; there, two counting sorts by leading bits that differ leave little to do.
func radix[T item](a, tmp []T, workers Workers) {
	n := len(a)
	if n <= few {
		insertion(a)
		return
	}
	if n*int(unsafe.Sizeof(a[0])) > cached {
		if differ, sorted := surveyParts(a, workers.parts(n), workers); !sorted {
			spread(a, tmp, differ, workers)
		}
		return
	}
	if r := inCache(a, tmp, a); &r[0] != &a[0] {
		copy(a, r)
	}
}

// radixKnown sorts keys that fit the cache, and puts the elements in their place where there is an order.
func radixKnown[T words](a, tmp []T, elements *Order) {
	r := a
	if len(a) <= few {
		insertion(a)
	} else {
		r = inCache(a, tmp, a)
	}
	writer[T](elements)(a, r)
}

// writer returns what writes the elements of an order to another place than their keys, or, without one, the keys.
func writer[T words](elements *Order) func(dst, keys []T) {
	if elements == nil {
		return copyItems[T]
	}
	return func(dst, keys []T) { writeElements(dst, keys, elements) }
}

func copyItems[T item](dst, src []T) { copy(dst, src) }

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

// bounds returns the least and the greatest word, and whether all are sorted.
func bounds[T item](a []T) (least, most uint64, sorted bool) {
	least = word(&a[0])
	most = least
	for i := range a {
		k := word(&a[i])
		if k < most {
			for j := range a[i:] {
				k := word(&a[i+j])
				least, most = min(least, k), max(most, k)
			}
			return least, most, false
		}
		most = k
	}
	return least, most, true
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

// inCache sorts items from a by way of b to c, which may be a, and returns the one where they are then. What the others
// hold is lost. The leading bits of how far words are above the least one are sorted by, then what is left is sorted by the rest.
func inCache[T item](a, b, c []T) []T {
	least, most, sorted := bounds(a)
	if sorted {
		return a
	}
	b, c = b[:len(a)], c[:len(a)]
	top := bits.Len64(most - least)
	lead := min(top, bits.Len(uint(len(a)))+4, 2*digitBits)
	shift := uint(top - lead)
	var lows, highs [1 << digitBits]uint32
	if lead <= digitBits {
		countDigits(a, least, shift, digitBits, &lows, &highs)
		distributeBy(b, a, &lows, least, shift, digitBits)
		sortRest(b, a, least, shift)
		return b
	}
	low := uint(lead - lead/2)
	countDigits(a, least, shift, low, &lows, &highs)
	distributeBy(b, a, &lows, least, shift, low)
	distributeBy(c, b, &highs, least, shift+low, digitBits)
	sortRest(c, b, least, shift)
	return c
}

// countDigits counts the two digits of each word above the least, from shift on, of which the first has low bits.
func countDigits[T item](a []T, least uint64, shift, low uint, lows, highs *[1 << digitBits]uint32) {
	mask := uint64(1)<<low - 1
	for i := range a {
		k := (word(&a[i]) - least) >> (shift & 63)
		lows[k&mask&(1<<digitBits-1)]++
		highs[k>>(low&63)&(1<<digitBits-1)]++
	}
}

// distributeBy is one counting sort: by the digit from shift on, which count has counted.
func distributeBy[T item](dst, src []T, count *[1 << digitBits]uint32, least uint64, shift, width uint) {
	at, mask := uint32(0), uint64(1)<<width-1
	for d, n := range count[:mask+1] {
		count[d] = at
		at += n
	}
	dst = dst[:len(src)]
	for i := range src {
		d := (word(&src[i]) - least) >> (shift & 63) & mask & (1<<digitBits - 1)
		at := count[d]
		count[d] = at + 1
		dst[at] = src[i]
	}
}

// sortRest sorts items that are sorted but for the bits below shift of how far they are above the least. The contents of tmp
// are lost.
func sortRest[T item](a, tmp []T, least uint64, shift uint) {
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
		lo, hi, lead := i-1, i+1, (k-least)>>shift
		for lo > 0 && (word(&a[lo-1])-least)>>shift == lead {
			lo--
		}
		for hi < len(a) && (word(&a[hi])-least)>>shift == lead {
			hi++
		}
		radix(a[lo:hi], tmp[lo:hi], Workers{})
		i = hi - 1
		last = word(&a[i])
	}
}
