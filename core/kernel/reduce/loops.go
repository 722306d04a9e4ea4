package reduce

import (
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// loops combine many elements of one type with one operator: two runs of them, or elements that lie anywhere.
type loops struct {
	run func(dst, src memory.Span)
	at  func(dst, src []unsafe.Pointer)
}

// row holds one element type's loops for each operator; the type does not have an operator whose are nil.
type row [kernel.NOps]loops

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

// boolRow has the loops over truth values, which are 0 and 1.
var boolRow = row{
	kernel.Min: {minimum[uint8], minimumAt[uint8]}, kernel.Max: {maximum[uint8], maximumAt[uint8]},
	kernel.LAnd: {and[uint8], andAt[uint8]}, kernel.LOr: {or[uint8], orAt[uint8]},
	kernel.BAnd: {bitsAnd[uint8], bitsAndAt[uint8]}, kernel.BOr: {bitsOr[uint8], bitsOrAt[uint8]},
	kernel.BXor: {bitsXor[uint8], bitsXorAt[uint8]},
}

func numberRow[T kernel.Number]() row {
	return row{
		kernel.Sum: {sum[T], sumAt[T]}, kernel.Prod: {prod[T], prodAt[T]},
		kernel.LAnd: {and[T], andAt[T]}, kernel.LOr: {or[T], orAt[T]},
	}
}

func orderedRow[T kernel.Ordered]() row {
	r := numberRow[T]()
	r[kernel.Min], r[kernel.Max] = loops{minimum[T], minimumAt[T]}, loops{maximum[T], maximumAt[T]}
	return r
}

func integerRow[T kernel.Integer]() row {
	r := orderedRow[T]()
	r[kernel.BAnd], r[kernel.BOr] = loops{bitsAnd[T], bitsAndAt[T]}, loops{bitsOr[T], bitsOrAt[T]}
	r[kernel.BXor] = loops{bitsXor[T], bitsXorAt[T]}
	return r
}

// loopsOf returns the loops of an operator for a type, or an error that says why there are none.
func loopsOf(t dtype.Type, op kernel.Op) (loops, error) {
	if op >= kernel.NOps || !t.Valid() {
		return loops{}, status.New(status.InvalidArgument, "op %d of dtype %d does not exist", uint8(op), uint8(t))
	}
	return rows[t][op], op.Check(t)
}
