package kernel

import "dtl/core/memory"

// Update is Accumulate with the operators that windows have besides.
func Update(dst, src memory.Span, op Op) error {
	switch op {
	case Replace:
		memory.Copy(dst, src)
		return nil
	case NoOp:
		return nil
	}
	return Accumulate(dst, src, op)
}
