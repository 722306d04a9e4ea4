// Package group has the loops of tables over rows: the numbers of equal keys, and what is made of the values of each group.
//
// Results do not depend on the number of workers.
package group

import (
	"unsafe"

	"dtl/core/kernel/radix"
)

// Array is an array of Arrow's: rows from Offset on of what is at its addresses, which are not Go's.
type Array struct {
	Valid  unsafe.Pointer // a bit for each row, which says that it is not null; nil if none is
	Data   unsafe.Pointer // the values; of texts, where each begins and the last ends, as int32
	Text   unsafe.Pointer // the bytes of texts
	Bytes  int            // how many
	Offset int
	Rows   int
}

// Column is the arrays of a column, one after the other.
type Column []Array

// Rows returns how many rows a column has.
func (c Column) Rows() (n int) {
	for _, a := range c {
		n += a.Rows
	}
	return n
}

// between calls do with the arrays of rows [lo, hi), and the number of the first row of each.
func (c Column) between(lo, hi int, do func(a Array, row int)) {
	first := 0
	for _, a := range c {
		if from, to := max(lo, first), min(hi, first+a.Rows); from < to {
			do(Array{a.Valid, a.Data, a.Text, a.Bytes, a.Offset + from - first, to - from}, from)
		}
		first += a.Rows
	}
}

// values returns the values of an array, which are of the size of T.
func values[T any](a Array) []T {
	return unsafe.Slice((*T)(a.Data), a.Offset+a.Rows)[a.Offset:]
}

// bits returns the bitmap of an array, nil if no row is null.
func (a Array) bits() []uint8 {
	if a.Valid == nil {
		return nil
	}
	return unsafe.Slice((*uint8)(a.Valid), (a.Offset+a.Rows+7)/8)
}

// valid reports whether a row of an array with a bitmap is not null; row is counted from where the bitmap begins.
func valid(bits []uint8, row int) bool { return bits[row>>3]>>(row&7)&1 != 0 }

// chunk is the least number of rows that are worth a task.
const chunk = 1 << 15

// each calls do with the bounds of each of some parts of n rows.
func each(workers radix.Workers, n, parts int, do func(part, lo, hi int)) {
	workers.Each(parts, func(part int) { do(part, n*part/parts, n*(part+1)/parts) })
}
