package fold

import (
	"math"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// sumChunk is how many floats are added up before their sum is added to that of the chunks before, without losing what
// rounding takes away there. With eight accumulators, at most sumChunk/8 additions in a row round.
const sumChunk = 1024

func integerSum[T kernel.Integer, A wide](result dtype.Type) *Folding {
	return &Folding{
		Run: func(p *Partial, run memory.Span, _ int64) {
			var a, b, c, d A
			x := memory.As[T](run)
			for len(x) >= 8 {
				y := (*[8]T)(x)
				a += A(y[0]) + A(y[4])
				b += A(y[1]) + A(y[5])
				c += A(y[2]) + A(y[6])
				d += A(y[3]) + A(y[7])
				x = x[8:]
			}
			for _, v := range x {
				a += A(v)
			}
			*(*A)(p.accumulator()) += a + b + c + d
		},
		Merge:  func(p, other *Partial) { p[0] += other[0] },
		Finish: func(p *Partial, _ int64) (Number, error) { return numberOf(*(*A)(p.accumulator()), result), nil },
	}
}

// sumOf returns the sum of a chunk.
func sumOf[T kernel.Ordered](s *Streams[T]) float64 {
	var a, b, c, d, e, f, g, h float64
	w0, w1, w2, w3 := s[0], s[1], s[2], s[3]
	for len(w1) >= 8 && len(w0) >= 8 && len(w2) >= 8 && len(w3) >= 8 {
		y0, y1, y2, y3 := (*[8]T)(w0), (*[8]T)(w1), (*[8]T)(w2), (*[8]T)(w3)
		a += float64(y0[0]) + float64(y0[1])
		b += float64(y0[2]) + float64(y0[3])
		e += float64(y0[4]) + float64(y0[5])
		f += float64(y0[6]) + float64(y0[7])
		c += float64(y1[0]) + float64(y1[1])
		d += float64(y1[2]) + float64(y1[3])
		g += float64(y1[4]) + float64(y1[5])
		h += float64(y1[6]) + float64(y1[7])
		a += float64(y2[0]) + float64(y2[1])
		b += float64(y2[2]) + float64(y2[3])
		e += float64(y2[4]) + float64(y2[5])
		f += float64(y2[6]) + float64(y2[7])
		c += float64(y3[0]) + float64(y3[1])
		d += float64(y3[2]) + float64(y3[3])
		g += float64(y3[4]) + float64(y3[5])
		h += float64(y3[6]) + float64(y3[7])
		w0, w1, w2, w3 = w0[8:], w1[8:], w2[8:], w3[8:]
	}
	for len(w0) >= 8 {
		y := (*[8]T)(w0)
		a, b = a+float64(y[0]), b+float64(y[1])
		c, d = c+float64(y[2]), d+float64(y[3])
		e, f = e+float64(y[4]), f+float64(y[5])
		g, h = g+float64(y[6]), h+float64(y[7])
		w0 = w0[8:]
	}
	for _, w := range [...][]T{w0, w1, w2, w3} {
		for _, v := range w {
			a += float64(v)
		}
	}
	return ((a + b) + (c + d)) + ((e + f) + (g + h))
}

// squaresOf returns the sum of a chunk's squares.
func squaresOf[T kernel.Ordered](s *Streams[T]) float64 {
	var a, b, c, d, e, f, g, h float64
	w0, w1, w2, w3 := s[0], s[1], s[2], s[3]
	for len(w1) >= 8 && len(w0) >= 8 && len(w2) >= 8 && len(w3) >= 8 {
		y0, y1, y2, y3 := (*[8]T)(w0), (*[8]T)(w1), (*[8]T)(w2), (*[8]T)(w3)
		a += float64(y0[0])*float64(y0[0]) + float64(y0[1])*float64(y0[1])
		b += float64(y0[2])*float64(y0[2]) + float64(y0[3])*float64(y0[3])
		e += float64(y0[4])*float64(y0[4]) + float64(y0[5])*float64(y0[5])
		f += float64(y0[6])*float64(y0[6]) + float64(y0[7])*float64(y0[7])
		c += float64(y1[0])*float64(y1[0]) + float64(y1[1])*float64(y1[1])
		d += float64(y1[2])*float64(y1[2]) + float64(y1[3])*float64(y1[3])
		g += float64(y1[4])*float64(y1[4]) + float64(y1[5])*float64(y1[5])
		h += float64(y1[6])*float64(y1[6]) + float64(y1[7])*float64(y1[7])
		a += float64(y2[0])*float64(y2[0]) + float64(y2[1])*float64(y2[1])
		b += float64(y2[2])*float64(y2[2]) + float64(y2[3])*float64(y2[3])
		e += float64(y2[4])*float64(y2[4]) + float64(y2[5])*float64(y2[5])
		f += float64(y2[6])*float64(y2[6]) + float64(y2[7])*float64(y2[7])
		c += float64(y3[0])*float64(y3[0]) + float64(y3[1])*float64(y3[1])
		d += float64(y3[2])*float64(y3[2]) + float64(y3[3])*float64(y3[3])
		g += float64(y3[4])*float64(y3[4]) + float64(y3[5])*float64(y3[5])
		h += float64(y3[6])*float64(y3[6]) + float64(y3[7])*float64(y3[7])
		w0, w1, w2, w3 = w0[8:], w1[8:], w2[8:], w3[8:]
	}
	for len(w0) >= 8 {
		y := (*[8]T)(w0)
		a, b = a+float64(y[0])*float64(y[0]), b+float64(y[1])*float64(y[1])
		c, d = c+float64(y[2])*float64(y[2]), d+float64(y[3])*float64(y[3])
		e, f = e+float64(y[4])*float64(y[4]), f+float64(y[5])*float64(y[5])
		g, h = g+float64(y[6])*float64(y[6]), h+float64(y[7])*float64(y[7])
		w0 = w0[8:]
	}
	for _, w := range [...][]T{w0, w1, w2, w3} {
		for _, v := range w {
			a += float64(v) * float64(v)
		}
	}
	return ((a + b) + (c + d)) + ((e + f) + (g + h))
}

// magnitudesOf returns the sum of a chunk's magnitudes.
func magnitudesOf[T kernel.Ordered](s *Streams[T]) float64 {
	var a, b, c, d, e, f, g, h float64
	w0, w1, w2, w3 := s[0], s[1], s[2], s[3]
	for len(w1) >= 8 && len(w0) >= 8 && len(w2) >= 8 && len(w3) >= 8 {
		y0, y1, y2, y3 := (*[8]T)(w0), (*[8]T)(w1), (*[8]T)(w2), (*[8]T)(w3)
		a += math.Abs(float64(y0[0])) + math.Abs(float64(y0[1]))
		b += math.Abs(float64(y0[2])) + math.Abs(float64(y0[3]))
		e += math.Abs(float64(y0[4])) + math.Abs(float64(y0[5]))
		f += math.Abs(float64(y0[6])) + math.Abs(float64(y0[7]))
		c += math.Abs(float64(y1[0])) + math.Abs(float64(y1[1]))
		d += math.Abs(float64(y1[2])) + math.Abs(float64(y1[3]))
		g += math.Abs(float64(y1[4])) + math.Abs(float64(y1[5]))
		h += math.Abs(float64(y1[6])) + math.Abs(float64(y1[7]))
		a += math.Abs(float64(y2[0])) + math.Abs(float64(y2[1]))
		b += math.Abs(float64(y2[2])) + math.Abs(float64(y2[3]))
		e += math.Abs(float64(y2[4])) + math.Abs(float64(y2[5]))
		f += math.Abs(float64(y2[6])) + math.Abs(float64(y2[7]))
		c += math.Abs(float64(y3[0])) + math.Abs(float64(y3[1]))
		d += math.Abs(float64(y3[2])) + math.Abs(float64(y3[3]))
		g += math.Abs(float64(y3[4])) + math.Abs(float64(y3[5]))
		h += math.Abs(float64(y3[6])) + math.Abs(float64(y3[7]))
		w0, w1, w2, w3 = w0[8:], w1[8:], w2[8:], w3[8:]
	}
	for len(w0) >= 8 {
		y := (*[8]T)(w0)
		a, b = a+math.Abs(float64(y[0])), b+math.Abs(float64(y[1]))
		c, d = c+math.Abs(float64(y[2])), d+math.Abs(float64(y[3]))
		e, f = e+math.Abs(float64(y[4])), f+math.Abs(float64(y[5]))
		g, h = g+math.Abs(float64(y[6])), h+math.Abs(float64(y[7]))
		w0 = w0[8:]
	}
	for _, w := range [...][]T{w0, w1, w2, w3} {
		for _, v := range w {
			a += math.Abs(float64(v))
		}
	}
	return ((a + b) + (c + d)) + ((e + f) + (g + h))
}

func complexSquaresOf[T kernel.Complex](s *Streams[T]) (sum float64) {
	for _, x := range s {
		for _, v := range x {
			c := complex128(v)
			sum += real(c)*real(c) + imag(c)*imag(c)
		}
	}
	return sum
}

func complexMagnitudesOf[T kernel.Complex](s *Streams[T]) (sum float64) {
	for _, x := range s {
		for _, v := range x {
			c := complex128(v)
			sum += math.Hypot(real(c), imag(c))
		}
	}
	return sum
}

// twoSum adds to a sum of two words what of is added, losing nothing that is not far below both (Knuth, The Art of
// Computer Programming, volume 2, section 4.2.2).
func twoSum(sum *[2]float64, x float64) {
	s := sum[0] + x
	b := s - sum[0]
	sum[1] += (sum[0] - (s - b)) + (x - b)
	sum[0] = s
}

// rounded returns a sum of two words as one. Where the first is no finite number, the second is none either.
func rounded(sum *[2]float64) float64 {
	if math.IsInf(sum[0], 0) || math.IsNaN(sum[0]) {
		return sum[0]
	}
	return sum[0] + sum[1]
}

// floatSum adds up what of makes of each chunk, in two words.
// sumOfNone is the word of a sum of floats that says whether there are elements that are no finite numbers.
const sumOfNone = 2

func floatSum[T kernel.Number](of func(*Streams[T]) float64, finish func(sum float64, count int64) float64) *Folding {
	return &Folding{
		Run: func(p *Partial, run memory.Span, _ int64) {
			sum := p.floats(0)
			InStreams(memory.As[T](run), sumChunk, func(s *Streams[T]) {
				twoSum(sum, of(s))
				if sum[0]-sum[0] != 0 && p[sumOfNone] == 0 {
					p[sumOfNone] = ofNone(s)
				}
			})
		},
		Merge: func(p, other *Partial) {
			twoSum(p.floats(0), other.float(0))
			p.floats(0)[1] += other.float(1)
			p[sumOfNone] |= other[sumOfNone]
		},
		Finish: func(p *Partial, count int64) (Number, error) { return Real(finish(rounded(p.floats(0)), count)), nil },
	}
}

// ofNone is 1 if an element is no finite number.
func ofNone[T kernel.Number](s *Streams[T]) int64 {
	for _, x := range s {
		for _, v := range x {
			if v-v != 0 {
				return 1
			}
		}
	}
	return 0
}

// Overflowed reports whether a sum or mean of elements of type t is out of the range of floats, as a sum of finite numbers may be that
// are added up in another order than theirs.
func (f Kind) Overflowed(p *Partial, t dtype.Type) bool {
	switch {
	case f != Sum && f != Mean:
		return false
	case t == dtype.Float64:
		return p[sumOfNone] == 0 && p.float(0)-p.float(0) != 0
	case t == dtype.Complex128:
		return p.float(0)-p.float(0) != 0 || p.float(2)-p.float(2) != 0
	}
	return false
}

func whole(sum float64, _ int64) float64       { return sum }
func average(sum float64, count int64) float64 { return sum / float64(count) }

// complexSum adds up real and imaginary parts, in two words each.
func complexSum[T kernel.Complex](mean bool) *Folding {
	return &Folding{
		Run: func(p *Partial, run memory.Span, _ int64) {
			for x := memory.As[T](run); len(x) > 0; {
				n := min(len(x), sumChunk)
				var a, b complex128
				for i, v := range x[:n] {
					if i&1 == 0 {
						a += complex128(v)
					} else {
						b += complex128(v)
					}
				}
				twoSum(p.floats(0), real(a+b))
				twoSum(p.floats(2), imag(a+b))
				x = x[n:]
			}
		},
		Merge: func(p, other *Partial) {
			for i := 0; i < 4; i += 2 {
				twoSum(p.floats(i), other.float(i))
				p.floats(i)[1] += other.float(i + 1)
			}
		},
		Finish: func(p *Partial, count int64) (Number, error) {
			over := 1.0
			if mean {
				over = float64(count)
			}
			return Complex(rounded(p.floats(0))/over, rounded(p.floats(2))/over), nil
		},
	}
}
