package group

import (
	"dtl/core/dtype"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
)

// Foremost writes to rows the n rows of each group whose values come first in an order, ascending or descending, in this order: of equal
// ones the first, NaN last, and -1 in the places that are left. Rows has n places for each group, one group's after the other's.
func Foremost(rows []int64, n int, codes []int64, values memory.Span, descending bool, workers radix.Workers) {
	parts := max(1, min(workers.Size, len(codes)/max(len(rows), chunk)))
	order := radix.NewOrder(values.Type, descending)
	all := make([]foremost, parts)
	each(workers, len(codes), parts, func(part, lo, hi int) {
		f := foremost{n, make([]uint64, len(rows)), rows}
		if part > 0 {
			f.rows = make([]int64, len(rows))
		}
		for i := range f.rows {
			f.rows[i] = -1
		}
		const block = 1 << 10
		var keys [block]uint64
		for ; lo < hi; lo += block {
			some := keys[:min(block, hi-lo)]
			radix.KeysInto(memory.Of(dtype.Uint64, some), values.Slice(lo, lo+len(some)), order)
			for i, key := range some {
				f.add(int(codes[lo+i]), key, int64(lo+i))
			}
		}
		all[part] = f
	})
	for _, later := range all[1:] {
		for at, row := range later.rows {
			if row >= 0 {
				all[0].add(at/n, later.keys[at], row)
			}
		}
	}
}

// foremost has the n rows of each group that come first of those that were added, and their keys.
type foremost struct {
	n    int
	keys []uint64
	rows []int64
}

// add adds a row of a group, which is behind those before with an equal key.
func (f foremost) add(group int, key uint64, row int64) {
	end := (group + 1) * f.n
	at := end - 1
	if f.rows[at] >= 0 && f.keys[at] <= key {
		return
	}
	for ; at > end-f.n && (f.rows[at-1] < 0 || f.keys[at-1] > key); at-- {
		f.rows[at], f.keys[at] = f.rows[at-1], f.keys[at-1]
	}
	f.rows[at], f.keys[at] = row, key
}
