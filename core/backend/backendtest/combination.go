package backendtest

import (
	"bytes"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type real interface{ integer | float32 | float64 }

type number interface{ real | complex64 | complex128 }

// combination is an operator on elements of one type, whose values depend on the rank and the index.
type combination struct {
	t  dtype.Type
	op kernel.Op
	// fill writes a rank's elements, the first of which has the index at.
	fill func(s memory.Span, rank, at int)
	// same reports unless recv holds those of the ranks [lo, hi), combined by a naive loop; index at first.
	same func(r *rank, what string, recv buffer, lo, hi, at int)
}

// combinations are all that there are.
func combinations() (all []combination) {
	all = append(all, reals(dtype.Float64, small[float64])...)
	all = append(all, reals(dtype.Float32, small[float32])...)
	all = append(all, integers(dtype.Int64, wide[int64])...)
	all = append(all, integers(dtype.Int32, wide[int32])...)
	all = append(all, integers(dtype.Int16, wide[int16])...)
	all = append(all, integers(dtype.Int8, wide[int8])...)
	all = append(all, integers(dtype.Uint64, wide[uint64])...)
	all = append(all, integers(dtype.Uint32, wide[uint32])...)
	all = append(all, integers(dtype.Uint16, wide[uint16])...)
	all = append(all, integers(dtype.Uint8, wide[uint8])...)
	all = append(all, numbers(dtype.Complex64, func(rank, i int) complex64 {
		return complex(small[float32](rank, i), small[float32](rank+1, i))
	})...)
	all = append(all, numbers(dtype.Complex128, func(rank, i int) complex128 {
		return complex(small[float64](rank, i), small[float64](rank+1, i))
	})...)
	return append(all, truths()...)
}

// small gives integers whose sums and products over a few ranks are exact in every floating-point type, so
// that the result does not depend on the order of the ranks.
func small[T real](rank, i int) T {
	v := T((rank*7+i*3)%4 + 1)
	if (rank+i)%3 == 0 {
		return -v
	}
	return v
}

// wide also gives integers that float64 does not hold. Integers wrap, so narrow types get their low bits.
func wide[T integer](rank, i int) T {
	if i%5 != 4 {
		return small[T](rank, i)
	}
	beyond := int64(1)<<53 + 1 + int64(rank)
	return T(beyond)
}

func truths() []combination {
	truth := func(rank, i int) uint8 { return uint8((rank + i) % 3 & 1) }
	and, or := func(a, b uint8) uint8 { return a & b }, func(a, b uint8) uint8 { return a | b }
	return []combination{
		combinationOf(dtype.Bool, kernel.Min, truth, and),
		combinationOf(dtype.Bool, kernel.Max, truth, or),
		combinationOf(dtype.Bool, kernel.LAnd, truth, and),
		combinationOf(dtype.Bool, kernel.LOr, truth, or),
		combinationOf(dtype.Bool, kernel.BAnd, truth, and),
		combinationOf(dtype.Bool, kernel.BOr, truth, or),
		combinationOf(dtype.Bool, kernel.BXor, truth, func(a, b uint8) uint8 { return a ^ b }),
	}
}

func integers[T integer](t dtype.Type, element func(rank, i int) T) []combination {
	return append(reals(t, element),
		combinationOf(t, kernel.BAnd, element, func(a, b T) T { return a & b }),
		combinationOf(t, kernel.BOr, element, func(a, b T) T { return a | b }),
		combinationOf(t, kernel.BXor, element, func(a, b T) T { return a ^ b }))
}

func reals[T real](t dtype.Type, element func(rank, i int) T) []combination {
	return append(numbers(t, element),
		combinationOf(t, kernel.Min, element, func(a, b T) T { return min(a, b) }),
		combinationOf(t, kernel.Max, element, func(a, b T) T { return max(a, b) }))
}

func numbers[T number](t dtype.Type, element func(rank, i int) T) []combination {
	some := func(rank, i int) T {
		if (rank+i)%4 == 0 {
			return 0
		}
		return element(rank, i)
	}
	return []combination{
		combinationOf(t, kernel.Sum, element, func(a, b T) T { return a + b }),
		combinationOf(t, kernel.Prod, element, func(a, b T) T { return a * b }),
		combinationOf(t, kernel.LAnd, some, func(a, b T) T { return oneIf[T](a != 0 && b != 0) }),
		combinationOf(t, kernel.LOr, some, func(a, b T) T { return oneIf[T](a != 0 || b != 0) }),
	}
}

func oneIf[T number](yes bool) (v T) {
	if yes {
		v++
	}
	return v
}

// period is after how many elements the inputs repeat.
const period = 60

func combinationOf[T number](t dtype.Type, op kernel.Op, element func(rank, i int) T, combine func(a, b T) T) combination {
	fold := func(lo, hi, i int) T {
		v := element(lo, i)
		if op == kernel.LAnd || op == kernel.LOr {
			v = combine(v, v) // gives 0 and 1 also of one operand
		}
		for rank := lo + 1; rank < hi; rank++ {
			v = combine(v, element(rank, i))
		}
		return v
	}
	return combination{
		t: t, op: op,
		fill: func(s memory.Span, rank, at int) {
			e := memory.As[T](s)
			for i := range min(period, len(e)) {
				e[i] = element(rank, (at+i)%period)
			}
			repeat(e)
		},
		same: func(r *rank, what string, recv buffer, lo, hi, at int) {
			r.Helper()
			e := memory.As[T](recv.Span)
			for i := range min(period, len(e)) {
				if w := fold(lo, hi, (at+i)%period); e[i] != w {
					r.Errorf("rank %d of %d: %s %s of %s: element %d of %d: %v, want %v",
						r.c.Rank(), r.c.Size(), what, op, t, i, len(e), e[i], w)
					break
				}
			}
			if whole := recv.Bytes(); len(e) > period && // the rest is like what is a period before it
				!bytes.Equal(recv.elements()[period*t.Size():], recv.elements()[:whole-period*t.Size()]) {
				r.Errorf("rank %d of %d: %s %s of %s: %d elements do not repeat", r.c.Rank(), r.c.Size(), what, op, t, len(e))
			}
			recv.guarded(r, what)
		},
	}
}

// repeat copies the first period to the rest.
func repeat[T any](e []T) {
	for filled := period; filled < len(e); {
		filled += copy(e[filled:], e[:filled])
	}
}
