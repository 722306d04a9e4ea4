// Package fold combines many elements into one number: sums, products, extremes, moments, dot products, and sums
// without rounding.
package fold

import (
	"math"
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// Kind is what can be made of many elements in one pass: a number, of parts that are folded each by itself and merged.
type Kind uint8

// The folds. Their numbers travel over the bridge: append, never reorder.
const (
	Sum        Kind = iota // integers and bool in 64 bits, which wrap; floats in float64
	Prod                   // likewise
	Min                    // NaN where there is one; complex elements are ordered by their real parts, then by the others
	Max                    // likewise
	ArgMin                 // index of the first of the least elements, or of the first NaN
	ArgMax                 // likewise of the greatest
	Mean                   // in float64, which no integer overflows
	Moment                 // sum of the squared distances from the mean; of complex elements, of their real parts
	Squares                // sum of the squared magnitudes
	Magnitudes             // sum of the magnitudes
	Truths                 // how many are not zero
	NKinds
)

var foldNames = [NKinds]string{"sum", "prod", "min", "max", "argmin", "argmax", "mean", "var", "norm", "norm", "count_nonzero"}

// String returns what users call the fold.
func (f Kind) String() string {
	if f < NKinds {
		return foldNames[f]
	}
	return "unknown fold"
}

// Parse returns the fold of the given number, as it arrives from outside.
func Parse(n int64) (Kind, error) {
	if n < 0 || n >= int64(NKinds) {
		return 0, status.New(status.InvalidArgument, "fold number %d outside [0, %d)", n, int(NKinds))
	}
	return Kind(n), nil
}

// Partial is the fold of some elements; what the words are is the Folding's affair. The zero Partial is that of none.
type Partial [4]int64

func (p *Partial) float(i int) float64         { return math.Float64frombits(uint64(p[i])) }
func (p *Partial) setFloat(i int, v float64)   { p[i] = int64(math.Float64bits(v)) }
func (p *Partial) floats(i int) *[2]float64    { return (*[2]float64)(unsafe.Pointer(&p[i])) }
func (p *Partial) accumulator() unsafe.Pointer { return unsafe.Pointer(p) }

// Folding folds elements of one type.
type Folding struct {
	// Run adds elements that lie side by side, the first of which has the index first.
	Run func(p *Partial, run memory.Span, first int64)
	// Merge adds what other elements, which come after, were folded to.
	Merge func(p, other *Partial)
	// Finish returns the number that the elements, of which there are count, are folded to. Of none it may be an error.
	Finish func(p *Partial, count int64) (Number, error)
}

// Number is one element of a type.
type Number struct {
	Type dtype.Type
	bits [2]uint64
}

// Bytes returns the element's bytes.
func (n *Number) Bytes() []byte { return unsafe.Slice((*byte)(unsafe.Pointer(&n.bits)), n.Type.Size()) }

// Integer is a Number of int64.
func Integer(v int64) Number { return Number{dtype.Int64, [2]uint64{uint64(v)}} }

// Real is a Number of float64.
func Real(v float64) Number { return Number{dtype.Float64, [2]uint64{math.Float64bits(v)}} }

// Complex is a Number of complex128.
func Complex(re, im float64) Number {
	return Number{dtype.Complex128, [2]uint64{math.Float64bits(re), math.Float64bits(im)}}
}

// Float returns the value of a Number of float64.
func (n *Number) Float() float64 { return math.Float64frombits(n.bits[0]) }

// Folding returns how a fold works on elements of type t.
func (f Kind) Folding(t dtype.Type) (*Folding, error) {
	if f >= NKinds || !t.Valid() {
		return nil, status.New(status.InvalidArgument, "fold %d of dtype %d does not exist", uint8(f), uint8(t))
	}
	return foldings[t][f], nil
}

// Result returns the type that NumPy gives a fold of elements of type t.
func (f Kind) Result(t dtype.Type) dtype.Type {
	floating := t == dtype.Float32 || t == dtype.Float64 || t == dtype.Complex64 || t == dtype.Complex128
	switch f {
	case ArgMin, ArgMax, Truths:
		return dtype.Int64
	case Min, Max:
		return t
	case Sum, Prod:
		switch {
		case floating:
			return t
		case t == dtype.Uint8 || t == dtype.Uint16 || t == dtype.Uint32:
			return dtype.Uint64
		case t == dtype.Uint64:
			return t
		}
		return dtype.Int64
	}
	if floating && f == Mean {
		return t
	}
	return dtype.Float64
}

// As returns a Number of a narrower type: floats are rounded, integers fit.
func (n Number) As(t dtype.Type) Number {
	switch {
	case t == dtype.Float32 && n.Type == dtype.Float64:
		n.bits[0] = uint64(math.Float32bits(float32(n.Float())))
	case t == dtype.Complex64 && n.Type == dtype.Complex128:
		re, im := math.Float64frombits(n.bits[0]), math.Float64frombits(n.bits[1])
		n.bits[0] = uint64(math.Float32bits(float32(re))) | uint64(math.Float32bits(float32(im)))<<32
	} // of integers, the low bytes come first
	n.Type = t
	return n
}

// foldRow holds one element type's foldings.
type foldRow [NKinds]*Folding

var foldings = [dtype.N]foldRow{
	dtype.Float64:    floatFolds[float64](),
	dtype.Float32:    floatFolds[float32](),
	dtype.Int64:      integerFolds[int64, int64](dtype.Int64),
	dtype.Int32:      integerFolds[int32, int64](dtype.Int64),
	dtype.Int16:      integerFolds[int16, int64](dtype.Int64),
	dtype.Int8:       ofBytes(integerFolds[int8, int64](dtype.Int64)),
	dtype.Uint64:     integerFolds[uint64, uint64](dtype.Uint64),
	dtype.Uint32:     integerFolds[uint32, uint64](dtype.Uint64),
	dtype.Uint16:     integerFolds[uint16, uint64](dtype.Uint64),
	dtype.Uint8:      ofBytes(integerFolds[uint8, uint64](dtype.Uint64)),
	dtype.Bool:       boolFolds(),
	dtype.Complex64:  complexFolds[complex64, float32](),
	dtype.Complex128: complexFolds[complex128, float64](),
}

func integerFolds[T kernel.Integer, A wide](result dtype.Type) foldRow {
	row := realFolds[T, A](result)
	row[Sum] = integerSum[T, A](result)
	row[Prod] = integerProd[T, A](result)
	return row
}

// boolFolds returns the folds of truth values, whose sum is how many are true.
func boolFolds() foldRow {
	row := ofBytes(integerFolds[uint8, int64](dtype.Int64))
	row[Sum] = row[Truths]
	return row
}

func ofBytes(row foldRow) foldRow {
	row[Truths] = truthsOfBytes()
	return row
}

func floatFolds[T float32 | float64]() foldRow {
	row := realFolds[T, float64](dtype.Float64)
	row[Sum], row[Mean] = sumBy(floatSum(sumOf[T], whole)), sumBy(row[Mean])
	row[Prod], row[Moment] = floatProd[T](), momentsBy(row[Moment])
	return row
}

// realFolds returns the folds of elements of type T, which have an order, and which A adds up.
func realFolds[T kernel.Ordered, A wide | float64](result dtype.Type) foldRow {
	return foldRow{
		Min:        extreme(valueBy(false, leastValue[T]), less[A], result, "minimum"),
		Max:        extreme(valueBy(true, greatestValue[T]), more[A], result, "maximum"),
		ArgMin:     place[T](placeBy(false, least[T]), less[A], "argmin"),
		ArgMax:     place[T](placeBy(true, greatest[T]), more[A], "argmax"),
		Mean:       floatSum(sumOf[T], average),
		Moment:     moments(momentsOf[T]),
		Squares:    squares[T](),
		Magnitudes: floatSum(magnitudesOf[T], whole),
		Truths:     truths[T](),
	}
}

func complexFolds[T kernel.Complex, F float32 | float64]() foldRow {
	row := foldRow{
		Sum: complexSum[T](false), Prod: complexProd[T](), Mean: complexSum[T](true),
		Moment:     moments(partMoments[T, F](0)),
		Squares:    floatSum(complexSquaresOf[T], whole),
		Magnitudes: floatSum(complexMagnitudesOf[T], whole),
		Truths:     truths[T](),
	}
	row[Min], row[ArgMin] = complexExtremes[T](false, "minimum", "argmin")
	row[Max], row[ArgMax] = complexExtremes[T](true, "maximum", "argmax")
	return row
}

// wide are the types in which integers are added up.
type wide interface{ int64 | uint64 }

// numberOf returns a value as a Number.
func numberOf[A wide | float64](v A, t dtype.Type) Number {
	n := Number{Type: t}
	*(*A)(unsafe.Pointer(&n.bits)) = v
	return n
}
