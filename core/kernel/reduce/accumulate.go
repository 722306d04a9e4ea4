// Package reduce combines elements with an operator: two runs, elements anywhere in memory, an operator's identity, and
// where an extreme lies.
package reduce

import (
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// Accumulate combines src into dst: dst[i] = dst[i] op src[i]. The spans have equal types and counts, which
// may be zero. Integers wrap. MIN and MAX give NaN where either element is NaN, as NumPy's minimum and
// maximum do, and take -0 for less than +0; of bool they are AND and OR. LAND and LOR give 0 and 1, and take all but
// zeros for true.
func Accumulate(dst, src memory.Span, op kernel.Op) error {
	loops, err := loopsOf(dst.Type, op)
	if err != nil {
		return err
	}
	if dst.Type != src.Type || dst.Count != src.Count {
		return status.New(status.InvalidArgument, "%d elements of %s combined into %d of %s",
			src.Count, src.Type, dst.Count, dst.Type)
	}
	loops.run(dst, src)
	return nil
}

// Update is Accumulate with the operators that windows have besides.
func Update(dst, src memory.Span, op kernel.Op) error {
	switch op {
	case kernel.Replace:
		memory.Copy(dst, src)
		return nil
	case kernel.NoOp:
		return nil
	}
	return Accumulate(dst, src, op)
}

func prod[T kernel.Number](dst, src memory.Span) {
	d, s := memory.Pair[T](dst, src)
	for i, v := range s {
		d[i] *= v
	}
}

func minimum[T kernel.Ordered](dst, src memory.Span) {
	d, s := memory.Pair[T](dst, src)
	for i, v := range s {
		d[i] = min(d[i], v)
	}
}

func maximum[T kernel.Ordered](dst, src memory.Span) {
	d, s := memory.Pair[T](dst, src)
	for i, v := range s {
		d[i] = max(d[i], v)
	}
}

// truth is 1 for true.
func truth[T kernel.Number](b bool) T {
	if b {
		return 1
	}
	return 0
}

func and[T kernel.Number](dst, src memory.Span) {
	d, s := memory.Pair[T](dst, src)
	for i, v := range s {
		d[i] = truth[T](d[i] != 0 && v != 0)
	}
}

func or[T kernel.Number](dst, src memory.Span) {
	d, s := memory.Pair[T](dst, src)
	for i, v := range s {
		d[i] = truth[T](d[i] != 0 || v != 0)
	}
}

func bitsAnd[T kernel.Integer](dst, src memory.Span) {
	d, s := memory.Pair[T](dst, src)
	for i, v := range s {
		d[i] &= v
	}
}

func bitsOr[T kernel.Integer](dst, src memory.Span) {
	d, s := memory.Pair[T](dst, src)
	for i, v := range s {
		d[i] |= v
	}
}

func bitsXor[T kernel.Integer](dst, src memory.Span) {
	d, s := memory.Pair[T](dst, src)
	for i, v := range s {
		d[i] ^= v
	}
}
