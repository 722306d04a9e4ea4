package algorithm

import (
	"unsafe"

	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/kernel/move"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/phase"
)

// Argsort returns a container of int64 that is laid out like another: the indices along an axis at which its elements are
// in the order that Sort gives them. A rank that has whole lines needs temporary memory for a word an element of a line.
// Another needs two words an element where there are many: where the type has at most 4 bytes and there are at most 2³² elements,
// only one. Collective, in one exchange of records of an element and its index where those are a word, else in two exchanges.
func Argsort(c container.Container, how Sorting) (*container.Array, error) {
	s := argsorting{sorting: sorting{how: how}}
	defer s.release()
	err := on(container.OnItsDevice(c), how.call("argsort"), s.prepare(c), func(over *comm.Comm, p container.Part) error {
		if p.Placement() == container.OnDevice {
			return s.argsortOnDevice(over, c, p)
		}
		return s.run(over, c, p)
	})
	if err != nil && s.result != nil {
		_ = s.result.Close() // it never fails
	}
	if err != nil {
		return nil, err
	}
	return s.result, nil
}

// argsorting is one Argsort.
type argsorting struct {
	sorting
	record  dtype.Type
	came    *memory.Storage // keys from other ranks, where they travel by themselves
	result  *container.Array
	indices *container.Array   // by blocks, where the result is not one range a rank
	more    []*container.Array // on devices, what comes from other ranks, and what is ordered
}

func (s *argsorting) release() {
	s.sorting.release()
	if s.came != nil {
		s.came.Release()
	}
	for _, made := range append(s.more, s.indices) {
		if made != nil {
			_ = made.Close() // it never fails
		}
	}
}

// prepare checks the call, and allocates.
func (s *argsorting) prepare(c container.Container) func(container.Part) error {
	return func(p container.Part) (err error) {
		if p.Placement() == container.OnDevice {
			return s.prepareOnDevice(c, p)
		}
		n, err := s.count(c, p)
		if err != nil {
			return err
		}
		if s.result, err = container.Blank(c, dtype.Int64); err != nil {
			return err
		}
		if s.alone(p) {
			room := s.roomOfIndices(p) * int64(s.slots(p))
			s.tmp, err = memory.NewScratch(c.Context().Memory(), int(room), memory.Alignment)
			return err
		}
		if s.blocks != nil {
			if s.indices, err = inBlocks(c, p, dtype.Int64); err != nil {
				return err
			}
		}
		s.record = radix.RecordType(p.Type(), p.Layout().Dim(s.axis).GlobalSize())
		room := 2*s.record.Size() - s.inResult()
		if s.inPairs(p.Layout()) {
			room = 8
			if s.came, err = memory.NewScratch(c.Context().Memory(), int(n)*room, memory.Alignment); err != nil {
				return err
			}
		}
		s.tmp, err = memory.NewScratch(c.Context().Memory(), int(n)*room, memory.Alignment)
		return err
	}
}

func (s *argsorting) run(over *comm.Comm, c container.Container, p container.Part) error {
	if s.blocks == nil {
		return s.write(over, p, s.result)
	}
	err := s.byBlocks(c, func(q container.Part) error { return s.write(over, q, s.indices) })
	if err != nil {
		return err
	}
	return moveAll(s.result, s.indices)
}

// write writes the indices that sort a part's elements.
func (s *argsorting) write(over *comm.Comm, p container.Part, to *container.Array) error {
	q, err := to.Use()
	if err != nil {
		return err
	}
	defer q.Done()
	if s.alone(p) {
		s.lines(p, q)
		return nil
	}
	return s.indicesOf(over, p, s.whole(p), s.whole(q))
}

// inResult returns how many bytes of records lie in the result.
func (s *argsorting) inResult() int {
	if s.record.Size() == dtype.Int64.Size() {
		return 8
	}
	return 0
}

// inPairs reports whether keys and indices travel one after the other: records of both would need twice the memory.
func (s *argsorting) inPairs(l partition.Layout) bool {
	return s.inResult() == 0 && l.GlobalSize()*int64(s.record.Size()) > fewBytes
}

// indicesOf writes the indices that sort the ranks' elements, of which each has a range. Collective.
func (s *argsorting) indicesOf(over *comm.Comm, p container.Part, elements, indices memory.Span) error {
	all, first := sizes(p.Layout()), int64(0)
	for _, n := range all[:over.Rank()] {
		first += n
	}
	if s.inPairs(p.Layout()) {
		return s.pairs(over, elements, indices, all, first)
	}
	mine, tmp := s.records(indices)
	local := phase.Begin("argsort", "local", int64(mine.Bytes()))
	order := radix.NewOrder(dtype.Uint64, false)
	radix.Records(mine, elements, s.order, first, s.workers)
	radix.Sort(mine, tmp, order, s.workers)
	local.Add(int64(mine.Bytes()))
	local.End()
	m := merging{op: "argsort", over: over, order: order, workers: s.workers, mine: mine, tmp: tmp}
	if err := m.run(all); err != nil {
		return err
	}
	radix.Numbers(indices, mine, s.workers)
	return nil
}

