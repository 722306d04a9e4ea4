package fold

import (
	"bytes"

	"dtl/core/kernel"
	"dtl/core/memory"
)

func truths[T kernel.Number]() *Folding {
	return counting(func(run memory.Span) (n int64) {
		for _, v := range memory.As[T](run) {
			if v != 0 {
				n++
			}
		}
		return n
	})
}

// truthsOfBytes is for elements of one byte, which the library counts many at once.
func truthsOfBytes() *Folding {
	zero := []byte{0}
	return counting(func(run memory.Span) int64 { return int64(run.Count - bytes.Count(memory.As[uint8](run), zero)) })
}

func counting(count func(memory.Span) int64) *Folding {
	return &Folding{
		Run:    func(p *Partial, run memory.Span, _ int64) { p[0] += count(run) },
		Merge:  func(p, other *Partial) { p[0] += other[0] },
		Finish: func(p *Partial, _ int64) (Number, error) { return Integer(p[0]), nil },
	}
}
