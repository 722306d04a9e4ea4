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
				v, e := ProductOf(x[:n])
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
			return Real(Whole(p.float(prodValue), p[prodExponent])), nil
		},
	}
}

// ProductOf returns the product of up to a thousand numbers as a number and an exponent.
func ProductOf[T float32 | float64](x []T) (float64, int64) {
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

// The words of a product of complex numbers: its parts, whether there is any, and its exponent.
const (
	complexReal = iota
	complexImaginary
	complexBegun
	complexExponent
)

func complexProd[T kernel.Complex]() *Folding {
	by := func(p *Partial, v complex128, e int64) {
		if p[complexBegun] != 0 {
			v *= complex(p.float(complexReal), p.float(complexImaginary))
		}
		v, more := ComplexApart(v)
		p.setFloat(complexReal, real(v))
		p.setFloat(complexImaginary, imag(v))
		p[complexBegun], p[complexExponent] = 1, p[complexExponent]+e+more
	}
	return &Folding{
		Run: func(p *Partial, run memory.Span, _ int64) {
			for x := memory.As[T](run); len(x) > 0; {
				n := min(len(x), sumChunk/2)
				v, e := ComplexProductOf(x[:n])
				by(p, v, e)
				x = x[n:]
			}
		},
		Merge: func(p, other *Partial) {
			if other[complexBegun] != 0 {
				by(p, complex(other.float(complexReal), other.float(complexImaginary)), other[complexExponent])
			}
		},
		Finish: func(p *Partial, _ int64) (Number, error) {
			by(p, 1, 0)
			v := ComplexWhole(complex(p.float(complexReal), p.float(complexImaginary)), p[complexExponent])
			return Complex(real(v), imag(v)), nil
		},
	}
}

// ComplexProductOf returns the product of up to 512 numbers as a number and an exponent.
func ComplexProductOf[T kernel.Complex](x []T) (complex128, int64) {
	product, exponent := complex(1, 0), int64(0)
	for _, v := range x {
		m, e := ComplexApart(complex128(v))
		product *= m
		exponent += e
	}
	return product, exponent
}

// Apart returns a number between a half and 1, and the power of two by which it is to be multiplied. Infinity, NaN and 0 stay.
func Apart(v float64) (float64, int64) {
	m, e := math.Frexp(v)
	return m, int64(e)
}

// ComplexApart is Apart of a complex number, of which the greater part is between a half and 1.
func ComplexApart(v complex128) (complex128, int64) {
	greater := max(math.Abs(real(v)), math.Abs(imag(v)))
	if math.IsInf(greater, 0) || math.IsNaN(greater) {
		return v, 0
	}
	_, e := math.Frexp(greater)
	return complex(math.Ldexp(real(v), -e), math.Ldexp(imag(v), -e)), int64(e)
}

// Whole multiplies a number by a power of two.
func Whole(v float64, e int64) float64 {
	const enough = 5000 // beyond any exponent
	return math.Ldexp(v, int(max(-enough, min(enough, e))))
}

// ComplexWhole is Whole of a complex number.
func ComplexWhole(v complex128, e int64) complex128 {
	return complex(Whole(real(v), e), Whole(imag(v), e))
}
