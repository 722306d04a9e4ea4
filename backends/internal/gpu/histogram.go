package gpu

import (
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/memory"
)

// Bins queues a kernel of kernels/histograms.c, and waits for the counts.
func (q *queue) Bins(counts []int64, s memory.Span, edges []float64) error {
	return q.count("bins", counts, s, edges)
}

// Values queues a kernel of kernels/histograms.c, and waits for the counts.
func (q *queue) Values(counts []int64, s memory.Span) error { return q.count("values", counts, s, nil) }

func (q *queue) count(what string, counts []int64, s memory.Span, edges []float64) error {
	f, err := q.on.kernels.named(q.on.driven, "histograms", what+"_"+s.Type.String())
	if err != nil || s.Count == 0 {
		return err
	}
	bytes := 8 * len(counts)
	return q.scratch(bytes+8*len(edges), func(b memory.Block) error {
		made := memory.Span{Addr: b.Addr, Count: bytes, Type: dtype.Uint8, Place: b.Place}
		beside := memory.Span{Addr: unsafe.Add(b.Addr, bytes), Count: 8 * len(edges), Type: dtype.Uint8, Place: b.Place}
		if err := q.Fill(made, []byte{0}); err != nil {
			return err
		}
		if len(edges) > 0 {
			given := memory.Span{Addr: unsafe.Pointer(&edges[0]), Count: beside.Count, Type: dtype.Uint8}
			if err := q.Copy(beside, given); err != nil {
				return err
			}
		}
		if err := q.each(f, s.Count, word(b.Addr), word(s.Addr), word(beside.Addr), uint64(s.Count), uint64(len(counts)), 0); err != nil {
			return err
		}
		return q.Copy(memory.Span{Addr: unsafe.Pointer(&counts[0]), Count: bytes, Type: dtype.Uint8}, made)
	})
}
