package algorithm

import (
	"dtl/core/backend"
	"dtl/core/container"
	"dtl/core/kernel/fold"
	"dtl/core/kernel/histogram"
	"dtl/core/kernel/scan"
	"dtl/core/memory"
)

// foldOnDevice does what foldPart does, with a part that only its device reaches. What devices do not fold goes through the host.
func foldOnDevice(p container.Part, folding *fold.Folding, f fold.Kind, host memory.Allocator) (mine fold.Partial, err error) {
	how, ok := f.Device(p.Type())
	if !ok {
		err = p.ByHost(host, func(copied container.Part) error {
			mine = foldRuns(copied, folding)
			return nil
		})
		return mine, err
	}
	if f != fold.Moment {
		return partialOf(p, how, nil, 0)
	}
	count := elements(p)
	if count == 0 {
		return mine, nil
	}
	mean, _ := fold.Mean.Device(p.Type())
	total, err := partialOf(p, mean, nil, 0)
	if err != nil {
		return mine, err
	}
	average, err := mean.Folding.Finish(&total, count)
	if err != nil {
		return mine, err
	}
	distances, err := partialOf(p, how, nil, average.Float())
	return fold.MomentOf(count, average.Float(), &distances), err
}

// partialOf returns what a device folds a part to, or two.
func partialOf(p container.Part, how fold.OnDevice, q *container.Part, number float64) (fold.Partial, error) {
	found, err := p.Fold(backend.Reduction{Name: how.Name, Type: p.Type(), Merge: how.Merge, Number: number}, q)
	if err != nil {
		return fold.Partial{}, err
	}
	return how.Merged(found), nil
}

// dotOnDevice adds the products of two parts of a device.
func dotOnDevice(mine *fold.Partial, p, q container.Part, conjugate bool, host memory.Allocator) (err error) {
	if how, ok := fold.DotOnDevice(p.Type()); ok {
		*mine, err = partialOf(p, how, &q, 0)
		return err
	}
	return p.ByHost(host, func(p container.Part) error {
		return q.ByHost(host, func(q container.Part) error {
			return pairs(p, q, func(x, y memory.Span) error { return fold.Dot(mine, x, y, conjugate) })
		})
	})
}

// totalOnDevice has a device begin a scan, and combines what its pieces come to.
func (s *scanning) totalOnDevice(all *fold.Partial, p container.Part) (err error) {
	operator, totals := scan.OnDevice(p.Type(), s.op)
	how := backend.Scan{Operator: operator, Type: p.Type(), Totals: totals, Exclusive: s.exclusive}
	if s.there, err = p.Scan(how); err != nil {
		return err
	}
	for _, words := range s.there.Totals() {
		piece := scan.TotalOf(words)
		s.loop.Merge(all, &piece)
	}
	return nil
}

// writeOnDevice has the device go on with what the elements before each piece come to.
func (s *scanning) writeOnDevice(from, to container.Part, carry *fold.Partial) error {
	before := make([][2]int64, len(s.there.Totals()))
	for i, words := range s.there.Totals() {
		before[i] = s.loop.Words(*carry)
		piece := scan.TotalOf(words)
		s.loop.Merge(carry, &piece)
	}
	return to.WriteScan(from, s.there, before)
}

// tallyOnDevice has a device count the elements of each value.
func tallyOnDevice(p container.Part, tally *histogram.Tally) error {
	var ends [2]int64
	for i, f := range []fold.Kind{fold.Min, fold.Max} {
		how, ok := f.Device(p.Type())
		if !ok {
			_, err := tally.Room(p.Type(), 0, 0)
			return err
		}
		found, err := partialOf(p, how, nil, 0)
		if err != nil || elements(p) == 0 {
			return err
		}
		ends[i] = found[0]
	}
	counts, err := tally.Room(p.Type(), ends[0], ends[1])
	if err != nil {
		return err
	}
	return p.Values(counts)
}

func elements(p container.Part) int64 {
	n := int64(1)
	for _, extent := range p.Shape() {
		n *= extent
	}
	return n
}
