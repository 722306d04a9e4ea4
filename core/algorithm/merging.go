package algorithm

import (
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/progress"
)

// merging makes one sorted sequence of the ranks' sorted elements, each rank keeping as many as it has.
type merging struct {
	op        string // what it is a part of
	over      *comm.Comm
	order     kernel.Order
	crew      kernel.Crew
	mine, tmp memory.Span
}

// run moves each element to the rank where it belongs, and merges there. Of equal ones, those of lower ranks come first.
// Collective.
func (m *merging) run(sizes []int64) error {
	bytes := int64(m.mine.Bytes())
	splitters := progress.Begin(m.op, "splitters", bytes)
	ends, err := m.ends(sizes)
	splitters.End()
	if err != nil {
		return err
	}
	sendCounts := make([]int64, len(sizes))
	last := 0
	for rank, end := range ends {
		sendCounts[rank] = int64(end - last)
		last = end
	}
	counts, err := m.over.Counts(sendCounts)
	if err != nil {
		return err
	}
	if me := m.over.Rank(); sendCounts[me] == int64(m.mine.Count) && counts[me] == int64(m.mine.Count) {
		return m.over.Exchange(empty(m.mine, len(sizes)), empty(m.mine, len(sizes))) // everything stays
	}
	runs := make([]int, len(counts))
	for rank, n := range counts {
		runs[rank] = int(n)
	}
	exchange := progress.Begin(m.op, "exchange", bytes)
	err = m.over.Exchange(divided(m.mine, sendCounts), divided(m.tmp, counts))
	exchange.End()
	if err != nil {
		return err
	}
	merge := progress.Begin(m.op, "merge", bytes)
	kernel.Merge(m.mine, m.tmp, runs, m.order, m.crew)
	merge.End()
	return nil
}

func empty(s memory.Span, n int) []memory.Span {
	all := make([]memory.Span, n)
	for rank := range all {
		all[rank] = s.Slice(0, 0)
	}
	return all
}

// divided returns each rank's elements of a span that has them in rank order.
func divided(s memory.Span, counts []int64) []memory.Span {
	all := make([]memory.Span, len(counts))
	at := 0
	for rank, n := range counts {
		all[rank] = s.Slice(at, at+int(n))
		at += int(n)
	}
	return all
}

// ends returns where in this rank's elements those end that belong on each rank. Collective.
func (m *merging) ends(sizes []int64) ([]int, error) {
	s := splitting{over: m.over, order: m.order, mine: m.mine, all: make([]splitter, len(sizes))}
	defer s.release()
	total := int64(0)
	for rank, n := range sizes {
		total += n
		s.all[rank].place = total
	}
	if err := s.run(total); err != nil {
		return nil, err
	}
	earlier, err := s.earlier()
	if err != nil {
		return nil, err
	}
	ends := make([]int, len(sizes))
	for i := range s.all {
		x := &s.all[i]
		ends[i] = x.less + int(min(max(x.place-x.before-earlier[i], 0), int64(x.equal)))
	}
	return ends, nil
}

// earlier returns, for each splitter, how many elements equal to it the ranks before this one have. Collective.
func (s *splitting) earlier() ([]int64, error) {
	n, ranks := len(s.all), s.over.Size()
	if err := s.room(8 * n * (ranks + 1)); err != nil {
		return nil, err
	}
	send, recv := s.words(0, n), s.words(n, n*ranks)
	send.Type, recv.Type = dtype.Int64, dtype.Int64
	for i, x := range s.all {
		memory.As[int64](send)[i] = int64(x.equal)
	}
	if err := s.over.Allgather(send, recv); err != nil {
		return nil, err
	}
	sums := make([]int64, n)
	for rank := range s.over.Rank() {
		for i := range sums {
			sums[i] += memory.As[int64](recv)[rank*n+i]
		}
	}
	return sums, nil
}
