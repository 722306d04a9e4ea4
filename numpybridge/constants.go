package numpybridge

import (
	"fmt"
	"slices"
	"strings"

	"dtl/core/container"
	"dtl/core/kernel"
	"dtl/core/kernel/fold"
	"dtl/core/kernel/random"
	"dtl/core/partition"
	"dtl/core/status"
)

// constant is a number that Python passes to an operation, and sees as a constant of _bridge.
type constant struct {
	name  string
	value int64
}

// constants are the numbers that Python and the core have in common. The package has those of operators, partitions, placements and
// failures without this module, too: the build writes them to a file, by python_files.py.
var constants = append([]constant{
	{"OPERATIONS", int64(numOperations)}, // which are counted from 0 on
	{"FOLD_SUM", int64(fold.Sum)},
	{"FOLD_PROD", int64(fold.Prod)},
	{"FOLD_MIN", int64(fold.Min)},
	{"FOLD_MAX", int64(fold.Max)},
	{"FOLD_ARGMIN", int64(fold.ArgMin)},
	{"FOLD_ARGMAX", int64(fold.ArgMax)},
	{"FOLD_MEAN", int64(fold.Mean)},
	{"FOLD_MOMENT", int64(fold.Moment)},
	{"FOLD_SQUARES", int64(fold.Squares)},
	{"FOLD_MAGNITUDES", int64(fold.Magnitudes)},
	{"FOLD_TRUTHS", int64(fold.Truths)},
	{"CART_COORDS", askCoords},
	{"CART_RANK", askRank},
	{"CART_SHIFT", askShift},
	{"CART_NEAR", askNear},
	{"CART_REORDER", askReorder},
	{"RANDOM_INTEGERS", int64(random.Integers)},
	{"RANDOM_FLOATS", int64(random.Floats)},
	{"STATUS_FILE_ERRNO", int64(status.FileErrno)},
}, slices.Concat(callsOfFolds(), numbersOfFamilies(), numbered("OP_", kernel.Ops()), numbered("PARTITION_", partition.Kinds()),
	numbered("PLACEMENT_", container.Placements()), numbered("STATUS_", status.Codes()))...)

// numbered are the numbers of values by their names.
func numbered[T interface {
	~int | ~int64 | ~uint8
	fmt.Stringer
}](prefix string, values []T) (all []constant) {
	for _, v := range values {
		all = append(all, constant{prefix + strings.ToUpper(strings.ReplaceAll(v.String(), " ", "_")), int64(v)})
	}
	return all
}

// numbersOfFamilies are by which a new container's specification names its family.
func numbersOfFamilies() (all []constant) {
	for i, name := range families {
		all = append(all, constant{"FAMILY_" + strings.ToUpper(name), int64(i)})
	}
	return all
}

// callsOfFolds are what is added to a fold's number where another call than that of its name uses it, so that ranks that make different
// ones disagree.
func callsOfFolds() (all []constant) {
	for i, name := range others {
		all = append(all, constant{"FOLD_FOR_" + strings.ToUpper(name), foldCalls * int64(i+1)})
	}
	return all
}
