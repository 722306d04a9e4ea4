package scan

import (
	"math"
	"math/cmplx"
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/fold"
	"dtl/core/kernel/scan/overflow"
	"dtl/core/memory"
)

// What some ranks' elements come to may be out of the range of floats where no sum or product from the first element on is, and the
// other way round. A scan of all elements, one after the other, is what counts: once it is infinite, or zero, it stays so.

// scanRange is the word of a sum's Partial that says why it is no finite number, and of a product's its exponent.
const scanRange = 2

const (
	ofElements = 1 // elements are none
	ofAdding   = 2 // all elements are
)

// addInOrder has a sum add up elements one by one where several at a time overflow.
func addInOrder(s *Scanning) {
	fast := s.Scan
	s.Scan = func(p *fold.Partial, dst, src memory.Span, exclusive bool) {
		begin := *p
		if overflow.During(func() { fast(p, dst, src, exclusive) }) {
			sum := sumOneByOne(memory.As[float64](dst), memory.As[float64](src), valueOf[float64](&begin), exclusive)
			*(*float64)(unsafe.Pointer(p)) = sum
		}
	}
}

// watchRange has the Totals of a sum say whether it left the range.
func watchRange[S, A kernel.Number](s *Scanning) {
	total, merge := s.Total, s.Merge
	s.Total = func(p *fold.Partial, run memory.Span) {
		total(p, run)
		if p[scanRange] == 0 && !finite(valueOf[A](p)) {
			p[scanRange] = ofAdding
			for _, v := range memory.As[S](run) {
				if v-v != 0 {
					p[scanRange] = ofElements
				}
			}
		}
	}
	s.Merge = func(p, other *fold.Partial) {
		merge(p, other)
		p[scanRange] = max(p[scanRange], other[scanRange])
	}
	s.Doubtful = func(totals []fold.Partial) bool {
		const far = 0x1p960 // from where the sums of a part, which are finite, are too when they are added to that
		var carry fold.Partial
		for i := range totals {
			if s.Merge(&carry, &totals[i]); carry[scanRange] == ofAdding {
				return true
			}
			if at := magnitude(valueOf[A](&carry)); at >= far && !math.IsInf(at, 1) {
				return true
			}
		}
		return false
	}
	s.Follows = func(begin, end *fold.Partial) bool {
		return begin[scanRange] != ofAdding && finite(valueOf[A](begin)) == finite(valueOf[A](end))
	}
}

// factors are how numbers of S in memory are multiplied, as A: what a chunk comes to, while that leaves no range, and as a number of
// about 1 and an exponent of two; how a number is taken apart into these, and put together.
type factors[S, A kernel.Number] struct {
	plain func([]S) A // or nil
	chunk func([]S) (A, int64)
	apart func(A) (A, int64)
	whole func(A, int64) A
}

// products are scans of products, of which scan makes each element's.
func products[S, A kernel.Number](
	own dtype.Type, of factors[S, A], scan func(dst, src []S, carry A, exclusive bool) A,
) *Scanning {
	return &Scanning{
		Result: own,
		Total: func(p *fold.Partial, run memory.Span) {
			const tried = 1 << 14 // elements are read once more where their products leave the range
			for x := memory.As[S](run); len(x) > 0; {
				n := min(len(x), tried)
				of.total(p, x[:n])
				x = x[n:]
			}
		},
		Scan: func(p *fold.Partial, dst, src memory.Span, exclusive bool) {
			of.round(p)
			*(*A)(unsafe.Pointer(p)) = scan(memory.As[S](dst), memory.As[S](src), valueOf[A](p), exclusive)
		},
		Merge: func(p, other *fold.Partial) {
			if other[scanBegun] != 0 {
				of.multiply(p, valueOf[A](other), other[scanRange])
			} else {
				of.multiply(p, A(1), 0)
			}
		},
		Doubtful: func(totals []fold.Partial) bool { return len(totals) > 1 },
		Follows: func(begin, end *fold.Partial) bool {
			const rounding = 1e-9
			b, e := *begin, *end
			of.round(&b)
			of.round(&e)
			x, y := valueOf[A](&b), valueOf[A](&e)
			return x == y || (x != x && y != y) || magnitude(x-y) <= rounding*magnitude(x)
		},
		round: of.round,
	}
}

// productLength is how many factors are multiplied before the exponent is taken off: each halves the product at most.
const productLength = 512

// total multiplies a Partial by numbers: these as they are, or each without its exponent if that has left the range.
func (of factors[S, A]) total(p *fold.Partial, x []S) {
	begin := *p
	if of.plain != nil && !overflow.OrUnderflowDuring(func() {
		of.inChunks(p, x, func(chunk []S) (A, int64) { return of.plain(chunk), 0 })
	}) {
		return
	}
	*p = begin
	of.inChunks(p, x, of.chunk)
}

func (of factors[S, A]) inChunks(p *fold.Partial, x []S, product func([]S) (A, int64)) {
	for len(x) > 0 {
		n := min(len(x), productLength)
		v, exponent := product(x[:n])
		of.multiply(p, v, exponent)
		x = x[n:]
	}
}

// multiply multiplies a Partial, whose number is of about 1, by another with an exponent.
func (of factors[S, A]) multiply(p *fold.Partial, v A, exponent int64) {
	if p[scanBegun] != 0 {
		v *= valueOf[A](p)
	}
	v, more := of.apart(v)
	*(*A)(unsafe.Pointer(p)) = v
	p[scanRange], p[scanBegun] = p[scanRange]+exponent+more, 1
}

// round makes the exponent 0.
func (of factors[S, A]) round(p *fold.Partial) {
	of.multiply(p, A(1), 0)
	*(*A)(unsafe.Pointer(p)) = of.whole(valueOf[A](p), p[scanRange])
	p[scanRange] = 0
}

// valueOf returns the number that a Partial begins with.
func valueOf[A kernel.Number](p *fold.Partial) A { return *(*A)(unsafe.Pointer(p)) }

func finite[A kernel.Number](v A) bool { return v-v == 0 }

// magnitude returns the absolute value.
func magnitude[A kernel.Number](v A) float64 {
	switch v := any(v).(type) {
	case complex128:
		return cmplx.Abs(v)
	case float64:
		return math.Abs(v)
	}
	return 0
}
