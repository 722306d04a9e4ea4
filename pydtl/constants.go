package pydtl

import (
	"dtl/core/dtype"
	"dtl/core/kernel"
)

// DtypeName returns NumPy's name of the element type of a number, or "" where there is none. The numbers
// start at 1 and have no gaps.
func DtypeName(number int64) (name string, err error) {
	defer guard(&err)
	if number < 1 || number >= int64(dtype.N) {
		return "", nil
	}
	return dtype.Type(number).String(), nil
}

// OpName returns the name of the reduction operator of a number, or "" where there is none. The numbers
// start at 0 and have no gaps.
func OpName(number int64) (name string, err error) {
	defer guard(&err)
	if number < 0 || number > int64(kernel.NoOp) {
		return "", nil
	}
	return kernel.Op(number).String(), nil
}
