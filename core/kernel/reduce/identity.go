package reduce

import (
	"math"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// Identity fills dst with the operator's identity, the result of combining nothing: 0 for SUM, LOR, BOR and BXOR, 1 for
// PROD and LAND, all bits for BAND, and for MIN and MAX the greatest and the least that the type holds, which are the
// infinities where it has them. It fails as Check does.
func Identity(dst memory.Span, op kernel.Op) error {
	if err := op.Check(dst.Type); err != nil {
		return err
	}
	identities[dst.Type](dst, op)
	return nil
}

var identities = [dtype.N]func(dst memory.Span, op kernel.Op){
	dtype.Float64:    identity(math.Inf(-1), math.Inf(1), 0),
	dtype.Float32:    identity(float32(math.Inf(-1)), float32(math.Inf(1)), 0),
	dtype.Int64:      identity[int64](math.MinInt64, math.MaxInt64, -1),
	dtype.Int32:      identity[int32](math.MinInt32, math.MaxInt32, -1),
	dtype.Int16:      identity[int16](math.MinInt16, math.MaxInt16, -1),
	dtype.Int8:       identity[int8](math.MinInt8, math.MaxInt8, -1),
	dtype.Uint64:     identity[uint64](0, math.MaxUint64, math.MaxUint64),
	dtype.Uint32:     identity[uint32](0, math.MaxUint32, math.MaxUint32),
	dtype.Uint16:     identity[uint16](0, math.MaxUint16, math.MaxUint16),
	dtype.Uint8:      identity[uint8](0, math.MaxUint8, math.MaxUint8),
	dtype.Bool:       identity[uint8](0, 1, 1),
	dtype.Complex64:  identity[complex64](0, 0, 0), // has no order and no bits
	dtype.Complex128: identity[complex128](0, 0, 0),
}

// identity is the loop of a type, of which it is told the least, the greatest, and the element with all bits set.
func identity[T kernel.Number](least, greatest, all T) func(dst memory.Span, op kernel.Op) {
	of := [kernel.NOps]T{kernel.Prod: 1, kernel.Min: greatest, kernel.Max: least, kernel.LAnd: 1, kernel.BAnd: all}
	return func(dst memory.Span, op kernel.Op) {
		v := of[op]
		for i, d := 0, memory.As[T](dst); i < len(d); i++ {
			d[i] = v
		}
	}
}

// Settle makes of elements that were combined with none what the operator makes of them: LAND and LOR give 0 and 1
// also of one operand. It fails as Check does.
func Settle(s memory.Span, op kernel.Op) error {
	if err := op.Check(s.Type); err != nil {
		return err
	}
	if op == kernel.LAnd || op == kernel.LOr {
		rows[s.Type][op].run(s, s)
	}
	return nil
}
