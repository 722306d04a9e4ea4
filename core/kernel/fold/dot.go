package fold

import (
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// Dot adds the products of two runs' elements to p, whose Folding is DotFolding: integers wrap, floats are added up in
// float64, and of truth values it counts the pairs that are both true. With conjugate, a's complex elements are
// conjugated. The runs have equal types and counts.
func Dot(p *Partial, a, b memory.Span, conjugate bool) error {
	if a.Type != b.Type || a.Count != b.Count || !a.Type.Valid() {
		return status.New(status.InvalidArgument, "%d elements of %s multiplied by %d of %s", a.Count, a.Type, b.Count, b.Type)
	}
	dots[a.Type](p, a, b, conjugate)
	return nil
}

// DotFolding returns how the partials of Dot for elements of type t are merged and finished.
func DotFolding(t dtype.Type) (*Folding, error) {
	if t == dtype.Bool {
		return Truths.Folding(t)
	}
	return Sum.Folding(t)
}

var dots = [dtype.N]func(p *Partial, a, b memory.Span, conjugate bool){
	dtype.Float64:    dotFloats[float64],
	dtype.Float32:    dotFloats[float32],
	dtype.Int64:      dotIntegers[int64],
	dtype.Int32:      dotIntegers[int32],
	dtype.Int16:      dotIntegers[int16],
	dtype.Int8:       dotIntegers[int8],
	dtype.Uint64:     dotIntegers[uint64],
	dtype.Uint32:     dotIntegers[uint32],
	dtype.Uint16:     dotIntegers[uint16],
	dtype.Uint8:      dotIntegers[uint8],
	dtype.Bool:       dotIntegers[uint8],
	dtype.Complex64:  dotComplex[complex64],
	dtype.Complex128: dotComplex[complex128],
}

func dotFloats[T float32 | float64](p *Partial, a, b memory.Span, _ bool) {
	if dotByLent(p, a, b) {
		return
	}
	x, y := memory.Pair[T](a, b)
	if a.Addr == b.Addr {
		InStreams(x, sumChunk, func(s *Streams[T]) { twoSum(p.floats(0), squaresOf(s)) })
		return
	}
	at, quarter := 0, len(x)/4
	InStreams(x, sumChunk, func(s *Streams[T]) {
		n := len(s[0])
		if len(s[1]) == 0 { // what is left over
			twoSum(p.floats(0), productsOf(s[0], y[at:at+n]))
			at += n
			return
		}
		var t Streams[T]
		for k := range t {
			t[k] = y[k*quarter+at : k*quarter+at+n]
		}
		if at += n; at == quarter {
			at = 4 * quarter
		}
		twoSum(p.floats(0), productsBeside(s, &t))
	})
}

// productsBeside returns the sum of a chunk's products, of four streams side by side.
func productsBeside[T float32 | float64](s, t *Streams[T]) float64 {
	var a, b, c, d, e, f, g, h float64
	v0, v1, v2, v3, w0, w1, w2, w3 := s[0], s[1], s[2], s[3], t[0], t[1], t[2], t[3]
	n := len(v0) &^ 3
	for i := 0; i+4 <= n; i += 4 {
		x0, x1, x2, x3 := (*[4]T)(v0[i:]), (*[4]T)(v1[i:]), (*[4]T)(v2[i:]), (*[4]T)(v3[i:])
		y0, y1, y2, y3 := (*[4]T)(w0[i:]), (*[4]T)(w1[i:]), (*[4]T)(w2[i:]), (*[4]T)(w3[i:])
		a += float64(x0[0])*float64(y0[0]) + float64(x0[1])*float64(y0[1])
		b += float64(x0[2])*float64(y0[2]) + float64(x0[3])*float64(y0[3])
		c += float64(x1[0])*float64(y1[0]) + float64(x1[1])*float64(y1[1])
		d += float64(x1[2])*float64(y1[2]) + float64(x1[3])*float64(y1[3])
		e += float64(x2[0])*float64(y2[0]) + float64(x2[1])*float64(y2[1])
		f += float64(x2[2])*float64(y2[2]) + float64(x2[3])*float64(y2[3])
		g += float64(x3[0])*float64(y3[0]) + float64(x3[1])*float64(y3[1])
		h += float64(x3[2])*float64(y3[2]) + float64(x3[3])*float64(y3[3])
	}
	for k := range s {
		for i := n; i < len(s[k]); i++ {
			a += float64(s[k][i]) * float64(t[k][i])
		}
	}
	return ((a + b) + (c + d)) + ((e + f) + (g + h))
}

// productsOf returns the sum of a chunk's products.
func productsOf[T float32 | float64](x, y []T) float64 {
	var a, b, c, d, e, f, g, h float64
	for len(x) >= 8 && len(y) >= 8 {
		v, w := (*[8]T)(x), (*[8]T)(y)
		a += float64(v[0]) * float64(w[0])
		b += float64(v[1]) * float64(w[1])
		c += float64(v[2]) * float64(w[2])
		d += float64(v[3]) * float64(w[3])
		e += float64(v[4]) * float64(w[4])
		f += float64(v[5]) * float64(w[5])
		g += float64(v[6]) * float64(w[6])
		h += float64(v[7]) * float64(w[7])
		x, y = x[8:], y[8:]
	}
	for i, v := range x {
		a += float64(v) * float64(y[i])
	}
	return ((a + b) + (c + d)) + ((e + f) + (g + h))
}

func dotIntegers[T kernel.Integer](p *Partial, a, b memory.Span, _ bool) {
	x, y := memory.Pair[T](a, b)
	sum := int64(0)
	for i, v := range y {
		sum += int64(x[i]) * int64(v)
	}
	p[0] += sum
}

func dotComplex[T kernel.Complex](p *Partial, a, b memory.Span, conjugate bool) {
	x, y := memory.Pair[T](a, b)
	sign := 1.0
	if conjugate {
		sign = -1
	}
	for len(x) > 0 {
		n := min(len(x), sumChunk)
		var re, im float64
		for i, v := range x[:n] {
			c, d := complex128(v), complex128(y[i])
			ci := sign * imag(c)
			re += real(c)*real(d) - ci*imag(d)
			im += real(c)*imag(d) + ci*real(d)
		}
		twoSum(p.floats(0), re)
		twoSum(p.floats(2), im)
		x, y = x[n:], y[n:]
	}
}
