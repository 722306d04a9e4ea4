package group

import (
	"math"
	"sort"

	"dtl/core/dtype"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
)

// Order writes to rows the numbers of rows in the order of their groups, and to ends how many rows there are up to the end of each group.
// With values, one for each row, those of a group are in their order, ascending or descending, and every NaN is the greatest; rows
// with equal values, and all of a group without values, are in their own.
func Order(rows, ends, codes []int64, values memory.Span, descending bool, workers radix.Workers) {
	scatter(ends, codes, workers, func(lo, hi int, next []int64) {
		for i, code := range codes[lo:hi] {
			rows[next[code]] = int64(lo + i)
			next[code]++
		}
	})
	if values.Count == 0 {
		return
	}
	keys := make([]uint64, len(rows))
	places := memory.Of(dtype.Int64, rows)
	radix.NumberedKeys(memory.Of(dtype.Uint64, keys), places, values, radix.NewOrder(values.Type, false), 0, workers)
	order := radix.NewOrder(dtype.Uint64, descending)
	segments(ends, workers, func(lo, hi int, workers radix.Workers) {
		sortRows(rows[lo:hi], keys[lo:hi], descending, order, workers)
	})
}

// few is how many rows are sorted by insertion.
const few = 12

// sortRows sorts rows by their keys.
func sortRows(rows []int64, keys []uint64, descending bool, order radix.Order, workers radix.Workers) {
	if len(rows) > few {
		places, tmp := make([]int64, len(rows)), make([]uint64, len(rows))
		radix.Argsort(memory.Of(dtype.Int64, places), memory.Of(dtype.Uint64, tmp), memory.Of(dtype.Uint64, keys), order, workers)
		for i, place := range places {
			places[i] = rows[place]
		}
		copy(rows, places)
		return
	}
	flip := uint64(0)
	if descending {
		flip = math.MaxUint64
	}
	for i := 1; i < len(rows); i++ {
		row, key := rows[i], keys[i]
		at := i
		for ; at > 0 && keys[at-1]^flip > key^flip; at-- {
			rows[at], keys[at] = rows[at-1], keys[at-1]
		}
		rows[at], keys[at] = row, key
	}
}

// Sort writes to sorted the values of rows in the order of their groups, those of a group ascending, NaN last, and to ends how many
// there are up to the end of each group. Values are of 4 or 8 bytes.
func Sort(sorted memory.Span, ends, codes []int64, values memory.Span, workers radix.Workers) {
	if values.Type.Size() == 4 {
		spread[uint32](sorted, ends, codes, values, workers)
	} else {
		spread[uint64](sorted, ends, codes, values, workers)
	}
	order := radix.NewOrder(values.Type, false)
	segments(ends, workers, func(lo, hi int, workers radix.Workers) {
		if hi-lo > 1 {
			group := sorted.Slice(lo, hi)
			radix.Sort(group, memory.Scratch(group), order, workers)
		}
	})
}

// spread writes values in the order of their groups.
func spread[T uint32 | uint64](sorted memory.Span, ends, codes []int64, values memory.Span, workers radix.Workers) {
	out, in := memory.Pair[T](sorted, values)
	scatter(ends, codes, workers, func(lo, hi int, next []int64) {
		for i, code := range codes[lo:hi] {
			out[next[code]] = in[lo+i]
			next[code]++
		}
	})
}

// Places writes, for each of some rows in the order of their groups, how many of its group are before it.
func Places(places, rows, ends []int64, workers radix.Workers) {
	segments(ends, workers, func(lo, hi int, _ radix.Workers) {
		for i, row := range rows[lo:hi] {
			places[row] = int64(i)
		}
	})
}

