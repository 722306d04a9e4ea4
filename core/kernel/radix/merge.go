package radix

import (
	"math/bits"
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/memory"
)

// Merge merges sorted runs, which lie one after the other in src, into dst, which is another memory as long. Of elements
// with equal keys, those of earlier runs come first. The contents of src are lost.
func Merge(dst, src memory.Span, runs []int, o Order, workers Workers) {
	switch dst.Type.Size() {
	case 1:
		mergeRuns[uint8](dst, src, runs, &o, workers)
	case 2:
		mergeRuns[uint16](dst, src, runs, &o, workers)
	case 4:
		mergeRuns[uint32](dst, src, runs, &o, workers)
	case 8:
		mergeRuns[uint64](dst, src, runs, &o, workers)
	default:
		mergeRuns[[2]uint64](dst, src, runs, &o, workers)
	}
}

// mergeRuns merges two neighbouring runs at a time, back and forth.
func mergeRuns[T item](dst, src memory.Span, runs []int, o *Order, workers Workers) {
	to, from := items[T](dst), items[T](src)
	lengths := make([]int, 0, len(runs))
	for _, n := range runs {
		if n > 0 {
			lengths = append(lengths, n)
		}
	}
	there := false // what was merged last is in dst
	for ; len(lengths) > 1; there = !there {
		at, merged := 0, lengths[:0]
		for i := 0; i < len(lengths); i += 2 {
			n, m := lengths[i], 0
			if i+1 < len(lengths) {
				m = lengths[i+1]
			}
			merge(to[at:at+n+m], from[at:at+n], from[at+n:at+n+m], o, workers)
			merged = append(merged, n+m)
			at += n + m
		}
		lengths = merged
		to, from = from, to
	}
	if !there {
		workers.over(len(to), workers.parts(len(to)), func(_, lo, hi int) { copy(to[lo:hi], from[lo:hi]) })
	}
}

// merge merges two runs, in parts that are found in both.
func merge[T item](dst, a, b []T, o *Order, workers Workers) {
	workers.over(len(dst), workers.parts(len(dst)), func(_, lo, hi int) {
		i, k := split(a, b, lo, o), split(a, b, hi, o)
		if o.plain() {
			mergeTwo(dst[lo:hi], a[i:k], b[lo-i:hi-k])
		} else {
			mergeKeyed(dst[lo:hi], a[i:k], b[lo-i:hi-k], *o)
		}
	})
}

// split returns how many of the first n items of both runs together are the first's.
func split[T item](a, b []T, n int, o *Order) int {
	lo, hi := max(0, n-len(b)), min(n, len(a))
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if o.key(word(&b[n-mid-1])) < o.key(word(&a[mid])) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// mergeTwo merges items whose words are their keys: both halves of the result in turn, so that one's comparisons go on
// while the other's wait, and without a branch that depends on them.
func mergeTwo[T item](dst, a, b []T) {
	half := len(dst) / 2
	i, plain := 0, NewOrder(dtype.Uint64, false)
	mid := split(a, b, half, &plain)
	j, k, l := 0, mid, half-mid
	endI, endJ := mid, half-mid
	for {
		steps := min(endI-i, endJ-j, len(a)-k, len(b)-l) // none of these gets through any of the four
		if steps == 0 {
			break
		}
		di, dk := mergeSteps(dst[i+j:], dst[k+l:], a[i:], b[j:], a[k:], b[l:], steps)
		i, j, k, l = i+di, j+steps-di, k+dk, l+steps-dk
	}
	mergeRest(dst[i+j:half], a[i:endI], b[j:endJ])
	mergeRest(dst[k+l:], a[k:], b[l:])
}

// mergeSteps takes so many items of a or b to dst, and as many of c or d to other, and returns how many were a's and c's.
func mergeSteps[T item](dst, other, a, b, c, d []T, steps int) (i, k int) {
	switch dst := any(dst).(type) {
	case []uint64:
		return mergeWords(dst, as(dst, other), as(dst, a), as(dst, b), as(dst, c), as(dst, d), steps)
	case []uint32:
		return mergeWords(dst, as(dst, other), as(dst, a), as(dst, b), as(dst, c), as(dst, d), steps)
	}
	size := int(unsafe.Sizeof(dst[0]))
	p, q, r, s := unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), unsafe.Pointer(&c[0]), unsafe.Pointer(&d[0])
	dst, other = dst[:steps], other[:steps]
	for n := range dst {
		_, t := bits.Sub64(word((*T)(q)), word((*T)(p)), 0)
		_, u := bits.Sub64(word((*T)(s)), word((*T)(r)), 0)
		first, second := p, r
		if t != 0 {
			first = q
		}
		if u != 0 {
			second = s
		}
		dst[n], other[n] = *(*T)(first), *(*T)(second)
		p, q = unsafe.Add(p, size-size*int(t)), unsafe.Add(q, size*int(t))
		r, s = unsafe.Add(r, size-size*int(u)), unsafe.Add(s, size*int(u))
	}
	return (int(uintptr(p)) - int(uintptr(unsafe.Pointer(&a[0])))) / size, (int(uintptr(r)) - int(uintptr(unsafe.Pointer(&c[0])))) / size
}

// as returns items as words of another's type, which is theirs.
func as[W words, T item](_ []W, x []T) []W { return unsafe.Slice((*W)(unsafe.Pointer(&x[0])), len(x)) }

// mergeWords does what mergeSteps does, with words: it chooses values, not addresses, which takes a third of the time.
func mergeWords[T words](dst, other, a, b, c, d []T, steps int) (i, k int) {
	p, q, r, s := unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), unsafe.Pointer(&c[0]), unsafe.Pointer(&d[0])
	dst, other = dst[:steps], other[:steps]
	size := int(unsafe.Sizeof(dst[0]))
	for n := range dst {
		v, w := *(*T)(unsafe.Add(p, size*i)), *(*T)(unsafe.Add(q, size*(n-i)))
		x, y := *(*T)(unsafe.Add(r, size*k)), *(*T)(unsafe.Add(s, size*(n-k)))
		dst[n], other[n] = min(v, w), min(x, y)
		t, u := 0, 0
		if v <= w {
			t = 1
		}
		if x <= y {
			u = 1
		}
		i += t
		k += u
	}
	return i, k
}

// mergeRest does what mergeTwo does with the words that are left when one half has been merged.
func mergeRest[T item](dst, a, b []T) {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		if word(&b[j]) < word(&a[i]) {
			dst[i+j] = b[j]
			j++
		} else {
			dst[i+j] = a[i]
			i++
		}
	}
	copy(dst[i+j:], a[i:])
	copy(dst[len(a)+j:], b[j:])
}

// mergeKeyed is mergeTwo with keys in an order.
func mergeKeyed[T item](dst, a, b []T, o Order) {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		p, q := &a[i], &b[j]
		t := 0
		if o.key(word(q)) < o.key(word(p)) {
			t = 1
		}
		from := unsafe.Pointer(p)
		if t != 0 {
			from = unsafe.Pointer(q)
		}
		dst[i+j] = *(*T)(from)
		i += 1 - t
		j += t
	}
	copy(dst[i+j:], a[i:])
	copy(dst[len(a)+j:], b[j:])
}
