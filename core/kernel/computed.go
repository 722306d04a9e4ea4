package kernel

import (
	"strings"

	"dtl/core/dtype"
)

// truths are the elementwise operators, by NumPy's names, whose results are truth values.
var truths = map[string]bool{
	"equal": true, "not_equal": true, "less": true, "less_equal": true, "greater": true, "greater_equal": true,
	"logical_and": true, "logical_or": true, "logical_xor": true, "logical_not": true,
	"isnan": true, "isinf": true, "isfinite": true, "signbit": true,
}

// Conversion begins the name of an elementwise operator that makes elements of another type of its operand's: "as_float64".
const Conversion = "as_"

// ToHalf is the elementwise operator that makes half precision of floats: its bits, as uint16.
const ToHalf = "as_float16"

// FromHalf is the elementwise operator that makes float32 of such bits.
const FromHalf = "from_float16"

// Converts reports whether an elementwise operator makes elements of another type.
func Converts(operator string) bool {
	return strings.HasPrefix(operator, Conversion) || operator == FromHalf
}

// Where is the elementwise operator of three operands, the last of which is a condition: it has the first where that is true.
const Where = "where"

// Computed returns the type of what an elementwise operator makes of elements of type t.
func Computed(operator string, t dtype.Type) dtype.Type {
	switch operator {
	case ToHalf:
		return dtype.Uint16
	case FromHalf:
		return dtype.Float32
	}
	if name, ok := strings.CutPrefix(operator, Conversion); ok {
		for _, to := range dtype.All() {
			if to.String() == name {
				return to
			}
		}
		return dtype.Invalid
	}
	switch {
	case truths[operator]:
		return dtype.Bool
	case operator == "bitwise_count":
		return dtype.Uint8
	case operator == "frexp_exponent":
		return dtype.Int32
	case operator == "absolute" && t == dtype.Complex64:
		return dtype.Float32
	case operator == "absolute" && t == dtype.Complex128:
		return dtype.Float64
	}
	return t
}

// Widest returns the type of floats or complex numbers that holds those of type t without rounding them, and has the most digits; of
// other types it is dtype.Invalid.
func Widest(t dtype.Type) dtype.Type {
	switch t {
	case dtype.Float32, dtype.Float64:
		return dtype.Float64
	case dtype.Complex64, dtype.Complex128:
		return dtype.Complex128
	}
	return dtype.Invalid
}
