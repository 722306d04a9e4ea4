package partition

import (
	"math"
	"math/bits"
)

// divisor divides by a fixed number, at least 1, several times faster than the processor's division, which takes
// 64-bit numbers 10 to 40 cycles: it multiplies by a reciprocal, rounded down.
type divisor struct{ by, reciprocal uint64 }

func newDivisor(by uint64) divisor { return divisor{by: by, reciprocal: math.MaxUint64 / by} }

// divide returns the quotient and the rest of any n from 0. The reciprocal is too small by at most 1 in 2⁶⁴, so the
// product is by less than n/2⁶⁴: rounded down, the quotient is right or one too small.
func (d divisor) divide(n int64) (quotient, rest int64) {
	q, _ := bits.Mul64(uint64(n), d.reciprocal)
	r := uint64(n) - q*d.by
	if r >= d.by {
		q++
		r -= d.by
	}
	return int64(q), int64(r)
}

// above returns the reciprocal rounded up, and whether it needs no correction for any n up to most: the upper half of
// n × above is the quotient, and the lower half is the rest in units of by/2⁶⁴, too large by at most n. For that,
// most × by must be less than 2⁶⁴; and by more than 1, whose reciprocal is 2⁶⁴ itself.
func (d divisor) above(most int64) (reciprocal uint64, exact bool) {
	high, _ := bits.Mul64(uint64(most), d.by)
	return d.reciprocal + 1, high == 0 && d.by > 1
}

// part returns k/n of 2⁶⁴, rounded up; of all of it, 0.
func part(k, n int) uint64 {
	if k == n {
		return 0
	}
	quotient, rest := bits.Div64(uint64(k), 0, uint64(n))
	if rest > 0 {
		quotient++
	}
	return quotient
}

// times returns the product of two numbers from 0, or, if it is more, limit, at most 2⁶³.
func times(a, b int64, limit uint64) uint64 {
	high, low := bits.Mul64(uint64(a), uint64(b))
	if high > 0 {
		return limit
	}
	return min(low, limit)
}
