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

// RenumberKeys replaces numbers as group.Renumber does. Local.
func RenumberKeys(codes, places []int64, threads int64) {
	group.Renumber(codes, places, workers(threads))
}

// FoldGroups makes a fold of groups as group.Fold.Make does. Local.
func FoldGroups(f group.Fold, out memory.Span, about []float64, codes []int64, c group.Column, t dtype.Type, threads int64) error {
	return f.Make(out, about, codes, c, t, workers(threads))
}
