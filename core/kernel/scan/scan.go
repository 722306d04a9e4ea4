// Package scan combines each element with all before it.
package scan

import (
	"math"
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/fold"
	"dtl/core/memory"
	"dtl/core/status"
)

// Scanning combines each element with all before it. The Partial is what the elements so far were combined to; the zero
// Partial stands for no elements.
type Scanning struct {
	Result dtype.Type // of sums and products of integers and bool, one of 64 bits; else the elements' own
	// Total combines a run with what p says, and writes nothing.
	Total func(p *fold.Partial, run memory.Span)
	// Scan also writes each element's result to dst, which has the type Result and as many elements: without the element
	// itself if exclusive.
	Scan func(p *fold.Partial, dst, src memory.Span, exclusive bool)
	// Merge combines p with what the elements after it were combined to.
	Merge func(p, other *fold.Partial)
	// Doubtful reports whether a Scan that begins with what the runs before came to, in their order, may differ from one of all
	// elements, because that leaves the range of floats somewhere. nil: none does.
	Doubtful func(totals []fold.Partial) bool
	// Follows reports whether a Scan that begins with this is right after one that ended with that.
	Follows func(begin, end *fold.Partial) bool
	// round makes p[0] and p[1] the number that p is; nil: they are.
	round func(p *fold.Partial)
}

// Of returns how an operator, of SUM, PROD, MIN and MAX, scans elements of type t.
func Of(t dtype.Type, op kernel.Op) (*Scanning, error) {
	if op > kernel.Max || !t.Valid() {
		return nil, status.New(status.Unsupported, "%s of %s is no scan; the ops of scans are SUM, PROD, MIN and MAX", op, t)
	}
	s := scannings[t][op]
	if s == nil {
		return nil, status.New(status.Unsupported, "%s is not defined for %s, which has no order", op, t)
	}
	return s, nil
}

// scanRow holds one element type's scannings.
type scanRow [kernel.Max + 1]*Scanning

var scannings = [dtype.N]scanRow{
	dtype.Float64:    floatScans(dtype.Float64, math.Inf(1), math.Inf(-1)),
	dtype.Float32:    floatScans(dtype.Float32, float32(math.Inf(1)), float32(math.Inf(-1))),
	dtype.Int64:      scans[int64, int64, int64](dtype.Int64, dtype.Int64, math.MaxInt64, math.MinInt64),
	dtype.Int32:      scans[int32, int64, int64](dtype.Int32, dtype.Int64, math.MaxInt32, math.MinInt32),
	dtype.Int16:      scans[int16, int64, int64](dtype.Int16, dtype.Int64, math.MaxInt16, math.MinInt16),
	dtype.Int8:       scans[int8, int64, int64](dtype.Int8, dtype.Int64, math.MaxInt8, math.MinInt8),
	dtype.Uint64:     scans[uint64, uint64, uint64](dtype.Uint64, dtype.Uint64, math.MaxUint64, 0),
	dtype.Uint32:     scans[uint32, uint64, uint64](dtype.Uint32, dtype.Uint64, math.MaxUint32, 0),
	dtype.Uint16:     scans[uint16, uint64, uint64](dtype.Uint16, dtype.Uint64, math.MaxUint16, 0),
	dtype.Uint8:      scans[uint8, uint64, uint64](dtype.Uint8, dtype.Uint64, math.MaxUint8, 0),
	dtype.Bool:       scans[uint8, int64, int64](dtype.Bool, dtype.Int64, 1, 0),
	dtype.Complex64:  complexScans[complex64](dtype.Complex64),
	dtype.Complex128: complexScans[complex128](dtype.Complex128),
}

// scans returns the scans of elements of type S. Their sums have type D and are added up in A.
func scans[S, D, A kernel.Ordered](own, wide dtype.Type, greatest, least S) scanRow {
	return scanRow{
		kernel.Sum:  scanning(wide, A(0), scanSum[S, D, A], totalSum[S, A], func(a, b A) A { return a + b }),
		kernel.Prod: scanning(wide, A(1), scanProd[S, D, A], totalProd[S, A], func(a, b A) A { return a * b }),
		kernel.Min:  scanning(own, greatest, scanMin[S], totalMin[S], func(a, b S) S { return min(a, b) }),
		kernel.Max:  scanning(own, least, scanMax[S], totalMax[S], func(a, b S) S { return max(a, b) }),
	}
}

func floatScans[S float32 | float64](own dtype.Type, greatest, least S) scanRow {
	row := scans[S, S, float64](own, own, greatest, least)
	if own == dtype.Float64 { // those of float32 are added up in it, and never overflow
		addInOrder(row[kernel.Sum])
	}
	watchRange[S, float64](row[kernel.Sum])
	row[kernel.Prod] = products(own, factors[S, float64]{productInStreams[S], fold.ProductOf[S], fold.Apart, fold.Whole}, scanProd[S, S, float64])
	return row
}

func complexScans[C kernel.Complex](own dtype.Type) scanRow {
	sum := scanning(own, 0, scanComplexSum[C], totalComplexSum[C], func(a, b complex128) complex128 { return a + b })
	watchRange[C, complex128](sum)
	multiplied := factors[C, complex128]{nil, fold.ComplexProductOf[C], fold.ComplexApart, fold.ComplexWhole}
	return scanRow{
		kernel.Sum:  sum,
		kernel.Prod: products(own, multiplied, scanComplexProd[C]),
	}
}

// scanBegun is the word of a Partial that says whether the others mean anything.
const scanBegun = 3

