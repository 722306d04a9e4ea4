package scan

import (
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/fold"
)

// sumTotals are the types in which devices add up and multiply.
var sumTotals = [dtype.N]dtype.Type{
	dtype.Float64: dtype.Float64, dtype.Float32: dtype.Float64, dtype.Int64: dtype.Uint64, dtype.Int32: dtype.Uint64,
	dtype.Int16: dtype.Uint64, dtype.Int8: dtype.Uint64, dtype.Uint64: dtype.Uint64, dtype.Uint32: dtype.Uint64,
	dtype.Uint16: dtype.Uint64, dtype.Uint8: dtype.Uint64, dtype.Bool: dtype.Uint64, dtype.Complex64: dtype.Complex128,
	dtype.Complex128: dtype.Complex128,
}

var deviceNames = [...]string{kernel.Sum: "sum", kernel.Prod: "prod", kernel.Min: "min", kernel.Max: "max"}

// OnDevice returns what devices call an operator of which Of gives a Scanning, and the type of what they combine elements of type t
// to.
func OnDevice(t dtype.Type, op kernel.Op) (operator string, totals dtype.Type) {
	if op == kernel.Min || op == kernel.Max {
		return deviceNames[op], t
	}
	return deviceNames[op], sumTotals[t]
}

// TotalOf returns what a device has combined elements to, from its two words.
func TotalOf(words [2]int64) fold.Partial {
	return fold.Partial{0: words[0], 1: words[1], scanBegun: 1}
}

// Words returns the two words of what elements were combined to, of none the identity's.
func (s *Scanning) Words(p fold.Partial) [2]int64 {
	if s.Merge(&p, &fold.Partial{}); s.round != nil {
		s.round(&p)
	}
	return [2]int64{p[0], p[1]}
}
