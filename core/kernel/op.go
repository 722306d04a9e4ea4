// Package kernel holds the loops over elements: dtype → functions, once.
package kernel

import (
	"dtl/core/dtype"
	"dtl/core/status"
)

// Op is a reduction operator.
type Op uint8

// The operators. Their numbers travel over the bridge: append, never reorder.
const (
	Sum Op = iota
	Prod
	Min
	Max
	NOps
)

var opNames = [NOps]string{"SUM", "PROD", "MIN", "MAX"}

// String returns the operator's name in capitals, as Python spells its constant.
func (o Op) String() string {
	if o < NOps {
		return opNames[o]
	}
	return "unknown op"
}

// ParseOp returns the operator of the given number, as it arrives from outside.
func ParseOp(n int64) (Op, error) {
	if n < 0 || n >= int64(NOps) {
		return 0, status.New(status.InvalidArgument, "op number %d outside [0, %d)", n, int(NOps))
	}
	return Op(n), nil
}

// Check returns an error unless the operator is defined for elements of type t: complex numbers have no
// order, and truth values no sum.
func (o Op) Check(t dtype.Type) error {
	ordered := o == Min || o == Max
	if t.Complex() && ordered {
		return status.New(status.Unsupported, "%s is not defined for %s, which has no order", o, t)
	}
	if t == dtype.Bool && !ordered {
		return status.New(status.Unsupported, "%s is not defined for bool; convert to an integer dtype", o)
	}
	return nil
}
