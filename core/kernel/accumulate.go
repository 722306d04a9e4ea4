package kernel

import (
	"dtl/core/memory"
	"dtl/core/status"
)

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type ordered interface {
	integer | float32 | float64
}

type number interface {
	ordered | complex64 | complex128
}

// Accumulate combines src into dst: dst[i] = dst[i] op src[i]. The spans have equal types and counts, which
// may be zero. Integers wrap. MIN and MAX give NaN where either element is NaN, as NumPy's minimum and
// maximum do, and take -0 for less than +0; of bool they are AND and OR. LAND and LOR give 0 and 1, and take all but
// zeros for true.
func Accumulate(dst, src memory.Span, op Op) error {
	if op >= NOps || !dst.Type.Valid() {
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

func sum[T number](dst, src memory.Span) {
	d, s := pair[T](dst, src)
	for i, v := range s {
		d[i] += v
	}
}

func prod[T number](dst, src memory.Span) {
	d, s := pair[T](dst, src)
	for i, v := range s {
		d[i] *= v
	}
}

func minimum[T ordered](dst, src memory.Span) {
	d, s := pair[T](dst, src)
	for i, v := range s {
		d[i] = min(d[i], v)
	}
}

func maximum[T ordered](dst, src memory.Span) {
	d, s := pair[T](dst, src)
	for i, v := range s {
		d[i] = max(d[i], v)
	}
}

// pair returns both spans as slices that the compiler knows to be of one length, so that it checks no index.
func pair[T any](dst, src memory.Span) (d, s []T) {
	d, s = memory.As[T](dst), memory.As[T](src)
	return d[:len(s)], s
}
