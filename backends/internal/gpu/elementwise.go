package gpu

import (
	"math/bits"
	"strings"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// function is a kernel that computes an operator of elements of one type, or of narrower ones, which it widens first.
type function struct {
	source, name string
	narrow       bool
	form         uint64 // which of the operators it is that the kernel has in common
}

// listed are the operators of kernels that are not in elementwise.c, by their sources. Those of functions.c and complex.c are of numbers
// of the widest types alone.
var listed = map[string]string{
	"divisions": "floor_divide remainder fmod gcd lcm",
	"floats":    "nextafter spacing frexp_mantissa frexp_exponent modf_fraction modf_whole ldexp heaviside degrees radians",
	"functions": "exp exp2 expm1 power log log2 log10 log1p logaddexp logaddexp2 sinh cosh tanh arcsinh arccosh arctanh cbrt " +
		"sin cos tan arcsin arccos arctan arctan2 hypot",
	"complex": "exp expm1 power log sqrt sinh cosh tanh arcsin arccos arctanh",
}

// forms are the operators of complex numbers that are another form of a kernel's: see complex.c.
var forms = map[string]function{
	"log2": {name: "log", form: 1}, "log10": {name: "log", form: 2}, "log1p": {name: "log", form: 3}, "exp2": {name: "exp", form: 1},
	"sin": {name: "sinh", form: 1}, "cos": {name: "cosh", form: 1}, "tan": {name: "tanh", form: 1},
	"arcsinh": {name: "arcsin", form: 1}, "arccosh": {name: "arccos", form: 1}, "arctan": {name: "arctanh", form: 1},
}

// functionOf returns the kernel of an operator of elements of a type.
func functionOf(operator string, t dtype.Type) function {
	wide, of := kernel.Widest(t), "functions"
	if wide == dtype.Complex128 {
		of = "complex"
		if f, ok := forms[operator]; ok {
			return function{of, f.name + "_" + wide.String(), t != wide, f.form}
		}
	}
	switch {
	case kernel.Converts(operator):
		return function{source: "conversions", name: operator + "_" + t.String()}
	case operator == kernel.Where || operator == "positive":
		return function{source: "elementwise", name: operator + "_" + carriers[t.Size()].String()}
	case wide != dtype.Invalid && has(of, operator):
		return function{source: of, name: operator + "_" + wide.String(), narrow: t != wide}
	case has("divisions", operator) || operator == "power":
		return function{source: "divisions", name: operator + "_" + t.String()}
	case has("floats", operator):
		return function{source: "floats", name: operator + "_" + t.String()}
	}
	return function{source: "elementwise", name: operator + "_" + t.String()}
}

func has(source, operator string) bool {
	return strings.Contains(" "+listed[source]+" ", " "+operator+" ")
}

// mostDimensions is how many dimensions kernels take operands in that lie otherwise than the result; each has so many words.
const mostDimensions, dimensionWords = 6, 6

// Elementwise queues a kernel that computes each element by itself.
func (q *queue) Elementwise(operator string, dst memory.Span, t dtype.Type, shape []int64, operands [3]backend.Operand) error {
	with := functionOf(operator, t)
	f, err := q.on.kernels.named(q.on.driven, with.source, with.name)
	if err != nil || dst.Count == 0 {
		return err
	}
	a, b, c := operands[0], operands[1], operands[2]
	narrow, spread := uint64(0), spreadOver(shape, operands)
	if with.narrow {
		narrow = 1
	}
	if with.source == "conversions" && len(spread) > 0 {
		return status.New(status.Unsupported, "kernels that convert take operands that lie as the result does")
	}
	if len(spread) > mostDimensions {
		return status.New(status.Unsupported, "operands lie in %d ways along the result, and kernels take %d", len(spread), mostDimensions)
	}
	words := make([]uint64, 0, 12+mostDimensions*dimensionWords)
	words = append(words, word(dst.Addr), word(a.Span.Addr), word(b.Span.Addr), word(c.Span.Addr), uint64(dst.Count),
		a.Number[0], a.Number[1], b.Number[0], b.Number[1], narrow, with.form, uint64(len(spread)))
	for _, d := range spread {
		magic, shift := divider(d.extent)
		words = append(words, d.extent, magic, shift, uint64(d.steps[0]), uint64(d.steps[1]), uint64(d.steps[2]))
	}
	return q.each(f, dst.Count, words[:cap(words)]...)
}

// along is a dimension of a result, with how many elements it is from one of each operand's to the next.
type along struct {
	extent uint64
	steps  [3]int64
}

// spreadOver returns the dimensions along which operands lie otherwise than a result, the last first, as few as say it; none where all
// lie as the result does.
func spreadOver(shape []int64, operands [3]backend.Operand) []along {
	var all []along
	beyond := int64(1) // elements of the result in the dimensions that are done
	for d := len(shape) - 1; d >= 0; d-- {
		next := along{extent: uint64(shape[d])}
		for i, o := range operands {
			switch {
			case o.Span.Addr == nil:
			case o.Steps == nil:
				next.steps[i] = beyond
			default:
				next.steps[i] = o.Steps[d]
			}
		}
		beyond *= shape[d]
		switch last := len(all) - 1; {
		case shape[d] == 1:
		case last >= 0 && all[last].continues(next, operands):
			all[last].extent *= next.extent
		default:
			all = append(all, next)
		}
	}
	if len(all) == 0 || len(all) == 1 && all[0].dense(operands) {
		return nil
	}
	return all
}

// continues reports whether the next dimension goes on with each operand where this one ends.
func (a along) continues(next along, operands [3]backend.Operand) bool {
	for i, o := range operands {
		if o.Span.Addr != nil && next.steps[i] != a.steps[i]*int64(a.extent) {
			return false
		}
	}
	return true
}

func (a along) dense(operands [3]backend.Operand) bool {
	for i, o := range operands {
		if o.Span.Addr != nil && a.steps[i] != 1 {
			return false
		}
	}
	return true
}

// divider returns by what a number below 2^63 is multiplied, and how far the high word of the product is shifted, to divide it by d, which
// is greater than 1: Granlund and Montgomery, PLDI 1994.
func divider(d uint64) (magic, shift uint64) {
	length := bits.Len64(d - 1)
	magic, _ = bits.Div64(1<<(length-1), 0, d)
	return magic + 1, uint64(length - 1)
}
