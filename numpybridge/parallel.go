//go:build cpython

package numpybridge

// #include "loops.h"
import "C"

import (
	"unsafe"

	"dtl/core/algorithm"
	"dtl/core/dtype"
	"dtl/core/kernel/fold"
	"dtl/core/memory"
)

// dtl_threads returns on how many threads dtl_parallel runs at most.
//
//export dtl_threads
func dtl_threads() (n C.int) {
	defer guard(nil)
	return C.int(algorithm.Threads())
}

// dtl_parallel calls task for each of [0, tasks) with the context, on as many threads as this rank has, and returns when all have ended. The
// caller has released the interpreter's lock, and task needs none: it runs on threads of the pool that the core's loops run on.
//
//export dtl_parallel
func dtl_parallel(tasks C.longlong, task C.dtl_task, context unsafe.Pointer) {
	defer guard(nil)
	algorithm.Parallel(int(tasks), func(n int) { C.dtl_do(task, C.longlong(n), context) })
}

// dtl_can_fold says whether there is a fold for elements of a type; the functions below do nothing where there is none.
//
//export dtl_can_fold
func dtl_can_fold(kind, number C.int) (can C.int) {
	defer guard(nil)
	if _, _, err := foldOf(kind, number, nil, 0); err != nil {
		return 0
	}
	return 1
}

// dtl_fold_run does what algorithm.FoldRun does with elements of a type, which must have the fold. The words are eight.
//
//export dtl_fold_run
func dtl_fold_run(kind, number C.int, elements unsafe.Pointer, count, first, of C.longlong, words unsafe.Pointer) {
	defer guard(nil)
	folding, run, err := foldOf(kind, number, elements, count)
	if err == nil {
		algorithm.FoldRun((*[2]fold.Partial)(words), folding, run, int64(first), int64(of))
	}
}

// dtl_fold_piece adds the elements of a piece to four words.
//
//export dtl_fold_piece
func dtl_fold_piece(kind, number C.int, elements unsafe.Pointer, count, first C.longlong, words unsafe.Pointer) {
	defer guard(nil)
	folding, run, err := foldOf(kind, number, elements, count)
	if err == nil {
		folding.Run((*fold.Partial)(words), run, int64(first))
	}
}

// dtl_fold_merge merges pieces, of four words each, to the first.
//
//export dtl_fold_merge
func dtl_fold_merge(kind, number C.int, pieces C.longlong, words unsafe.Pointer) {
	defer guard(nil)
	folding, _, err := foldOf(kind, number, nil, 0)
	if err != nil {
		return
	}
	all := unsafe.Slice((*fold.Partial)(words), int(pieces))
	for i := range all[1:] {
		folding.Merge(&all[0], &all[i+1])
	}
}

// foldOf returns how a fold works on elements of a type, and the elements.
func foldOf(kind, number C.int, elements unsafe.Pointer, count C.longlong) (*fold.Folding, memory.Span, error) {
	f, err := fold.Parse(int64(kind))
	if err != nil {
		return nil, memory.Span{}, err
	}
	t := dtype.Type(number)
	folding, err := f.Folding(t)
	return folding, memory.Span{Addr: elements, Count: int(count), Type: t}, err
}
