// Package reduce combines elements with an operator: two runs, elements anywhere in memory, an operator's identity, and
// where an extreme lies.
package reduce

import (
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// Accumulate combines src into dst: dst[i] = dst[i] op src[i]. The spans have equal types and counts, which
// may be zero. Integers wrap. MIN and MAX give NaN where either element is NaN, as NumPy's minimum and
// maximum do, and take -0 for less than +0; of bool they are AND and OR. LAND and LOR give 0 and 1, and take all but
// zeros for true.
func Accumulate(dst, src memory.Span, op kernel.Op) error {
	if op >= kernel.NOps || !dst.Type.Valid() {
		return status.New(status.InvalidArgument, "op %d of dtype %d does not exist", uint8(op), uint8(dst.Type))
	}
	if err := op.Check(dst.Type); err != nil {
		return err
	}
	if dst.Type != src.Type || dst.Count != src.Count {
		return status.New(status.InvalidArgument, "%d elements of %s combined into %d of %s",
			src.Count, src.Type, dst.Count, dst.Type)
	}
	rows[dst.Type][op](dst, src)
	return nil
}

// Update is Accumulate with the operators that windows have besides.
func Update(dst, src memory.Span, op kernel.Op) error {
	switch op {
	case kernel.Replace:
		memory.Copy(dst, src)
		return nil
	case kernel.NoOp:
		return nil
	}
	return Accumulate(dst, src, op)
}

// row holds one element type's loop for each operator; nil where the type does not have the operator.
type row [kernel.NOps]func(dst, src memory.Span)

// rows are the loops of Accumulate.
var rows = [dtype.N]row{
	dtype.Float64:    orderedRow[float64](),
	dtype.Float32:    orderedRow[float32](),
	dtype.Int64:      integerRow[int64](),
	dtype.Int32:      integerRow[int32](),
	dtype.Int16:      integerRow[int16](),
	dtype.Int8:       integerRow[int8](),
	dtype.Uint64:     integerRow[uint64](),
	dtype.Uint32:     integerRow[uint32](),
	dtype.Uint16:     integerRow[uint16](),
	dtype.Uint8:      integerRow[uint8](),
	dtype.Bool:       boolRow,
	dtype.Complex64:  numberRow[complex64](),
	dtype.Complex128: numberRow[complex128](),
}

// boolRow is that of truth values, which are 0 and 1.
var boolRow = row{
	kernel.Min: minimum[uint8], kernel.Max: maximum[uint8],
	kernel.LAnd: and[uint8], kernel.LOr: or[uint8],
	kernel.BAnd: bitsAnd[uint8], kernel.BOr: bitsOr[uint8], kernel.BXor: bitsXor[uint8],
}

func numberRow[T kernel.Number]() row {
	return row{kernel.Sum: sum[T], kernel.Prod: prod[T], kernel.LAnd: and[T], kernel.LOr: or[T]}
}

func orderedRow[T kernel.Ordered]() row {
	r := numberRow[T]()
	r[kernel.Min], r[kernel.Max] = minimum[T], maximum[T]
	return r
}

func integerRow[T kernel.Integer]() row {
	r := orderedRow[T]()
	r[kernel.BAnd], r[kernel.BOr], r[kernel.BXor] = bitsAnd[T], bitsOr[T], bitsXor[T]
	return r
}

func sum[T kernel.Number](dst, src memory.Span) {
	d, s := memory.Pair[T](dst, src)
	for i, v := range s {
		d[i] += v
	}
}

func prod[T kernel.Number](dst, src memory.Span) {
	d, s := memory.Pair[T](dst, src)
	for i, v := range s {
		d[i] *= v
	}
}

func minimum[T kernel.Ordered](dst, src memory.Span) {
	d, s := memory.Pair[T](dst, src)
	for i, v := range s {
		d[i] = min(d[i], v)
	}
}

func maximum[T kernel.Ordered](dst, src memory.Span) {
	d, s := memory.Pair[T](dst, src)
	for i, v := range s {
		d[i] = max(d[i], v)
	}
}

// truth is 1 for true.
func truth[T kernel.Number](b bool) T {
	if b {
		return 1
	}
	return 0
}

func and[T kernel.Number](dst, src memory.Span) {
	d, s := memory.Pair[T](dst, src)
	for i, v := range s {
		d[i] = truth[T](d[i] != 0 && v != 0)
	}
}

func or[T kernel.Number](dst, src memory.Span) {
	d, s := memory.Pair[T](dst, src)
	for i, v := range s {
		d[i] = truth[T](d[i] != 0 || v != 0)
	}
}

func bitsAnd[T kernel.Integer](dst, src memory.Span) {
	d, s := memory.Pair[T](dst, src)
	for i, v := range s {
		d[i] &= v
	}
}

func bitsOr[T kernel.Integer](dst, src memory.Span) {
	d, s := memory.Pair[T](dst, src)
	for i, v := range s {
		d[i] |= v
	}
}

func bitsXor[T kernel.Integer](dst, src memory.Span) {
	d, s := memory.Pair[T](dst, src)
	for i, v := range s {
		d[i] ^= v
	}
}
