// Package kernel names the operators, and the Go types of elements. The packages below it hold the loops over elements, one
// table from dtype to loop for each: reduce (combining two runs, identities, extremes), fold (one number of many elements),
// scan (each element with all before it), histogram (counting in bins), radix (sorting, merging, searching), and move
// (copying by strides and offsets). Nothing else tells element types apart.
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
	LAnd
	LOr
	BAnd
	BOr
	BXor
	MinLoc
	MaxLoc
	NOps
)

// What windows have besides: Replace writes the element that comes, and NoOp leaves the one that is there.
const (
	Replace = NOps + iota
	NoOp
)

var opNames = [NOps]string{"SUM", "PROD", "MIN", "MAX", "LAND", "LOR", "BAND", "BOR", "BXOR", "MINLOC", "MAXLOC"}

// String returns the operator's name in capitals, as Python spells its constant.
func (o Op) String() string {
	switch {
	case o < NOps:
		return opNames[o]
	case o == Replace:
		return "REPLACE"
	case o == NoOp:
		return "NO_OP"
	}
	return "unknown op"
}

// Ops returns all operators in the order of their numbers, at the end those that only windows have.
func Ops() (all []Op) {
	for o := range NoOp + 1 {
		all = append(all, o)
	}
	return all
}

// ParseOp returns the operator of the given number, as it arrives from outside.
func ParseOp(n int64) (Op, error) {
	if n == int64(Replace) || n == int64(NoOp) {
		return 0, status.New(status.InvalidArgument, "%s combines nothing; only windows take it", Op(n))
	}
	if n < 0 || n >= int64(NOps) {
		return 0, status.New(status.InvalidArgument, "op number %d outside [0, %d)", n, int(NOps))
	}
	return Op(n), nil
}

// ParseWindowOp is ParseOp of what windows take, too.
func ParseWindowOp(n int64) (Op, error) {
	if n == int64(Replace) || n == int64(NoOp) {
		return Op(n), nil
	}
	return ParseOp(n)
}

// Located returns the operator that finds what MINLOC or MAXLOC locates, and whether o is one of them. Those two have
// no loop: their result is two, the values and the ranks that have them.
func (o Op) Located() (value Op, is bool) {
	switch o {
	case MinLoc:
		return Min, true
	case MaxLoc:
		return Max, true
	}
	return o, false
}

// Check returns an error unless the operator is defined for elements of type t: complex numbers have no
// order, truth values no sum, and only whole numbers and truth values have bits.
func (o Op) Check(t dtype.Type) error {
	switch o {
	case Sum, Prod:
		if t == dtype.Bool {
			return status.New(status.Unsupported, "%s is not defined for bool; convert to an integer dtype", o)
		}
	case Min, Max:
		if t.Complex() {
			return status.New(status.Unsupported, "%s is not defined for %s, which has no order", o, t)
		}
	case BAnd, BOr, BXor:
		if t.Inexact() {
			return status.New(status.Unsupported, "%s is not defined for %s, only for integers and bool", o, t)
		}
	case MinLoc, MaxLoc:
		return status.New(status.Unsupported, "%s gives values and ranks, which only allreduce and reduce return", o)
	}
	return nil
}
