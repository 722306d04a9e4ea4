package algorithm

import (
	"dtl/core/dtype"
	"dtl/core/kernel/group"
	"dtl/core/memory"
)

// NumberKeys numbers the values of a column as group.Number does, on so many threads. Local.
func NumberKeys(codes []int64, c group.Column, size, known int, threads int64) []int64 {
	return group.Number(codes, c, size, known, workers(threads))
}

// NumberInOrder numbers values as group.NumberInOrder does. Local.
func NumberInOrder(codes, rows []int64, keys []uint64, values memory.Span, threads int64) int {
	return group.NumberInOrder(codes, rows, keys, values, workers(threads))
}

// RenumberKeys replaces numbers as group.Renumber does. Local.
func RenumberKeys(codes, places []int64, threads int64) {
	group.Renumber(codes, places, workers(threads))
}

// FoldGroups makes a fold of groups as group.Fold.Make does. Local.
func FoldGroups(f group.Fold, out memory.Span, about []float64, codes []int64, c group.Column, t dtype.Type, threads int64) error {
	return f.Make(out, about, codes, c, t, workers(threads))
}

// AddToGroups adds rows to a fold of groups as group.Fold.Add does. Local.
func AddToGroups(f group.Fold, out memory.Span, about []float64, codes []int64, c group.Column, t dtype.Type) error {
	return f.Add(out, about, codes, c, t)
}

// FoldPairs adds up pairs of values as group.Pairs does. Local.
func FoldPairs(out []float64, codes []int64, x, y group.Values, threads int64) error {
	return group.Pairs(out, codes, x, y, workers(threads))
}

// OrderGroups orders rows as group.Order does. Local.
func OrderGroups(rows, ends, codes []int64, values memory.Span, descending bool, threads int64) {
	group.Order(rows, ends, codes, values, descending, workers(threads))
}

// SortGroups sorts values as group.Sort does. Local.
func SortGroups(sorted memory.Span, ends, codes []int64, values memory.Span, threads int64) {
	group.Sort(sorted, ends, codes, values, workers(threads))
}

// TopOfGroups finds rows as group.Foremost does. Local.
func TopOfGroups(rows []int64, n int, codes []int64, values memory.Span, descending bool, threads int64) {
	group.Foremost(rows, n, codes, values, descending, workers(threads))
}

// PlacesInGroups writes the places of rows as group.Places does. Local.
func PlacesInGroups(places, rows, ends []int64, threads int64) {
	group.Places(places, rows, ends, workers(threads))
}
