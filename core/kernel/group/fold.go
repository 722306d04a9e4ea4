package group

import (
	"math"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
	"dtl/core/status"
)

// Fold is what is made of the values of a group that are not null.
type Fold int64

// The folds. Their numbers are known to Python: append, never reorder.
const (
	Count   Fold = iota // how many values there are, as int64
	Sum                 // their sum, as int64 or uint64, which wraps around, or as float64
	Total               // their sum as float64
	Least               // the least value, of the values' type: NaN if there is no other, or none
	Most                // the greatest
	Squares             // the sum of the squares of how far they are from a number of the group, and below it the sum of how far, as float64
)

const (
	// perPart is how many rows a part has at least, for each group: where there are fewer, to add up what the parts have
	// found takes longer than to find it.
	perPart = 4
	// mostParts is how many parts there are at most.
	mostParts = 8
)

// Make writes to out what a fold makes of the values of each group, of which codes says which a row belongs to. About has the
// numbers from which Squares counts. Out has an element for each group, or two one after the other of Squares.
//
// Rows are divided into parts, by their number and that of groups alone, and what is made of each part comes together in
// their order.
func (f Fold) Make(out memory.Span, about []float64, codes []int64, c Column, t dtype.Type, workers radix.Workers) error {
	how, err := f.of(out, codes, c, t)
	if err != nil {
		return err
	}
	parts := max(1, min(mostParts, len(codes)/max(perPart*out.Count, chunk)))
	found := []memory.Span{out}
	for range parts - 1 {
		found = append(found, memory.Scratch(out))
	}
	each(workers, len(codes), parts, func(part, lo, hi int) {
		how.begin(found[part])
		how.run(found[part], about, codes[lo:hi], c, lo)
	})
	if parts > 1 {
		each(workers, out.Count, max(1, min(workers.Size, out.Count/chunk)), func(_, lo, hi int) {
			for _, more := range found[1:] {
				how.merge(out.Slice(lo, hi), more.Slice(lo, hi))
			}
		})
	}
	return nil
}

// Add adds rows, in their order, to what a fold has made of others before them: out is as Make has left it, or Add.
func (f Fold) Add(out memory.Span, about []float64, codes []int64, c Column, t dtype.Type) error {
	how, err := f.of(out, codes, c, t)
	if err != nil {
		return err
	}
	how.run(out, about, codes, c, 0)
	return nil
}

// of returns how the fold is made of values of a type, if it makes what out has, of as many rows as there are codes.
func (f Fold) of(out memory.Span, codes []int64, c Column, t dtype.Type) (loop, error) {
	if f < Count || f > Squares {
		return loop{}, status.New(status.Internal, "%d is no fold", int64(f))
	}
	how := folds[t][f]
	if how.run == nil || how.of != out.Type {
		return loop{}, status.New(status.InvalidType, "no fold %d of %s makes %s", int64(f), t, out.Type)
	}
	if c.Rows() != len(codes) {
		return loop{}, status.New(status.Internal, "%d rows of %d", c.Rows(), len(codes))
	}
	return how, nil
}

// loop is how a fold is made of values of a type.
type loop struct {
	of    dtype.Type // of what it makes
	begin func(out memory.Span)
	run   func(out memory.Span, about []float64, codes []int64, c Column, first int)
	merge func(out, more memory.Span)
}

// folds has the loops of each type's folds. Truth values are bytes.
var folds = [dtype.N][Squares + 1]loop{
	dtype.Float64:    row[float64, float64](dtype.Float64, dtype.Float64, math.NaN(), math.NaN()),
	dtype.Float32:    row[float32, float64](dtype.Float32, dtype.Float64, float32(math.NaN()), float32(math.NaN())),
	dtype.Int64:      row[int64, int64](dtype.Int64, dtype.Int64, math.MaxInt64, math.MinInt64),
	dtype.Int32:      row[int32, int64](dtype.Int32, dtype.Int64, math.MaxInt32, math.MinInt32),
	dtype.Int16:      row[int16, int64](dtype.Int16, dtype.Int64, math.MaxInt16, math.MinInt16),
	dtype.Int8:       row[int8, int64](dtype.Int8, dtype.Int64, math.MaxInt8, math.MinInt8),
	dtype.Uint64:     row[uint64, uint64](dtype.Uint64, dtype.Uint64, math.MaxUint64, 0),
	dtype.Uint32:     row[uint32, uint64](dtype.Uint32, dtype.Uint64, math.MaxUint32, 0),
	dtype.Uint16:     row[uint16, uint64](dtype.Uint16, dtype.Uint64, math.MaxUint16, 0),
	dtype.Uint8:      row[uint8, uint64](dtype.Uint8, dtype.Uint64, math.MaxUint8, 0),
	dtype.Bool:       row[uint8, uint64](dtype.Bool, dtype.Uint64, math.MaxUint8, 0),
	dtype.Complex64:  {},
	dtype.Complex128: {},
}

// row returns the loops of values of type V, whose sums are of type S. Before a group's first value, its least is top, and its greatest is bottom.
func row[V kernel.Ordered, S int64 | uint64 | float64](of, sums dtype.Type, top, bottom V) (r [Squares + 1]loop) {
	r[Count] = loop{dtype.Int64, cleared[int64], count, add[int64]}
	r[Sum] = loop{sums, cleared[S], sum[V, S], add[S]}
	r[Total] = loop{dtype.Float64, cleared[float64], sum[V, float64], add[float64]}
	r[Least] = minimum(of, top)
	r[Most] = maximum(of, bottom)
	r[Squares] = loop{dtype.Float64, cleared[float64], squares[V], add[float64]}
	return r
}

func cleared[S int64 | uint64 | float64](out memory.Span) { clear(memory.As[S](out)) }

func add[S int64 | uint64 | float64](out, more memory.Span) {
	sums, others := memory.Pair[S](out, more)
	for i, v := range others {
		sums[i] += v
	}
}

func count(out memory.Span, _ []float64, codes []int64, c Column, first int) {
	counts := memory.As[int64](out)
	c.between(first, first+len(codes), func(a Array, row int) {
		codes, there := codes[row-first:][:a.Rows], a.bits()
		for i, code := range codes {
			if there == nil || valid(there, a.Offset+i) {
				counts[code]++
			}
		}
	})
}

func sum[V kernel.Ordered, S int64 | uint64 | float64](out memory.Span, _ []float64, codes []int64, c Column, first int) {
	sums := memory.As[S](out)
	c.between(first, first+len(codes), func(a Array, row int) {
		codes, there := codes[row-first:][:a.Rows], a.bits()
		if there == nil {
			for i, v := range values[V](a)[:len(codes)] {
				sums[codes[i]] += S(v)
			}
			return
		}
		for i, v := range values[V](a)[:len(codes)] {
			if valid(there, a.Offset+i) {
				sums[codes[i]] += S(v)
			}
		}
	})
}

func squares[V kernel.Ordered](out memory.Span, about []float64, codes []int64, c Column, first int) {
	squares := memory.As[float64](out)
	rest := squares[len(about):]
	c.between(first, first+len(codes), func(a Array, row int) {
		codes, there := codes[row-first:][:a.Rows], a.bits()
		for i, v := range values[V](a)[:len(codes)] {
			if there == nil || valid(there, a.Offset+i) {
				code := codes[i]
				away := float64(v) - about[code]
				squares[code] += away * away
				rest[code] += away
			}
		}
	})
}
