package kernel

import (
	"dtl/core/dtype"
	"dtl/core/memory"
)

// row holds one element type's loop for each operator; nil where the type does not have the operator.
type row [NOps]func(dst, src memory.Span)

// rows is the only place where an element type meets a Go type.
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
	Min: minimum[uint8], Max: maximum[uint8],
	LAnd: and[uint8], LOr: or[uint8],
	BAnd: bitsAnd[uint8], BOr: bitsOr[uint8], BXor: bitsXor[uint8],
}

func numberRow[T number]() row { return row{Sum: sum[T], Prod: prod[T], LAnd: and[T], LOr: or[T]} }

func orderedRow[T ordered]() row {
	r := numberRow[T]()
	r[Min], r[Max] = minimum[T], maximum[T]
	return r
}

func integerRow[T integer]() row {
	r := orderedRow[T]()
	r[BAnd], r[BOr], r[BXor] = bitsAnd[T], bitsOr[T], bitsXor[T]
	return r
}
