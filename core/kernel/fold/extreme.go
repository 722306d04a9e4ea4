package fold

import (
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// The words of an extreme: its value, where it is, and whether there is one. Of a complex value, the real part and the imaginary part.
const (
	extremeValue = iota
	extremeWhere
	extremeFound
	extremeImaginary
)

// least returns where the first of the least elements is, or the first NaN. There is at least one element.
func least[T kernel.Ordered](x []T) int {
	at, m := 0, x[0]
	if m != m {
		return 0
	}
	for i := 0; i < len(x); {
		if left := x[i:]; len(left) >= 8 {
			y := (*[8]T)(left)
			if m <= y[0] && m <= y[1] && m <= y[2] && m <= y[3] && m <= y[4] && m <= y[5] && m <= y[6] && m <= y[7] {
				i += 8 // as most do, and none is NaN
				continue
			}
		}
		for end := min(i+8, len(x)); i < end; i++ {
			if v := x[i]; !(m <= v) {
				at, m = i, v
				if v != v {
					return at
				}
			}
		}
	}
	return at
}

// greatest is least for the greatest.
func greatest[T kernel.Ordered](x []T) int {
	at, m := 0, x[0]
	if m != m {
		return 0
	}
	for i := 0; i < len(x); {
		if left := x[i:]; len(left) >= 8 {
			y := (*[8]T)(left)
			if m >= y[0] && m >= y[1] && m >= y[2] && m >= y[3] && m >= y[4] && m >= y[5] && m >= y[6] && m >= y[7] {
				i += 8 // as most do, and none is NaN
				continue
			}
		}
		for end := min(i+8, len(x)); i < end; i++ {
			if v := x[i]; !(m >= v) {
				at, m = i, v
				if v != v {
					return at
				}
			}
		}
	}
	return at
}

// leastValue returns the least element, of those that find tells apart the first: it reads four quarters side by side, which
// takes less time than one after the other.
func leastValue[T kernel.Ordered](x []T) T {
	q, m := len(x)/4, x[0]
	r, s, t, u := x[:q], x[q:2*q], x[2*q:3*q], x[3*q:4*q]
	for i := 0; i+4 <= len(r) && i+4 <= len(s) && i+4 <= len(t) && i+4 <= len(u); i += 4 {
		a, b, c, d := (*[4]T)(r[i:]), (*[4]T)(s[i:]), (*[4]T)(t[i:]), (*[4]T)(u[i:])
		if m <= a[0] && m <= a[1] && m <= a[2] && m <= a[3] && m <= b[0] && m <= b[1] && m <= b[2] && m <= b[3] &&
			m <= c[0] && m <= c[1] && m <= c[2] && m <= c[3] && m <= d[0] && m <= d[1] && m <= d[2] && m <= d[3] {
			continue
		}
		for _, y := range [...]*[4]T{a, b, c, d} {
			m = min(m, y[0], y[1], y[2], y[3])
		}
		if m != m {
			break
		}
	}
	for i := q &^ 3; i < q; i++ {
		m = min(m, r[i], s[i], t[i], u[i])
	}
	for _, v := range x[4*q:] {
		m = min(m, v)
	}
	if m != m || m == 0 { // NaNs are not alike, nor are zeros
		return x[least(x)]
	}
	return m
}

// greatestValue is leastValue for the greatest.
func greatestValue[T kernel.Ordered](x []T) T {
	q, m := len(x)/4, x[0]
	r, s, t, u := x[:q], x[q:2*q], x[2*q:3*q], x[3*q:4*q]
	for i := 0; i+4 <= len(r) && i+4 <= len(s) && i+4 <= len(t) && i+4 <= len(u); i += 4 {
		a, b, c, d := (*[4]T)(r[i:]), (*[4]T)(s[i:]), (*[4]T)(t[i:]), (*[4]T)(u[i:])
		if m >= a[0] && m >= a[1] && m >= a[2] && m >= a[3] && m >= b[0] && m >= b[1] && m >= b[2] && m >= b[3] &&
			m >= c[0] && m >= c[1] && m >= c[2] && m >= c[3] && m >= d[0] && m >= d[1] && m >= d[2] && m >= d[3] {
			continue
		}
		for _, y := range [...]*[4]T{a, b, c, d} {
			m = max(m, y[0], y[1], y[2], y[3])
		}
		if m != m {
			break
		}
	}
	for i := q &^ 3; i < q; i++ {
		m = max(m, r[i], s[i], t[i], u[i])
	}
	for _, v := range x[4*q:] {
		m = max(m, v)
	}
	if m != m || m == 0 {
		return x[greatest(x)]
	}
	return m
}

// less says whether an element comes before another as the least, of which the first NaN is one.
func less[A kernel.Ordered](v, than A) bool { return v < than || v != v && than == than }

// more is less for the greatest.
func more[A kernel.Ordered](v, than A) bool { return v > than || v != v && than == than }

// extreme finds a value.
func extreme[T kernel.Ordered, A wide | float64](
	find func(memory.Span) T, before func(v, than A) bool, result dtype.Type, name string,
) *Folding {
	return &Folding{
		Run: func(p *Partial, run memory.Span, _ int64) {
			if run.Count > 0 {
				mine := Partial{extremeFound: 1}
				*(*A)(mine.accumulator()) = A(find(run))
				takeBefore(valueOf[A], before)(p, &mine)
			}
		},
		Merge: takeBefore(valueOf[A], before),
		Finish: func(p *Partial, _ int64) (Number, error) {
			return numberOf(valueOf[A](p), result), p.foundValue(name)
		},
	}
}

// place finds where a value is: of several, the least index.
func place[T kernel.Ordered, A wide | float64](find func(memory.Span) int, before func(v, than A) bool, name string) *Folding {
	return &Folding{
		Run: func(p *Partial, run memory.Span, first int64) {
			if x := memory.As[T](run); len(x) > 0 {
				at := find(run)
				mine := Partial{extremeWhere: first + int64(at), extremeFound: 1}
				*(*A)(mine.accumulator()) = A(x[at])
				takeFirst(valueOf[A], before)(p, &mine)
			}
		},
		Merge:  takeFirst(valueOf[A], before),
		Finish: func(p *Partial, _ int64) (Number, error) { return Integer(p[extremeWhere]), p.foundPlace(name) },
	}
}

// complexExtremes find a value and where it is, of numbers in the order in which NumPy has them: by their real parts, and of those that
// are alike by the imaginary ones. A number with a NaN in it comes before all others.
func complexExtremes[T kernel.Complex](greatest bool, value, where string) (*Folding, *Folding) {
	before := complexLess
	if greatest {
		before = func(v, than complex128) bool { return complexLess(-v, -than) }
	}
	take := takeFirst(complexValue, before)
	run := func(p *Partial, run memory.Span, first int64) {
		x := memory.As[T](run)
		if len(x) == 0 {
			return
		}
		at := 0
		for i := range x {
			if before(complex128(x[i]), complex128(x[at])) {
				at = i
			}
		}
		mine := Partial{extremeWhere: first + int64(at), extremeFound: 1}
		mine.setFloat(extremeValue, real(complex128(x[at])))
		mine.setFloat(extremeImaginary, imag(complex128(x[at])))
		take(p, &mine)
	}
	return &Folding{Run: run, Merge: take, Finish: func(p *Partial, _ int64) (Number, error) {
			v := complexValue(p)
			return Complex(real(v), imag(v)), p.foundValue(value)
		}}, &Folding{Run: run, Merge: take, Finish: func(p *Partial, _ int64) (Number, error) {
			return Integer(p[extremeWhere]), p.foundPlace(where)
		}}
}

func complexLess(v, than complex128) bool {
	if v != v || than != than {
		return v != v && than == than
	}
	return real(v) < real(than) || real(v) == real(than) && imag(v) < imag(than)
}

func valueOf[A wide | float64](p *Partial) A { return *(*A)(p.accumulator()) }

func complexValue(p *Partial) complex128 {
	return complex(p.float(extremeValue), p.float(extremeImaginary))
}

// takeBefore returns what replaces a value by one that comes before it.
func takeBefore[A any](value func(*Partial) A, before func(v, than A) bool) func(p, other *Partial) {
	return func(p, other *Partial) {
		if other[extremeFound] != 0 && (p[extremeFound] == 0 || before(value(other), value(p))) {
			*p = *other
		}
	}
}

// takeFirst is takeBefore, and of values that are alike takes the one of the lesser index.
func takeFirst[A any](value func(*Partial) A, before func(v, than A) bool) func(p, other *Partial) {
	return func(p, other *Partial) {
		if other[extremeFound] == 0 {
			return
		}
		mine, theirs := value(p), value(other)
		if p[extremeFound] == 0 || before(theirs, mine) || !before(mine, theirs) && other[extremeWhere] < p[extremeWhere] {
			*p = *other
		}
	}
}

func (p *Partial) foundValue(name string) error {
	if p[extremeFound] == 0 {
		return status.New(status.InvalidArgument, "zero-size array to reduction operation %s which has no identity", name)
	}
	return nil
}

func (p *Partial) foundPlace(name string) error {
	if p[extremeFound] == 0 {
		return status.New(status.InvalidArgument, "attempt to get %s of an empty sequence", name)
	}
	return nil
}

// Where returns the index in a partial of ARGMIN or ARGMAX, and whether there is one.
func (p *Partial) Where() (int64, bool) { return p[extremeWhere], p[extremeFound] != 0 }

// SetWhere replaces that index.
func (p *Partial) SetWhere(index int64) { p[extremeWhere] = index }
