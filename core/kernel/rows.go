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
	dtype.Int64:      orderedRow[int64](),
	dtype.Int32:      orderedRow[int32](),
	dtype.Int16:      orderedRow[int16](),
	dtype.Int8:       orderedRow[int8](),
	dtype.Uint64:     orderedRow[uint64](),
	dtype.Uint32:     orderedRow[uint32](),
	dtype.Uint16:     orderedRow[uint16](),
	dtype.Uint8:      orderedRow[uint8](),
	dtype.Bool:       {Min: minimum[uint8], Max: maximum[uint8]}, // false is 0 and true 1
	dtype.Complex64:  numberRow[complex64](),
	dtype.Complex128: numberRow[complex128](),
}

func numberRow[T number]() row { return row{Sum: sum[T], Prod: prod[T]} }

func orderedRow[T ordered]() row {
	return row{Sum: sum[T], Prod: prod[T], Min: minimum[T], Max: maximum[T]}
}
