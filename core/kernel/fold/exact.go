package fold

import (
	"math"
	"math/bits"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// ExactWords is how many numbers an exact sum has: limbs of 32 bits each, from the least float64 on, and how many infinities
// of each sign and NaNs there were. Sums are added word by word.
const ExactWords = exactLimbs + 3

const (
	exactLimbs    = 69 // of 2098 bits for any float64, and 64 for carries
	exactPositive = exactLimbs
	exactNegative = exactLimbs + 1
	exactNaN      = exactLimbs + 2
	limbBits      = 32
)

// Exact adds up floats without rounding, so that it does not matter in which order, or who adds which. It is the pair of
// superaccumulators of Neal 2015, "Fast exact summation using small and large superaccumulators": the large one has a sum
// of fractions for each sign and exponent, which are added to the small one, a fixed-point number, before they can
// overflow.
type Exact struct {
	small [ExactWords]int64
	spent int // how many times fractions were added to limbs since carries were passed on
	large []*lanes
}

// lanes are large accumulators, of which numbers that follow each other use different ones: to add to the same sum twice
// in a row takes the processor several times as long.
type lanes [exponents]struct{ sum, count uint64 }

const (
	exponents = 4096    // with signs
	most      = 1 << 11 // fractions of 52 bits that 64 hold, with the leading bits of all of them apart
	many      = 4096    // from how many numbers on there are several lanes
)

// NewExact returns the sum of nothing.
func NewExact() *Exact { return &Exact{large: []*lanes{new(lanes)}} }

// Add adds elements of any type with floats. Of complex elements, it adds the real parts, or with imaginary the others.
func (e *Exact) Add(run memory.Span, imaginary bool) error {
	if exactAdders[run.Type] == nil {
		return status.New(status.Unsupported, "exact sums are not defined for %s", run.Type)
	}
	exactAdders[run.Type](e, run, imaginary)
	return nil
}

var exactAdders = [dtype.N]func(e *Exact, run memory.Span, imaginary bool){
	dtype.Float64:    func(e *Exact, run memory.Span, _ bool) { e.addAll(memory.As[float64](run)) },
	dtype.Float32:    addExactly[float32],
	dtype.Int64:      addIntegers[int64],
	dtype.Int32:      addExactly[int32],
	dtype.Int16:      addExactly[int16],
	dtype.Int8:       addExactly[int8],
	dtype.Uint64:     addIntegers[uint64],
	dtype.Uint32:     addExactly[uint32],
	dtype.Uint16:     addExactly[uint16],
	dtype.Uint8:      addExactly[uint8],
	dtype.Bool:       addExactly[uint8],
	dtype.Complex64:  addComplex[complex64],
	dtype.Complex128: addComplex[complex128],
}

// addExactly adds elements that a float64 holds.
func addExactly[T kernel.Ordered](e *Exact, run memory.Span, _ bool) {
	for _, v := range memory.As[T](run) {
		e.One(float64(v))
	}
}

// addIntegers adds elements that two floats hold.
func addIntegers[T int64 | uint64](e *Exact, run memory.Span, _ bool) {
	for _, v := range memory.As[T](run) {
		low := v & (1<<limbBits - 1)
		e.One(float64(v - low))
		e.One(float64(low))
	}
}

func addComplex[T kernel.Complex](e *Exact, run memory.Span, imaginary bool) {
	for _, v := range memory.As[T](run) {
		if c := complex128(v); imaginary {
			e.One(imag(c))
		} else {
			e.One(real(c))
		}
	}
}

// AddProducts adds the products of two runs' elements, each without rounding unless it is too small. The runs have equal
// counts, and one type of floats; of complex elements it adds the real or the imaginary parts of the products, a's
// elements conjugated or not.
func (e *Exact) AddProducts(a, b memory.Span, conjugate, imaginary bool) error {
	if a.Type != b.Type || a.Count != b.Count || exactProducts[a.Type] == nil {
		return status.New(status.Unsupported, "exact products are not defined for %d of %s and %d of %s",
			a.Count, a.Type, b.Count, b.Type)
	}
	exactProducts[a.Type](e, a, b, conjugate, imaginary)
	return nil
}

var exactProducts = [dtype.N]func(e *Exact, a, b memory.Span, conjugate, imaginary bool){
	dtype.Float64:    exactFloats[float64],
	dtype.Float32:    exactFloats[float32],
	dtype.Complex64:  exactComplex[complex64],
	dtype.Complex128: exactComplex[complex128],
	dtype.Int64:      nil,
	dtype.Int32:      nil,
	dtype.Int16:      nil,
	dtype.Int8:       nil,
	dtype.Uint64:     nil,
	dtype.Uint32:     nil,
	dtype.Uint16:     nil,
	dtype.Uint8:      nil,
	dtype.Bool:       nil,
}

// product adds a product and what rounding took from it.
func (e *Exact) product(x, y float64) {
	p := x * y
	e.One(p)
	if !math.IsInf(p, 0) && !math.IsNaN(p) {
		e.One(math.FMA(x, y, -p))
	}
}

func exactFloats[T float32 | float64](e *Exact, a, b memory.Span, _, _ bool) {
	x, y := memory.Pair[T](a, b)
	for i, v := range y {
		e.product(float64(x[i]), float64(v))
	}
}

func exactComplex[T kernel.Complex](e *Exact, a, b memory.Span, conjugate, imaginary bool) {
	x, y := memory.Pair[T](a, b)
	sign := 1.0
	if conjugate {
		sign = -1
	}
	for i, v := range x {
		c, d := complex128(v), complex128(y[i])
		if imaginary {
			e.product(real(c), imag(d))
			e.product(sign*imag(c), real(d))
		} else {
			e.product(real(c), real(d))
			e.product(-sign*imag(c), imag(d))
		}
	}
}

// addAll adds numbers to the large accumulator.
func (e *Exact) addAll(x []float64) {
	for len(x) >= many && len(e.large) < 4 {
		e.large = append(e.large, new(lanes))
	}
	if len(e.large) == 4 {
		a, b, c, d := e.large[0], e.large[1], e.large[2], e.large[3]
		for len(x) >= 4 {
			y := (*[4]float64)(x)
			t, u, v, w := math.Float64bits(y[0]), math.Float64bits(y[1]), math.Float64bits(y[2]), math.Float64bits(y[3])
			p, q, r, s := &a[t>>52], &b[u>>52], &c[v>>52], &d[w>>52]
			if (p.count|q.count|r.count|s.count)&most != 0 {
				e.spill(a, int(t>>52))
				e.spill(b, int(u>>52))
				e.spill(c, int(v>>52))
				e.spill(d, int(w>>52))
			}
			p.count++
			p.sum += t & floatFraction
			q.count++
			q.sum += u & floatFraction
			r.count++
			r.sum += v & floatFraction
			s.count++
			s.sum += w & floatFraction
			x = x[4:]
		}
	}
	for _, v := range x {
		e.One(v)
	}
}

func (e *Exact) put(l *lanes, v float64) {
	u := math.Float64bits(v)
	entry := &l[u>>52]
	if entry.count == most {
		e.spill(l, int(u>>52))
	}
	entry.count++
	entry.sum += u & floatFraction
}

// One adds a number.
func (e *Exact) One(v float64) { e.put(e.large[0], v) }

// spill adds the fractions of one sign and exponent to the small accumulator.
func (e *Exact) spill(l *lanes, at int) {
	n, sum := int64(l[at].count), l[at].sum
	l[at].count, l[at].sum = 0, 0
	negative, field := at >= exponents/2, at%(exponents/2)
	switch {
	case n == 0:
	case field == 2047 && sum != 0:
		// Infinities have no fraction, and there may be some beside the NaNs, which decide.
		e.small[exactNaN] += n
	case field == 2047 && negative:
		e.small[exactNegative] += n
	case field == 2047:
		e.small[exactPositive] += n
	case field == 0: // too small for a leading bit
		e.add(sum, 0, negative)
	default:
		e.add(sum, field-1, negative)
		e.add(uint64(n), field-1+52, negative)
	}
}

// add adds v × 2^shift times the least float64.
func (e *Exact) add(v uint64, shift int, negative bool) {
	limb, within := shift/limbBits, shift%limbBits
	high, low := bits.Mul64(v, 1<<within)
	parts := [3]int64{int64(low & (1<<limbBits - 1)), int64(low >> limbBits), int64(high)}
	for i, part := range parts {
		if negative {
			part = -part
		}
		e.small[limb+i] += part
	}
	if e.spent++; e.spent == 1<<28 {
		carry(e.small[:exactLimbs])
		e.spent = 0
	}
}

// carry makes each limb but the last a number of 32 bits from 0 on.
func carry(limbs []int64) {
	for i := range limbs[:len(limbs)-1] {
		limbs[i+1] += limbs[i] >> limbBits
		limbs[i] &= 1<<limbBits - 1
	}
}

// Words returns the sum, of which as many as there are ranks can be added.
func (e *Exact) Words() *[ExactWords]int64 {
	for _, l := range e.large {
		for at := range exponents {
			e.spill(l, at)
		}
	}
	carry(e.small[:exactLimbs])
	e.spent = 0
	return &e.small
}

// RoundExact returns the sum that words are, rounded once to a float64 of so many bits and no less than so many times the
// least one: 53 and 0, or of float32 24 and 925.
func RoundExact(words *[ExactWords]int64, precision, least int) float64 {
	switch positive, negative := words[exactPositive] != 0, words[exactNegative] != 0; {
	case words[exactNaN] != 0 || positive && negative:
		return math.NaN()
	case positive:
		return math.Inf(1)
	case negative:
		return math.Inf(-1)
	}
	limbs := append([]int64(nil), words[:exactLimbs]...)
	carry(limbs)
	sign := 1.0
	if limbs[exactLimbs-1] < 0 {
		sign = -1
		for i := range limbs {
			limbs[i] = -limbs[i]
		}
		carry(limbs)
	}
	top := exactLimbs - 1
	for top >= 0 && limbs[top] == 0 {
		top--
	}
	if top < 0 {
		return 0
	}
	length := top*limbBits + bits.Len64(uint64(limbs[top]))
	return sign * roundLimbs(limbs, max(length-precision, least, 0))
}

// roundLimbs returns the bits from a place on, rounded to even by what lies below, as a number.
func roundLimbs(limbs []int64, place int) float64 {
	kept := uint64(0)
	for i := exactLimbs - 1; i >= place/limbBits; i-- {
		if shift := i*limbBits - place; shift >= 0 {
			kept += uint64(limbs[i]) << shift
		} else {
			kept += uint64(limbs[i]) >> -shift
		}
	}
	if place > 0 && bitOf(limbs, place-1) && (kept&1 == 1 || anyBelow(limbs, place-1)) {
		kept++
	}
	return math.Ldexp(float64(kept), place-1074)
}

func bitOf(limbs []int64, place int) bool { return limbs[place/limbBits]>>(place%limbBits)&1 != 0 }

// anyBelow reports whether there is a bit below a place.
func anyBelow(limbs []int64, place int) bool {
	for _, limb := range limbs[:place/limbBits] {
		if limb != 0 {
			return true
		}
	}
	return limbs[place/limbBits]&(1<<(place%limbBits)-1) != 0
}
