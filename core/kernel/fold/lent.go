package fold

import (
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// ExtremeLoop has found, an element, become the extreme of itself and n others, which lie side by side. If any is NaN, it is.
type ExtremeLoop func(first unsafe.Pointer, n int, found unsafe.Pointer)

// PlaceLoop returns where the first of the extremes of n elements is, or the first NaN.
type PlaceLoop func(first unsafe.Pointer, n int) int

// DotLoop adds the products of n elements of each of two arrays to a sum of two words.
type DotLoop func(a, b unsafe.Pointer, n int, sum *[2]float64)

// SumLoop adds n elements to a sum of two words.
type SumLoop func(first unsafe.Pointer, n int, sum *[2]float64)

// MomentLoop writes the mean of n elements, in two words, and the sum of the squares of their distances from it.
type MomentLoop func(first unsafe.Pointer, n int, moments *[3]float64)

const (
	// fewest is how many elements are worth the call of a loop that is lent.
	fewest = 512
	// lentBlock is how many elements' moments a loop takes at a time: they stay in the second cache for the second look.
	lentBlock = 1 << 13
)

// What a library has lent: loops that use wider registers, or more threads, than those of this package.
var (
	lentExtremes [dtype.N][2]ExtremeLoop
	lentPlaces   [dtype.N][2]PlaceLoop
	lentDots     [dtype.N]DotLoop
	lentSums     [dtype.N]SumLoop
	lentMoments  [dtype.N]MomentLoop
)

// SetExtreme says how else to find the least, or the greatest, of elements of a type. Nil takes that back. Nothing may be
// folded meanwhile. Results are the same.
func SetExtreme(t dtype.Type, greatest bool, loop ExtremeLoop) {
	lentExtremes[t][sideOf(greatest)] = loop
}

// SetPlace says how else to find where the least, or the greatest, of elements of a type is. Nil takes that back. Nothing may be folded
// meanwhile. Results are the same.
func SetPlace(t dtype.Type, greatest bool, loop PlaceLoop) { lentPlaces[t][sideOf(greatest)] = loop }

// SetDot says how else to multiply vectors of floats of a type. Nil takes that back. Nothing may be folded meanwhile.
func SetDot(t dtype.Type, loop DotLoop) { lentDots[t] = loop }

// SetSum says how else to add up floats of a type. Nil takes that back. Nothing may be folded meanwhile.
func SetSum(t dtype.Type, loop SumLoop) { lentSums[t] = loop }

// SetMoments says how else to find the moments of floats of a type. Nil takes that back. Nothing may be folded meanwhile.
func SetMoments(t dtype.Type, loop MomentLoop) { lentMoments[t] = loop }

// sumBy returns a folding of floats that adds up by a loop that is lent where there is one, and where the sum is finite.
func sumBy(f *Folding) *Folding {
	by := *f
	by.Run = func(p *Partial, run memory.Span, at int64) {
		sum := *p.floats(0)
		if loop := lentSums[run.Type]; loop != nil && run.Count >= fewest {
			if loop(run.Addr, run.Count, &sum); sum[0]-sum[0] == 0 {
				*p.floats(0) = sum
				return
			}
		}
		f.Run(p, run, at)
	}
	return &by
}

// momentsBy returns a folding of floats that finds moments by a loop that is lent where there is one.
func momentsBy(f *Folding) *Folding {
	by := *f
	by.Run = func(p *Partial, run memory.Span, at int64) {
		loop := lentMoments[run.Type]
		if loop == nil || run.Count < fewest {
			f.Run(p, run, at)
			return
		}
		for first := 0; first < run.Count; first += lentBlock {
			some := run.Slice(first, min(first+lentBlock, run.Count))
			other, found := Partial{momentCount: int64(some.Count)}, [3]float64{}
			loop(some.Addr, some.Count, &found)
			other.setFloat(momentSpread, found[2])
			*other.floats(momentMean) = [2]float64{found[0], found[1]}
			mergeMoments(p, &other)
		}
	}
	return &by
}

func sideOf(greatest bool) int {
	if greatest {
		return 1
	}
	return 0
}

// valueBy returns find, or a loop that is lent where there is one, and find where that does not say which of several it
// found: NaNs are not alike, nor are zeros of floats.
func valueBy[T kernel.Ordered](greatest bool, find func([]T) T) func(memory.Span) T {
	floats := T(1)/2 != 0
	return func(run memory.Span) T {
		x := memory.As[T](run)
		loop := lentExtremes[run.Type][sideOf(greatest)]
		if loop == nil || len(x) < fewest {
			return find(x)
		}
		m := x[0]
		loop(run.Addr, run.Count, unsafe.Pointer(&m))
		if m != m || floats && m == 0 {
			return find(x)
		}
		return m
	}
}

// placeBy returns find, or a loop that is lent where there is one.
func placeBy[T kernel.Ordered](greatest bool, find func([]T) int) func(memory.Span) int {
	return func(run memory.Span) int {
		if loop := lentPlaces[run.Type][sideOf(greatest)]; loop != nil && run.Count >= fewest {
			return loop(run.Addr, run.Count)
		}
		return find(memory.As[T](run))
	}
}

// dotByLent adds the products of two runs to p, and says whether a loop for that is lent.
func dotByLent(p *Partial, a, b memory.Span) bool {
	loop := lentDots[a.Type]
	if loop == nil || a.Count < fewest {
		return false
	}
	loop(a.Addr, b.Addr, a.Count, p.floats(0))
	return true
}

// squares returns the folding of squares, which a loop that is lent adds up where there is one.
func squares[T kernel.Ordered]() *Folding {
	own := floatSum(squaresOf[T], whole)
	return &Folding{
		Run: func(p *Partial, run memory.Span, first int64) {
			if !dotByLent(p, run, run) {
				own.Run(p, run, first)
			}
		},
		Merge:  own.Merge,
		Finish: own.Finish,
	}
}
