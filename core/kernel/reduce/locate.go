package reduce

import (
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// Locate sets at[i], an int64, to here where values[i] is best[i], and elsewhere to none. NaN is NaN, and the zeros are
// equal. The spans have equal counts, and values and best one type, which has an order.
func Locate(at, values, best memory.Span, here, none int64) error {
	if values.Type != best.Type || values.Count != best.Count || at.Type != dtype.Int64 || at.Count != values.Count {
		return status.New(status.InvalidArgument, "%d elements of %s located among %d of %s, in %d of %s",
			values.Count, values.Type, best.Count, best.Type, at.Count, at.Type)
	}
	if err := kernel.Min.Check(values.Type); err != nil {
		return err
	}
	locators[values.Type](memory.As[int64](at), values, best, here, none)
	return nil
}

var locators = [dtype.N]func(at []int64, values, best memory.Span, here, none int64){
	dtype.Float64:    locate[float64],
	dtype.Float32:    locate[float32],
	dtype.Int64:      locate[int64],
	dtype.Int32:      locate[int32],
	dtype.Int16:      locate[int16],
	dtype.Int8:       locate[int8],
	dtype.Uint64:     locate[uint64],
	dtype.Uint32:     locate[uint32],
	dtype.Uint16:     locate[uint16],
	dtype.Uint8:      locate[uint8],
	dtype.Bool:       locate[uint8],
	dtype.Complex64:  nil,
	dtype.Complex128: nil,
}

func locate[T kernel.Ordered](at []int64, values, best memory.Span, here, none int64) {
	v, b := memory.Pair[T](values, best)
	for i := range at {
		at[i] = none
		if v[i] == b[i] || v[i] != v[i] && b[i] != b[i] {
			at[i] = here
		}
	}
}

// Ambiguous reports whether some elements are equal to others of other bits: zeros, which have two signs, and NaN.
func Ambiguous(of memory.Span) bool {
	search := ambiguous[of.Type]
	return search != nil && search(of)
}

var ambiguous = [dtype.N]func(of memory.Span) bool{
	dtype.Float64:    anyAmbiguous[float64],
	dtype.Float32:    anyAmbiguous[float32],
	dtype.Int64:      nil,
	dtype.Int32:      nil,
	dtype.Int16:      nil,
	dtype.Int8:       nil,
	dtype.Uint64:     nil,
	dtype.Uint32:     nil,
	dtype.Uint16:     nil,
	dtype.Uint8:      nil,
	dtype.Bool:       nil,
	dtype.Complex64:  nil,
	dtype.Complex128: nil,
}

func anyAmbiguous[T float32 | float64](of memory.Span) bool {
	for _, v := range memory.As[T](of) {
		if v == 0 || v != v {
			return true
		}
	}
	return false
}

// Own sets dst[i] to values[i] where at[i], an int64, is here, and to bits that are all 0 elsewhere. dst and values have the type
// of elements that may be ambiguous, and all spans have equal counts.
func Own(dst, values, at memory.Span, here int64) {
	if values.Type.Size() == 8 {
		own[uint64](dst, values, at, here)
	} else {
		own[uint32](dst, values, at, here)
	}
}

func own[T uint32 | uint64](dst, values, at memory.Span, here int64) {
	d, v := memory.As[T](dst), memory.As[T](values)
	for i, rank := range memory.As[int64](at) {
		if d[i] = 0; rank == here {
			d[i] = v[i]
		}
	}
}

// Bits returns elements of four or eight bytes as unsigned integers, which BOR combines.
func Bits(of memory.Span) memory.Span {
	if of.Type.Size() == 8 {
		of.Type = dtype.Uint64
	} else {
		of.Type = dtype.Uint32
	}
	return of
}
