package backendtest

import (
	"fmt"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type real interface{ integer | float32 | float64 }

type number interface{ real | complex64 | complex128 }

func reductions(r *rank) {
	reals(r, dtype.Float64, small[float64])
	reals(r, dtype.Float32, small[float32])
	reals(r, dtype.Int64, wide[int64])
	reals(r, dtype.Int32, wide[int32])
	reals(r, dtype.Int16, wide[int16])
	reals(r, dtype.Int8, wide[int8])
	reals(r, dtype.Uint64, wide[uint64])
	reals(r, dtype.Uint32, wide[uint32])
	reals(r, dtype.Uint16, wide[uint16])
	reals(r, dtype.Uint8, wide[uint8])
	numbers(r, dtype.Complex64, func(rank, i int) complex64 {
		return complex(small[float32](rank, i), small[float32](rank+1, i))
	})
	numbers(r, dtype.Complex128, func(rank, i int) complex128 {
		return complex(small[float64](rank, i), small[float64](rank+1, i))
	})
	truth := func(rank, i int) uint8 { return uint8((rank + i) % 3 & 1) }
	reduction(r, dtype.Bool, kernel.Min, truth, func(a, b uint8) uint8 { return a & b })
	reduction(r, dtype.Bool, kernel.Max, truth, func(a, b uint8) uint8 { return a | b })
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

func reals[T real](r *rank, t dtype.Type, element func(rank, i int) T) {
	numbers(r, t, element)
	reduction(r, t, kernel.Min, element, func(a, b T) T { return min(a, b) })
	reduction(r, t, kernel.Max, element, func(a, b T) T { return max(a, b) })
}

func numbers[T number](r *rank, t dtype.Type, element func(rank, i int) T) {
	reduction(r, t, kernel.Sum, element, func(a, b T) T { return a + b })
	reduction(r, t, kernel.Prod, element, func(a, b T) T { return a * b })
}

// period is after how many elements the inputs repeat.
const period = 60

// reduction checks Allreduce, and Reduce on every root, against a loop over the ranks.
func reduction[T number](r *rank, t dtype.Type, op kernel.Op, element func(rank, i int) T, combine func(a, b T) T) {
	for _, n := range sizes {
		if n == large {
			n /= r.c.Size()
		}
		send, want := r.room(t, n), make([]T, min(n, period))
		for i := range want {
			want[i] = element(0, i)
			for other := 1; other < r.c.Size(); other++ {
				want[i] = combine(want[i], element(other, i))
			}
		}
		for i := range n {
			memory.As[T](send.Span)[i] = element(r.c.Rank(), i%period)
		}
		recv := r.room(t, n)
		r.ok("allreduce", r.c.Allreduce(send.Span, recv.Span, op))
		same(r, fmt.Sprintf("allreduce %s of %s", op, t), recv, want)
		for root := range r.c.Size() {
			if n > 1000 && root != int(op)%r.c.Size() {
				continue // one root for each operator
			}
			recv := r.room(t, n)
			r.ok("reduce", r.c.Reduce(send.Span, r.atRoot(recv, root), op, root))
			if r.c.Rank() == root {
				same(r, fmt.Sprintf("reduce %s of %s to %d", op, t, root), recv, want)
			}
		}
	}
}

func same[T number](r *rank, what string, recv buffer, want []T) {
	r.Helper()
	for i, v := range memory.As[T](recv.Span) {
		if v != want[i%period] {
			r.Errorf("rank %d of %d: %s: element %d of %d: %v, want %v", r.c.Rank(), r.c.Size(), what, i, recv.Count, v, want[i%period])
			break
		}
	}
	recv.guarded(r, what)
}

// lacking checks that every rank is told, and none is left waiting.
func lacking(r *rank) {
	for _, t := range dtype.All() {
		for op := range kernel.NOps {
			if op.Check(t) == nil {
				continue
			}
			send, recv := r.filled(t, 2, 1), r.room(t, 2)
			r.is("allreduce", r.c.Allreduce(send.Span, recv.Span, op), status.Unsupported)
			r.is("reduce", r.c.Reduce(send.Span, recv.Span, op, 0), status.Unsupported)
			recv.untouched(r, "operator that the type lacks")
		}
	}
}