// NumberInOrder writes to codes the number of each value by the order of values, all NaNs as one that is the greatest. Of each value, in
// this order, it writes a row to rows and its key of radix.Order to keys, which have as many elements as there are values, and returns how
// many it has written. It sorts, which takes less time than a hash table if most values are distinct.
func NumberInOrder(codes, rows []int64, keys []uint64, values memory.Span, workers radix.Workers) int {
	order := radix.NewOrder(values.Type, false)
	radix.Argsort(memory.Of(dtype.Int64, rows), memory.Of(dtype.Uint64, keys), values, order, workers)
	radix.NumberedKeys(memory.Of(dtype.Uint64, keys), memory.Of(dtype.Int64, rows), values, order, 0, workers)
	parts := max(1, min(4*workers.Size, len(codes)/chunk))
	first := make([]int, parts+1) // the number of the first value that begins in a part
	begins := make([]bool, parts) // whether the part's first row has another value than the row before
	each(workers, len(codes), parts, func(part, lo, hi int) {
		n := 0
		for i := lo; i < hi; i++ {
			if i == 0 || keys[i] != keys[i-1] {
				n++
				begins[part] = begins[part] || i == lo
			}
		}
		first[part+1] = n
	})
	for part := range parts {
		first[part+1] += first[part]
	}
	each(workers, len(codes), parts, func(part, lo, hi int) {
		numberRuns(codes, rows[lo:hi], keys[lo:hi], begins[part], int64(first[part]))
	})
	for part := range parts {
		lo, n := len(codes)*part/parts, first[part+1]-first[part]
		copy(rows[first[part]:], rows[lo:lo+n])
		copy(keys[first[part]:], keys[lo:lo+n])
	}
	return first[parts]
}

// numberRuns numbers rows with sorted keys from one on, and moves the first row of each key, and the key, to the front. Unless a key
// begins with the first row, those before the next have the number below.
func numberRuns(codes, rows []int64, keys []uint64, begins bool, number int64) {
	n, before := 0, uint64(0)
	for i, row := range rows {
		if key := keys[i]; i == 0 && begins || i > 0 && key != before {
			rows[n], keys[n] = row, key
			n++
		}
		before = keys[i]
		codes[row] = number + int64(n) - 1
	}
}

// scatter counts the rows of each group, writes to ends how many there are up to the end of each, and calls do with the bounds of parts of
// the rows, and where those of each group of the part go.
func scatter(ends, codes []int64, workers radix.Workers, do func(lo, hi int, next []int64)) {
	parts := max(1, min(workers.Size, len(codes)/max(len(ends), chunk)))
	next := make([][]int64, parts)
	each(workers, len(codes), parts, func(part, lo, hi int) {
		next[part] = make([]int64, len(ends))
		for _, code := range codes[lo:hi] {
			next[part][code]++
		}
	})
	before := int64(0)
	for group := range ends {
		for part := range next {
			n := next[part][group]
			next[part][group] = before
			before += n
		}
		ends[group] = before
	}
	each(workers, len(codes), parts, func(part, lo, hi int) { do(lo, hi, next[part]) })
}

// segments calls do with the bounds of each group's rows, and with who works on them: on those of a large group, all do.
func segments(ends []int64, workers radix.Workers, do func(lo, hi int, workers radix.Workers)) {
	if len(ends) == 0 {
		return
	}
	n := int(ends[len(ends)-1])
	large := max(n/(2*max(workers.Size, 1)), chunk)
	parts := max(1, min(8*workers.Size, n/chunk))
	each(workers, n, parts, func(_, from, to int) {
		group := sort.Search(len(ends), func(i int) bool { return int(ends[i]) > from })
		lo := 0
		if group > 0 {
			lo = int(ends[group-1])
		}
		if lo < from { // the group begins in an earlier part
			lo, group = int(ends[group]), group+1
		}
		for ; lo < to; group++ {
			hi := int(ends[group])
			if lo < hi && hi-lo <= large {
				do(lo, hi, radix.Workers{})
			}
			lo = hi
		}
	})
	for group, lo := 0, 0; group < len(ends); group++ {
		if hi := int(ends[group]); hi-lo > large {
			do(lo, hi, workers)
		}
		lo = int(ends[group])
	}
}
