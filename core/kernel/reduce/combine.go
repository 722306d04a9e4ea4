package reduce

import (
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/status"
)

// CombineAt combines elements that lie anywhere: *dst[i] = *dst[i] op *src[i], in order, so that a destination may
// occur more than once. What the operators do is what Accumulate says. Addresses need not be aligned.
func CombineAt(dst, src []unsafe.Pointer, t dtype.Type, op kernel.Op) error {
	if op >= kernel.NOps || !t.Valid() {
		return status.New(status.InvalidArgument, "op %d of dtype %d does not exist", uint8(op), uint8(t))
	}
	if err := op.Check(t); err != nil {
		return err
	}
	scattered[t][op](dst, src)
	return nil
}

// scatteredRow holds one element type's loop for each operator; nil where the type does not have the operator.
type scatteredRow [kernel.NOps]func(dst, src []unsafe.Pointer)

var scattered = [dtype.N]scatteredRow{
	dtype.Float64:    orderedScattered[float64](),
	dtype.Float32:    orderedScattered[float32](),
	dtype.Int64:      integerScattered[int64](),
	dtype.Int32:      integerScattered[int32](),
	dtype.Int16:      integerScattered[int16](),
	dtype.Int8:       integerScattered[int8](),
	dtype.Uint64:     integerScattered[uint64](),
	dtype.Uint32:     integerScattered[uint32](),
	dtype.Uint16:     integerScattered[uint16](),
	dtype.Uint8:      integerScattered[uint8](),
	dtype.Bool:       boolScattered,
	dtype.Complex64:  numberScattered[complex64](),
	dtype.Complex128: numberScattered[complex128](),
}

// boolScattered is the row of truth values, which are 0 and 1.
var boolScattered = scatteredRow{
	kernel.Min: minimumAt[uint8], kernel.Max: maximumAt[uint8],
	kernel.LAnd: andAt[uint8], kernel.LOr: orAt[uint8],
	kernel.BAnd: bitsAndAt[uint8], kernel.BOr: bitsOrAt[uint8], kernel.BXor: bitsXorAt[uint8],
}

func numberScattered[T kernel.Number]() scatteredRow {
	return scatteredRow{kernel.Sum: sumAt[T], kernel.Prod: prodAt[T], kernel.LAnd: andAt[T], kernel.LOr: orAt[T]}
}

func orderedScattered[T kernel.Ordered]() scatteredRow {
	r := numberScattered[T]()
	r[kernel.Min], r[kernel.Max] = minimumAt[T], maximumAt[T]
	return r
}

func integerScattered[T kernel.Integer]() scatteredRow {
	r := orderedScattered[T]()
	r[kernel.BAnd], r[kernel.BOr], r[kernel.BXor] = bitsAndAt[T], bitsOrAt[T], bitsXorAt[T]
	return r
}

func sumAt[T kernel.Number](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) += *(*T)(src[i])
	}
}

func prodAt[T kernel.Number](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) *= *(*T)(src[i])
	}
}

func minimumAt[T kernel.Ordered](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) = min(*(*T)(d), *(*T)(src[i]))
	}
}

func maximumAt[T kernel.Ordered](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) = max(*(*T)(d), *(*T)(src[i]))
	}
}

func andAt[T kernel.Number](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) = truth[T](*(*T)(d) != 0 && *(*T)(src[i]) != 0)
	}
}

func orAt[T kernel.Number](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) = truth[T](*(*T)(d) != 0 || *(*T)(src[i]) != 0)
	}
}

func bitsAndAt[T kernel.Integer](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) &= *(*T)(src[i])
	}
}

func bitsOrAt[T kernel.Integer](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) |= *(*T)(src[i])
	}
}

func bitsXorAt[T kernel.Integer](dst, src []unsafe.Pointer) {
	for i, d := range dst {
		*(*T)(d) ^= *(*T)(src[i])
	}
}
