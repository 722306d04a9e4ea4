package transfer

import (
	"math/bits"

	"dtl/core/partition"
)

// progression is count indices of the window first, first+step, …, step at least 1, which one rank holds at local,
// local+stride, ….
type progression struct{ first, step, count, local, stride int64 }

func (p *progression) last() int64 { return p.first + (p.count-1)*p.step }

// through returns which indices of the window the run holds.
func (w Slice) through(r partition.Run) progression {
	if w.Step == 1 && r.Step == 1 {
		near := r.Global - w.Start
		lo, hi := max(near, 0), min(near+r.Count, w.Count)
		return progression{first: lo, step: 1, count: hi - lo, local: r.Local + lo - near, stride: 1}
	}
	near, far, pace := r.Global-w.Start, r.Global+(r.Count-1)*r.Step-w.Start, w.Step
	apart := near // pace times the index is as far from the run's first
	if pace < 0 {
		near, far, pace, apart = -far, -near, -pace, -near
	}
	hi := min(w.Count-1, floor(far, pace))
	p := progression{first: max(0, ceil(near, pace)), step: 1, stride: w.Step}
	if r.Step > 1 {
		g, inverse := invert(pace, r.Step)
		if apart%g != 0 {
			return progression{}
		}
		p.step, p.stride = r.Step/g, w.Step/g
		p.first += residue(times(apart/g, inverse, p.step)-p.first, p.step)
	}
	if p.first > hi {
		return progression{} // count 0
	}
	p.count = (hi-p.first)/p.step + 1
	p.local = r.Local + (w.at(p.first)-r.Global)/r.Step
	return p
}

// intersect sets p to the indices that both progressions have, with the places on both sides. The last of each are given.
// Reports false if there are none.
func intersect(a, b *progression, lastA, lastB int64, p *piece) bool {
	lo, hi := max(a.first, b.first), min(lastA, lastB)
	if lo > hi {
		return false
	}
	p.first, p.width = lo, 1
	if a.step == 1 && b.step == 1 {
		p.count = hi - lo + 1
		p.local[0], p.local[1] = a.local+(lo-a.first)*a.stride, b.local+(lo-b.first)*b.stride
		p.step[0], p.step[1] = a.stride, b.stride
		return true
	}
	step := a.step
	switch {
	case b.step == 1:
		p.first = a.from(lo)
	case a.step == 1:
		p.first, step = b.from(lo), b.step
	default:
		var ok bool
		if p.first, step, ok = common(a, b, lo, hi); !ok {
			return false
		}
	}
	if p.first > hi {
		return false
	}
	p.count = (hi-p.first)/step + 1
	p.local[0], p.step[0] = a.local+(p.first-a.first)/a.step*a.stride, step/a.step*a.stride
	p.local[1], p.step[1] = b.local+(p.first-b.first)/b.step*b.stride, step/b.step*b.stride
	return true
}

// from returns the first index of the progression, as if it did not end, that is lo or more.
func (p *progression) from(lo int64) int64 { return p.first + (lo-p.first+p.step-1)/p.step*p.step }

// common solves the two congruences: it returns the first index in [lo, hi] of both, and how far apart they lie.
func common(a, b *progression, lo, hi int64) (first, step int64, ok bool) {
	first = a.from(lo)
	g, inverse := invert(a.step, b.step)
	apart := b.first - first
	if apart%g != 0 {
		return 0, 0, false
	}
	period := b.step / g // each period-th of a's is one of b's
	x, most := times(apart/g, inverse, period), (hi-first)/a.step
	if x > most {
		return 0, 0, false
	}
	return first + x*a.step, a.step * period, true // steps are less than 2³¹, as ranks are
}

// invert returns the greatest common divisor g of two numbers, and x in [0, m/g) with a/g * x = 1 modulo m/g.
func invert(a, m int64) (g, x int64) {
	r, s := m, a%m
	x, y := int64(0), int64(1)
	for s != 0 {
		q := r / s
		r, s = s, r-q*s
		x, y = y, x-q*y
	}
	return r, residue(x, m/r)
}

// times returns a * b modulo m, in [0, m), for b in [0, m).
func times(a, b, m int64) int64 {
	over, product := bits.Mul64(uint64(residue(a, m)), uint64(b))
	return int64(bits.Rem64(over, product, uint64(m)))
}

// residue returns a modulo m, in [0, m).
func residue(a, m int64) int64 {
	if a %= m; a < 0 {
		a += m
	}
	return a
}

// floor and ceil return a/b, b at least 1, rounded down and up.
func floor(a, b int64) int64 {
	if b == 1 {
		return a
	}
	return (a - residue(a, b)) / b
}

func ceil(a, b int64) int64 { return -floor(-a, b) }