// records returns memory for a record an index, where the indices are if there is room, and as much again.
func (s *argsorting) records(indices memory.Span) (mine, tmp memory.Span) {
	mine = memory.Span{Addr: s.tmp.Addr(), Count: indices.Count, Type: s.record}
	tmp = mine
	if s.inResult() > 0 {
		mine.Addr = indices.Addr
	} else {
		tmp.Addr = unsafe.Add(mine.Addr, mine.Bytes())
	}
	return mine, tmp
}

// pairs is indicesOf, the keys and the indices in memory of their own. Collective.
func (s *argsorting) pairs(over *comm.Comm, elements, indices memory.Span, sizes []int64, first int64) error {
	keys := memory.Span{Addr: s.tmp.Addr(), Count: indices.Count, Type: dtype.Uint64}
	came, numbers := keys, keys
	came.Addr, numbers.Addr = s.came.Addr(), indices.Addr
	bytes := int64(keys.Bytes())
	local := phase.Begin("argsort", "local", bytes)
	radix.Argsort(indices, keys, elements, s.order, s.workers)
	radix.NumberedKeys(keys, indices, elements, s.order, first, s.workers)
	local.Add(bytes)
	local.End()
	splitters := phase.Begin("argsort", "splitters", bytes)
	sent, comes, err := shares(over, inMemory{keys, radix.NewOrder(dtype.Uint64, false)}, sizes)
	splitters.End()
	if err != nil {
		return err
	}
	me, n := over.Rank(), int64(keys.Count)
	stays := sent[me] == n && comes[me] == n
	exchange := phase.Begin("argsort", "exchange", 2*bytes)
	err = exchanged(over, keys, came, sent, comes, stays)
	if err == nil {
		err = exchanged(over, numbers, keys, sent, comes, stays)
	}
	exchange.End()
	if err != nil || stays {
		return err
	}
	merge := phase.Begin("argsort", "merge", bytes)
	radix.MergeNumbers(indices, came, keys, lengths(comes), s.workers)
	merge.End()
	return nil
}

// exchanged sends elements to the ranks where they belong, of which none leaves or comes where all stay. Collective.
func exchanged(over *comm.Comm, from, to memory.Span, sent, comes []int64, stay bool) error {
	if stay {
		return over.Exchange(empty(from, len(sent)), empty(from, len(sent)))
	}
	return over.Exchange(divided(from, sent), divided(to, comes))
}

// lines writes the indices of each line by itself.
func (s *argsorting) lines(p, q container.Part) {
	n, t := int(p.Shape()[s.axis]), p.Type()
	room := int(s.roomOfIndices(p))
	span := func(at unsafe.Pointer, t dtype.Type) memory.Span { return memory.Span{Addr: at, Count: n, Type: t} }
	local := phase.Begin("argsort", "local", held(p))
	defer local.End()
	var pace memory.Pace
	s.eachLine(p, func(slot, number int, by radix.Workers, at line) {
		to := lineOf(q, s.axis, number)
		tmp := span(unsafe.Add(s.tmp.Addr(), slot*room), dtype.Int64)
		indices := span(unsafe.Add(tmp.Addr, tmp.Bytes()), dtype.Int64)
		copied := span(unsafe.Add(indices.Addr, indices.Bytes()), t)
		if s.together(p) {
			radix.Argsort(span(to.first, dtype.Int64), tmp, span(at.first, t), s.order, by)
		} else {
			move.CopyStrided(copied.Addr, t.Size(), at.first, int(at.stride), n, t.Size())
			radix.Argsort(indices, tmp, copied, s.order, by)
			move.CopyStrided(to.first, int(to.stride), indices.Addr, 8, n, 8)
		}
		local.Add(int64(copied.Bytes()))
		pace.Passed(at.reach(n) + to.reach(n))
	})
}

// roomOfIndices returns how many bytes of temporary memory a line of a part takes: for its indices, and where it is not side by side,
// for a copy of it and of them.
func (s *argsorting) roomOfIndices(p container.Part) int64 {
	n := p.Shape()[s.axis]
	if s.together(p) {
		return 8 * n
	}
	return n * int64(p.Type().Size()+16)
}

// together reports whether the elements of a line are side by side.
func (s *sorting) together(p container.Part) bool { return s.axis == len(p.Shape())-1 }
