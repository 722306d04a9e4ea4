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

// DotLoop adds the products of n float64 to a sum of two words, each of which are added up before.
type DotLoop func(a, b unsafe.Pointer, n, each int, sum *[2]float64)

// SumLoop adds n elements to a sum of two words.
type SumLoop func(first unsafe.Pointer, n int, sum *[2]float64)

const (
	// fewest is how many elements are worth the call of a loop that is lent.
	fewest = 512
	// dotChunk is how many products a loop adds up, before their sum is added to that of the others without losing what
	// rounding takes away there. BLAS has one thread for so few, so the bits do not depend on how many it may have.
	dotChunk = 1 << 13
)

// What a library has lent: loops that use wider registers, or more threads, than those of this package.
var (
	lentExtremes [dtype.N][2]ExtremeLoop
	lentPlaces   [dtype.N][2]PlaceLoop
	lentDot      DotLoop
	lentSums     [dtype.N]SumLoop
)

// SetExtreme says how else to find the least, or the greatest, of elements of a type. Nil takes that back. Nothing may be
// folded meanwhile. Results are the same.
func SetExtreme(t dtype.Type, greatest bool, loop ExtremeLoop) {
	lentExtremes[t][sideOf(greatest)] = loop
}

// SetPlace says how else to find where the least, or the greatest, of elements of a type is. Nil takes that back. Nothing may be folded
// meanwhile. Results are the same.
func SetPlace(t dtype.Type, greatest bool, loop PlaceLoop) { lentPlaces[t][sideOf(greatest)] = loop }

// SetDot says how else to multiply vectors of float64. Nil takes that back. Nothing may be folded meanwhile.
func SetDot(loop DotLoop) { lentDot = loop }

// SetSum says how else to add up floats of a type. Nil takes that back. Nothing may be folded meanwhile.
func SetSum(t dtype.Type, loop SumLoop) { lentSums[t] = loop }

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

// hasDot says whether a loop for a type is lent.
func hasDot(t dtype.Type) bool { return lentDot != nil && t == dtype.Float64 }

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
	if !hasDot(a.Type) || a.Count < fewest {
		return false
	}
	lentDot(a.Addr, b.Addr, a.Count, dotChunk, p.floats(0))
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
