package pydtl

import (
	"strings"

	"dtl/core/dtype"
	"dtl/core/kernel"
)

// DtypeName returns NumPy's name of the element type of a number, or "" where there is none. The numbers
// start at 1 and have no gaps, but for those of DtypeNamed, which it also knows.
func DtypeName(number int64) (name string, err error) {
	defer guard(&err)
	if t := dtype.FromNumber(number); t.Named() {
		return t.String(), nil
	}
	if number < 1 || number >= int64(dtype.N) {
		return "", nil
	}
	return dtype.Type(number).String(), nil
}

// DtypeNamed returns the number of the type of elements of so many bytes that are called so; 0 if there is none.
func DtypeNamed(name string, size int64) (number int64, err error) {
	defer guard(&err)
	return int64(dtype.Named(strings.Clone(name), int(size))), nil
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
