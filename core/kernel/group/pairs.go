package group

import (
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/radix"
	"dtl/core/status"
)

// PairSums is how many numbers Pairs writes of each group.
const PairSums = 6

// Values are a column of numbers of a type.
type Values struct {
	Column
	Type dtype.Type
}

// Pairs writes how the values of two columns vary together in each group, of which codes says which a row belongs to, in the rows where
// neither is null. Out has an element for each group of each of these: how many such rows there are; the means of x and of y; and the
// sums of the squares of how far x and y are from their means, and of the products of how far.
//
// Values are added up as float64, as they differ from the group's first ones: where all values of a group are equal, they have no
// squares. Rows are divided as those of Fold.Make.
func Pairs(out []float64, codes []int64, x, y Values, workers radix.Workers) error {
	if loads[x.Type] == nil || loads[y.Type] == nil {
		return status.New(status.InvalidType, "no sums of pairs of %s and %s", x.Type, y.Type)
	}
	if x.Rows() != len(codes) || y.Rows() != len(codes) || len(out)%PairSums != 0 {
		return status.New(status.Internal, "%d and %d rows of %d for %d numbers", x.Rows(), y.Rows(), len(codes), len(out))
	}
	width := len(out) / PairSums
	parts := max(1, min(mostParts, len(codes)/max(perPart*width, chunk)))
	found := make([][]pairs, parts)
	each(workers, len(codes), parts, func(part, lo, hi int) {
		found[part] = make([]pairs, width)
		addPairs(found[part], codes[lo:hi], x, y, lo)
	})
	each(workers, width, max(1, min(workers.Size, width/chunk)), func(_, lo, hi int) {
		for _, more := range found[1:] {
			for i := lo; i < hi; i++ {
				found[0][i].merge(&more[i])
			}
		}
		for i := lo; i < hi; i++ {
			for number, sum := range found[0][i].sums() {
				out[number*width+i] = sum
			}
		}
	})
	return nil
}

// pairs is what is known of a group: how many pairs there are, the first of them, and sums of how far the others are from it.
type pairs struct{ n, x, y, dx, dy, xx, yy, xy float64 }

func (p *pairs) add(x, y float64) {
	if p.n == 0 {
		p.x, p.y = x, y
	}
	dx, dy := x-p.x, y-p.y
	p.n++
	p.dx += dx
	p.dy += dy
	p.xx += dx * dx
	p.yy += dy * dy
	p.xy += dx * dy
}

// merge adds what is known of later rows of the group.
func (p *pairs) merge(later *pairs) {
	if later.n == 0 {
		return
	}
	if p.n == 0 {
		*p = *later
		return
	}
	n, x, y := later.n, later.x-p.x, later.y-p.y
	p.n += n
	p.dx += later.dx + n*x
	p.dy += later.dy + n*y
	p.xx += later.xx + 2*x*later.dx + n*x*x
	p.yy += later.yy + 2*y*later.dy + n*y*y
	p.xy += later.xy + x*later.dy + y*later.dx + n*x*y
}

// sums returns the numbers that Pairs writes.
func (p *pairs) sums() [PairSums]float64 {
	if p.n == 0 {
		return [PairSums]float64{}
	}
	x, y := p.dx/p.n, p.dy/p.n
	return [PairSums]float64{p.n, p.x + x, p.y + y, max(p.xx-x*p.dx, 0), max(p.yy-y*p.dy, 0), p.xy - x*p.dy}
}

// addPairs adds rows from first on, of which codes has the groups.
func addPairs(found []pairs, codes []int64, x, y Values, first int) {
	x.between(first, first+len(codes), func(a Array, row int) {
		y.between(row, row+a.Rows, func(b Array, from int) {
			of := Array{Valid: a.Valid, Data: a.Data, Offset: a.Offset + from - row, Rows: b.Rows}
			addArrays(found, codes[from-first:][:b.Rows], of, b, loads[x.Type], loads[y.Type])
		})
	})
}

// block is how many values are loaded at once.
const block = 512

func addArrays(found []pairs, codes []int64, a, b Array, loadX, loadY load) {
	var x, y [block]float64
	of, other := a.bits(), b.bits()
	for lo := 0; lo < len(codes); lo += block {
		here := codes[lo:min(lo+block, len(codes))]
		loadX(x[:len(here)], a, lo)
		loadY(y[:len(here)], b, lo)
		for i, code := range here {
			if (of == nil || valid(of, a.Offset+lo+i)) && (other == nil || valid(other, b.Offset+lo+i)) {
				found[code].add(x[i], y[i])
			}
		}
	}
}

// load writes the values of an array from a row on as floats.
type load func(to []float64, a Array, row int)

var loads = [dtype.N]load{
	dtype.Float64: loadOf[float64], dtype.Float32: loadOf[float32],
	dtype.Int64: loadOf[int64], dtype.Int32: loadOf[int32], dtype.Int16: loadOf[int16], dtype.Int8: loadOf[int8],
	dtype.Uint64: loadOf[uint64], dtype.Uint32: loadOf[uint32], dtype.Uint16: loadOf[uint16], dtype.Uint8: loadOf[uint8],
	dtype.Bool:      loadOf[uint8],
	dtype.Complex64: nil, dtype.Complex128: nil,
}

func loadOf[V kernel.Ordered](to []float64, a Array, row int) {
	for i, v := range values[V](a)[row:][:len(to)] {
		to[i] = float64(v)
	}
}
