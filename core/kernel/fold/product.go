package fold

import (
	"math"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// The words of a product: the product itself, of floats its exponent beside it, and whether there is any.
const (
	prodValue = iota
	prodExponent
	prodBegun
)

func integerProd[T kernel.Integer, A wide](result dtype.Type) *Folding {
	return &Folding{
		Run: func(p *Partial, run memory.Span, _ int64) {
			a, b := A(1), A(1)
			for i, v := range memory.As[T](run) {
				if i&1 == 0 {
					a *= A(v)
				} else {
					b *= A(v)
				}
			}
			multiply(p, int64(a*b))
		},
		Merge: func(p, other *Partial) {
			if other[prodBegun] != 0 {
				multiply(p, other[prodValue])
			}
		},
		Finish: func(p *Partial, _ int64) (Number, error) {
			multiply(p, 1)
			return numberOf(*(*A)(p.accumulator()), result), nil
		},
	}
}

func multiply(p *Partial, by int64) {
	if p[prodBegun] == 0 {
		p[prodBegun], p[prodValue] = 1, 1
	}
	p[prodValue] *= by
}

const (
	floatFraction = 1<<52 - 1
	floatSign     = 1 << 63
	floatOne      = 1023 << 52
)

// floatProd multiplies numbers between 1 and 2, and adds their exponents: what lies between overflows nowhere, so it does
// not matter who multiplies which elements, or in which order.
func floatProd[T float32 | float64]() *Folding {
	return &Folding{
		Run: func(p *Partial, run memory.Span, _ int64) {
			x := memory.As[T](run)
			for len(x) > 0 {
				n := min(len(x), sumChunk)
				v, e := productOf(x[:n])
				scale(p, v, e)
				x = x[n:]
			}
		},
		Merge: func(p, other *Partial) {
			if other[prodBegun] != 0 {
				scale(p, other.float(prodValue), other[prodExponent])
			}
		},
		Finish: func(p *Partial, _ int64) (Number, error) {
			scale(p, 1, 0)
			const enough = 5000 // beyond any exponent
			return Real(math.Ldexp(p.float(prodValue), int(max(-enough, min(enough, p[prodExponent]))))), nil
		},
	}
}

// productOf returns the product of a chunk as a number and an exponent.
func productOf[T float32 | float64](x []T) (float64, int64) {
	a, b, e := 1.0, 1.0, int64(0)
	for i, v := range x {
		bits := math.Float64bits(float64(v))
		field := int64(bits >> 52 & 2047)
		m := math.Float64frombits(bits&(floatFraction|floatSign) | floatOne)
		if field == 0 || field == 2047 { // zero, or too small for the form of the others, or no finite number
			var small int
			m, small = math.Frexp(float64(v))
			field = int64(small) + 1023
		}
		e += field - 1023
		if i&1 == 0 {
			a *= m
		} else {
			b *= m
		}
	}
	return a * b, e
}

// scale multiplies by a number with an exponent.
func scale(p *Partial, by float64, e int64) {
	if p[prodBegun] == 0 {
		p[prodBegun] = 1
		p.setFloat(prodValue, 1)
	}
	v, more := math.Frexp(p.float(prodValue))
	m, also := math.Frexp(by)
	p.setFloat(prodValue, v*m)
	p[prodExponent] += e + int64(more) + int64(also)
}

func complexProd[T kernel.Complex]() *Folding {
	const re, im = 0, 1
	by := func(p *Partial, v complex128) {
		if p[prodBegun] == 0 {
			p[prodBegun] = 1
		} else {
			v = complex(p.float(re), p.float(im)) * v
		}
		p.setFloat(re, real(v))
		p.setFloat(im, imag(v))
	}
	return &Folding{
		Run: func(p *Partial, run memory.Span, _ int64) {
			v := complex(1, 0)
			for _, w := range memory.As[T](run) {
				v *= complex128(w)
			}
			if run.Count > 0 {
				by(p, v)
			}
		},
		Merge: func(p, other *Partial) {
			if other[prodBegun] != 0 {
				by(p, complex(other.float(re), other.float(im)))
			}
		},
		Finish: func(p *Partial, _ int64) (Number, error) {
			if p[prodBegun] == 0 {
				return Complex(1, 0), nil
			}
			return Complex(p.float(re), p.float(im)), nil
		},
	}
}
