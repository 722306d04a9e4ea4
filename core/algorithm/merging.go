package algorithm

import (
	"slices"

	"dtl/core/comm"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
	"dtl/core/phase"
)

// merging makes one sorted sequence of the ranks' sorted elements, each rank keeping as many as it has.
type merging struct {
	op        string // what it is a part of
	over      *comm.Comm
	order     radix.Order
	workers   radix.Workers
	mine, tmp memory.Span
	external  *external // nil: what has come is merged where it is
}

// run moves each element to the rank where it belongs, and merges there. Of equal ones, those of lower ranks come first.
// Collective.
func (m *merging) run(sizes []int64) error {
	if most := slices.Max(sizes); most*int64(len(sizes)*m.mine.Type.Size()) <= fewBytes {
		return m.runWhole(sizes, int(most))
	}
	bytes := int64(m.mine.Bytes())
	splitters := phase.Begin(m.op, "splitters", bytes)
	sendCounts, counts, err := shares(m.over, inMemory{m.mine, m.order}, sizes)
	splitters.End()
	if err != nil {
		return err
	}
	me, n := m.over.Rank(), int64(m.mine.Count)
	stays := sendCounts[me] == n && counts[me] == n
	exchange := phase.Begin(m.op, "exchange", bytes)
	err = exchanged(m.over, m.mine, m.tmp, sendCounts, counts, stays)
	exchange.End()
	if err != nil || stays {
		return err
	}
	merge := phase.Begin(m.op, "merge", bytes)
	if m.external != nil {
		m.external.mergeAll(m.mine, divided(m.tmp, counts))
	} else {
		radix.Merge(m.mine, m.tmp, lengths(counts), m.order, m.workers)
	}
	merge.End()
	return nil
}

// fewBytes is up to how many, of all ranks together, each rank merges them all: one collective takes less time than the rounds
// that find what to send where.
var fewBytes int64 = 256 << 10

// runWhole gives each rank all elements, of which no rank has more than most, and each keeps its share of them. Collective.
func (m *merging) runWhole(sizes []int64, most int) error {
	exchange := phase.Begin(m.op, "exchange", int64(m.mine.Bytes()))
	defer exchange.End()
	room := most * len(sizes)
	work, err := memory.NewScratch(m.over.Memory(), 2*room*m.mine.Type.Size(), memory.Alignment)
	if err != nil {
		return err
	}
	defer work.Release()
	both := memory.Span{Addr: work.Addr(), Count: 2 * room, Type: m.mine.Type}
	all, rest := both.Slice(0, room), both.Slice(room, 2*room)
	memory.Copy(rest, m.mine)
	if err := m.over.Allgather(rest.Slice(0, most), all); err != nil {
		return err
	}
	runs, total, first := make([]int, len(sizes)), 0, 0
	for rank, n := range sizes {
		runs[rank] = int(n)
		if rank == m.over.Rank() {
			first = total
		}
		memory.Copy(all.Slice(total, total+int(n)), all.Slice(rank*most, rank*most+int(n)))
		total += int(n)
	}
	radix.Merge(rest.Slice(0, total), all.Slice(0, total), runs, m.order, m.workers)
	memory.Copy(m.mine, rest.Slice(first, first+m.mine.Count))
	return nil
}

func lengths(counts []int64) []int {
	runs := make([]int, len(counts))
	for rank, n := range counts {
		runs[rank] = int(n)
	}
	return runs
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

// shares returns how many of this rank's sorted elements belong on each rank, and how many of each rank's belong here, where each rank
// keeps as many as it has. Of equal ones, those of lower ranks come first. Collective.
func shares(over *comm.Comm, mine sequence, sizes []int64) (sent, comes []int64, err error) {
	s := splitting{over: over, mine: mine, all: make([]splitter, len(sizes))}
	defer s.release()
	total := int64(0)
	for rank, n := range sizes {
		total += n
		s.all[rank].place = total
	}
	if err := s.run(total); err != nil {
		return nil, nil, err
	}
	earlier, err := s.earlier()
	if err != nil {
		return nil, nil, err
	}
	sent, last := make([]int64, len(sizes)), int64(0)
	for i := range s.all {
		x := &s.all[i]
		end := int64(x.less) + min(max(x.place-x.before-earlier[i], 0), int64(x.equal))
		sent[i], last = end-last, end
	}
	comes, err = over.Counts(sent)
	return sent, comes, err
}

// earlier returns, for each splitter, how many elements equal to it the ranks before this one have. Collective.
func (s *splitting) earlier() ([]int64, error) {
	equal := make([]int64, len(s.all))
	for i, x := range s.all {
		equal[i] = int64(x.equal)
	}
	return s.before(equal)
}

// before returns the sums of what the ranks before this one give. Collective.
func (s *splitting) before(mine []int64) ([]int64, error) {
	n := len(mine)
	if err := s.room(8 * 2 * n); err != nil {
		return nil, err
	}
	send, recv := s.words(0, n), s.words(n, n)
	send.Type, recv.Type = dtype.Int64, dtype.Int64
	copy(memory.As[int64](send), mine)
	value, sums := alongOne(send), alongOne(recv)
	if _, err := s.over.Exscan(&value, &sums, kernel.Sum); err != nil {
		return nil, err
	}
	return slices.Clone(memory.As[int64](recv)), nil
}

// alongOne returns elements as an array of one dimension.
func alongOne(s memory.Span) comm.Array {
	return comm.Array{Span: s, Shape: []int64{int64(s.Count)}, Kind: wire.NDArray}
}