func scanning[S, D, A kernel.Number](
	result dtype.Type, identity A, scan func(dst []D, src []S, carry A, exclusive bool) A, total func(src []S, carry A) A,
	combine func(a, b A) A,
) *Scanning {
	carry := func(p *fold.Partial) A {
		if p[scanBegun] == 0 {
			return identity
		}
		return *(*A)(unsafe.Pointer(p))
	}
	set := func(p *fold.Partial, v A) {
		*(*A)(unsafe.Pointer(p)) = v
		p[scanBegun] = 1
	}
	return &Scanning{
		Result: result,
		Total:  func(p *fold.Partial, run memory.Span) { set(p, total(memory.As[S](run), carry(p))) },
		Scan: func(p *fold.Partial, dst, src memory.Span, exclusive bool) {
			set(p, scan(memory.As[D](dst), memory.As[S](src), carry(p), exclusive))
		},
		Merge: func(p, other *fold.Partial) { set(p, combine(carry(p), carry(other))) },
	}
}

// scanSum adds up four elements by themselves, twice, so that of eight additions two wait for those before.
func scanSum[S, D, A kernel.Ordered](dst []D, src []S, carry A, exclusive bool) A {
	for len(src) >= 8 && len(dst) >= 8 {
		x, to := (*[8]S)(src), (*[8]D)(dst)
		a, e := A(x[0]), A(x[4])
		b, f := a+A(x[1]), e+A(x[5])
		c, g := b+A(x[2]), f+A(x[6])
		d, h := c+A(x[3]), g+A(x[7])
		half := carry + d
		if exclusive {
			to[0], to[1], to[2], to[3] = D(carry), D(carry+a), D(carry+b), D(carry+c)
			to[4], to[5], to[6], to[7] = D(half), D(half+e), D(half+f), D(half+g)
		} else {
			to[0], to[1], to[2], to[3] = D(carry+a), D(carry+b), D(carry+c), D(half)
			to[4], to[5], to[6], to[7] = D(half+e), D(half+f), D(half+g), D(half+h)
		}
		carry = half + h
		src, dst = src[8:], dst[8:]
	}
	return sumOneByOne(dst, src, carry, exclusive)
}

func sumOneByOne[S, D, A kernel.Ordered](dst []D, src []S, carry A, exclusive bool) A {
	for i, v := range src {
		before := carry
		carry += A(v)
		dst[i] = D(carry)
		if exclusive {
			dst[i] = D(before)
		}
	}
	return carry
}

// totalSum adds up in four streams.
func totalSum[S, A kernel.Ordered](src []S, carry A) A {
	fold.InStreams(src, 1024, func(s *fold.Streams[S]) {
		var a, b, c, d A
		w, x, y, z := s[0], s[1], s[2], s[3]
		for i := 0; i < len(w) && i < len(x) && i < len(y) && i < len(z); i++ {
			a += A(w[i])
			b += A(x[i])
			c += A(y[i])
			d += A(z[i])
		}
		if len(x) == 0 {
			for _, v := range w {
				a += A(v)
			}
		}
		carry += (a + b) + (c + d)
	})
	return carry
}

func scanProd[S, D, A kernel.Ordered](dst []D, src []S, carry A, exclusive bool) A {
	for i, v := range src {
		before := carry
		carry *= A(v)
		dst[i] = D(carry)
		if exclusive {
			dst[i] = D(before)
		}
	}
	return carry
}

// productInStreams multiplies eight numbers side by side.
func productInStreams[S float32 | float64](src []S) float64 {
	a, b, c, d, e, f, g, h := 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0
	for ; len(src) >= 8; src = src[8:] {
		x := (*[8]S)(src)
		a *= float64(x[0])
		b *= float64(x[1])
		c *= float64(x[2])
		d *= float64(x[3])
		e *= float64(x[4])
		f *= float64(x[5])
		g *= float64(x[6])
		h *= float64(x[7])
	}
	for _, v := range src {
		a *= float64(v)
	}
	return ((a * b) * (c * d)) * ((e * f) * (g * h))
}

func totalProd[S, A kernel.Ordered](src []S, carry A) A {
	for _, v := range src {
		carry *= A(v)
	}
	return carry
}

func scanMin[S kernel.Ordered](dst, src []S, carry S, exclusive bool) S {
	for i, v := range src {
		before := carry
		carry = min(carry, v)
		dst[i] = carry
		if exclusive {
			dst[i] = before
		}
	}
	return carry
}

func totalMin[S kernel.Ordered](src []S, carry S) S {
	for _, v := range src {
		carry = min(carry, v)
	}
	return carry
}

func scanMax[S kernel.Ordered](dst, src []S, carry S, exclusive bool) S {
	for i, v := range src {
		before := carry
		carry = max(carry, v)
		dst[i] = carry
		if exclusive {
			dst[i] = before
		}
	}
	return carry
}

func totalMax[S kernel.Ordered](src []S, carry S) S {
	for _, v := range src {
		carry = max(carry, v)
	}
	return carry
}

func scanComplexSum[C kernel.Complex](dst, src []C, carry complex128, exclusive bool) complex128 {
	for i, v := range src {
		before := carry
		carry += complex128(v)
		dst[i] = C(carry)
		if exclusive {
			dst[i] = C(before)
		}
	}
	return carry
}

func totalComplexSum[C kernel.Complex](src []C, carry complex128) complex128 {
	for _, v := range src {
		carry += complex128(v)
	}
	return carry
}

func scanComplexProd[C kernel.Complex](dst, src []C, carry complex128, exclusive bool) complex128 {
	for i, v := range src {
		before := carry
		carry *= complex128(v)
		dst[i] = C(carry)
		if exclusive {
			dst[i] = C(before)
		}
	}
	return carry
}
