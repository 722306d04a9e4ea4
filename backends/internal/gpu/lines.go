package gpu

import (
	"math"

	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/status"
)

// manyLines is how many lines are folded by one thread each; fewer are folded in pieces, so that there is work for that many.
const manyLines = 1 << 15

// piecesOf returns in how many pieces each of so many lines is folded: a power of two, and of no elements is none.
func piecesOf(lines, elements int64) int64 {
	pieces := int64(1)
	for pieces*lines < manyLines && 2*pieces*eachThread <= elements {
		pieces *= 2
	}
	return pieces
}

// Lines queues the kernels of kernels/lines.c.
func (q *queue) Lines(how backend.Lines, dst, src, means memory.Span) error {
	k, x := &q.on.kernels, how.Extents
	first, err := k.named(q.on.driven, "lines", "along_"+how.Name+"_"+how.Type.String())
	if err != nil {
		return err
	}
	lines, elements := x[0]*x[2], x[1]*x[3]
	if int64(dst.Count) != lines || int64(src.Count) != lines*elements || elements == 0 && lines > 0 {
		return status.New(status.Internal, "%d lines of %d elements each for %d results of %d", lines, elements, dst.Count, src.Count)
	}
	if lines == 0 {
		return nil
	}
	words := []uint64{
		word(dst.Addr), word(src.Addr), word(means.Addr), uint64(lines), uint64(x[2]), uint64(x[1]), uint64(x[3]), 1,
		uint64(how.Result), uint64(dst.Type.Size()), math.Float64bits(how.Divisor),
	}
	pieces := piecesOf(lines, elements)
	if pieces == 1 {
		return q.each(first, int(lines), words...)
	}
	merge, err := k.named(q.on.driven, "reductions", "merge_"+how.Merge)
	if err != nil {
		return err
	}
	finish, err := k.named(q.on.driven, "lines", "finish_"+how.Type.String())
	if err != nil {
		return err
	}
	n := lines * pieces
	return q.scratch(int(n+n/2)*partialBytes, func(partials memory.Block) error {
		return q.merged(partials, first, merge, finish, words, pieces)
	})
}

// merged queues a kernel that makes partials of pieces of lines, others that merge those of each line, and one that makes results of
// them. There is memory for the partials, and for half as many.
func (q *queue) merged(partials memory.Block, first, merge, finish uintptr, words []uint64, pieces int64) error {
	dst, lines, result := words[0], words[3], words[8]
	n := lines * uint64(pieces)
	at, other := word(partials.Addr), word(partials.Addr)+n*partialBytes
	words[0], words[7], words[8] = at, uint64(pieces), uint64(backend.LinePartial)
	if err := q.each(first, int(n), words...); err != nil {
		return err
	}
	for pieces > 1 {
		each := min(uint64(pieces), eachThread)
		if err := q.each(merge, int(n/each), other, at, 0, n, 0, each); err != nil {
			return err
		}
		at, other, n, pieces = other, at, n/each, pieces/int64(each)
	}
	words[0], words[1], words[7], words[8] = dst, at, 1, result
	return q.each(finish, int(lines), words...)
}
