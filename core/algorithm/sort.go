package algorithm

import (
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/kernel/move"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/phase"
	"dtl/core/status"
)

// Sorting says how to sort. All ranks pass the same, but for Threads.
type Sorting struct {
	Axis       int64 // negative ones are counted from the end
	Descending bool
	Threads    int64 // by how many; 0 is 1
}

func (how Sorting) call(op string) comm.Call {
	return comm.Call{Op: op, Same: []int64{how.Axis, truth(how.Descending)}, Text: func() string {
		return fmt.Sprintf("axis %d, reverse %v", how.Axis, how.Descending)
	}}
}

// Sort sorts a container in place along an axis, stably: NaNs last, in either direction. A dimension that is divided must
// be the only one. Each rank needs as much temporary memory as it has elements, and twice that where they are not one
// range of indices a rank: where the elements are. Of files that exceed the limit of memory, a rank reads and writes its elements twice. Collective,
// in one exchange of elements.
func Sort(c container.Container, how Sorting) error {
	s := sorting{how: how}
	defer s.release()
	return on(container.OnItsDevice(c), how.call("sort"), s.prepare(c), func(over *comm.Comm, p container.Part) error {
		switch {
		case p.Placement() == container.OnDevice:
			return s.sortOnDevice(over, c, p)
		case s.alone(p):
			local := phase.Begin("sort", "local", held(p))
			s.sortLines(p, local)
			local.End()
			return nil
		case s.blocks == nil:
			return s.sort(over, s.whole(p), p.Layout())
		}
		err := s.byBlocks(c, func(q container.Part) error { return s.sort(over, s.whole(q), q.Layout()) })
		if err != nil {
			return err
		}
		return moveAll(c, s.blocks)
	})
}

// sorting is one Sort, or what comes before one.
type sorting struct {
	how     Sorting
	order   radix.Order
	axis    int
	workers radix.Workers
	blocks  *container.Array // the elements by blocks, where the container has them in another way
	arrived *container.Array // on devices, what comes from other ranks
	link    *comm.Devices    // what connects the devices, if anything does
	tmp     *memory.Storage

	external *external // nil: elements are sorted where they are
	room     *memory.Storage
}

func (s *sorting) release() {
	for _, storage := range []*memory.Storage{s.tmp, s.room} {
		if storage != nil {
			storage.Release()
		}
	}
	for _, made := range []*container.Array{s.blocks, s.arrived} {
		if made != nil {
			_ = made.Close() // it never fails
		}
	}
}

// prepare checks the call, and allocates.
func (s *sorting) prepare(c container.Container) func(container.Part) error {
	return func(p container.Part) (err error) {
		if p.Placement() == container.OnDevice {
			return s.prepareOnDevice(c, p)
		}
		n, err := s.count(c, p)
		if err != nil {
			return err
		}
		n *= int64(s.roomOfLine(p) * s.slots(p))
		if s.tmp, err = memory.NewScratch(p.Scratch(c.Context()), int(n)*p.Type().Size(), memory.Alignment); err == nil {
			err = s.prepareExternal(c, p)
		}
		return err
	}
}

// prepareExternal allocates what it takes to sort elements of files in memory.
func (s *sorting) prepareExternal(c container.Container, p container.Part) (err error) {
	chunk := chunkOf(p)
	if chunk == 0 || s.blocks != nil || p.Layout().Dims() > 1 {
		return nil
	}
	s.room, err = memory.NewScratch(c.Context().Memory(), 2*chunk*p.Type().Size(), memory.Alignment)
	if err == nil {
		room := memory.Span{Addr: s.room.Addr(), Count: 2 * chunk, Type: p.Type()}
		s.external = &external{order: s.order, workers: s.workers, room: room, chunk: chunk}
	}
	return err
}

// count checks the call, and returns how many elements are sorted together on this rank. Where those are neither lines nor
// one range a rank, it makes the blocks that they are copied to.
func (s *sorting) count(c container.Container, p container.Part) (n int64, err error) {
	if err := s.check(p); err != nil {
		return 0, err
	}
	if s.alone(p) || ranged(p.Layout()) {
		return p.Shape()[s.axis], nil
	}
	s.blocks, err = inBlocks(c, p, p.Type())
	return blockSize(p, c.Context().Rank()), err
}

// check refuses what cannot be sorted.
func (s *sorting) check(p container.Part) error {
	dims := int64(p.Layout().Dims())
	axis := s.how.Axis
	if axis < -dims || axis >= dims {
		return status.New(status.NoSuchAxis, "axis %d is out of bounds for array of dimension %d", axis, dims)
	}
	if p.Type().Complex() {
		return status.New(status.Unsupported, "elements of %s have no keys", p.Type())
	}
	s.axis = int((axis + dims) % dims)
	s.order, s.workers = radix.NewOrder(p.Type(), s.how.Descending), workers(s.how.Threads)
	if dims > 1 && !s.alone(p) {
		return status.New(status.Unsupported,
			"axis %d of a container of %d dimensions is divided among %d ranks; sort along one that is not, or redistribute it",
			s.axis, dims, p.Layout().Dim(s.axis).Ranks())
	}
	return nil
}

// held returns how many bytes a part has.
func held(p container.Part) int64 {
	n := int64(p.Type().Size())
	for _, extent := range p.Shape() {
		n *= extent
	}
	return n
}

// alone reports whether each rank has whole lines along the axis.
func (s *sorting) alone(p container.Part) bool {
	d := p.Layout().Dim(s.axis)
	return d.Ranks() == 1 || d.Kind() == partition.KindReplicated
}

// ranged reports whether each rank of a layout of one dimension has one range of indices, in rank order.
func ranged(l partition.Layout) bool {
	kind := l.Dim(0).Kind()
	return kind == partition.KindBlock || kind == partition.KindExplicit
}

// inBlocks makes a vector for a container's elements, by blocks: on the host, but for those that a device alone reaches. It communicates
// nothing.
func inBlocks(c container.Container, p container.Part, t dtype.Type) (*container.Array, error) {
	spec := container.Spec{Family: "vector", Shape: p.Layout().Shape(), Type: t}
	if p.Placement() == container.OnDevice {
		spec.Placement = container.OnDevice
	}
	return container.Like(c.Context(), spec)
}

func blockSize(p container.Part, rank int) int64 {
	n := p.Layout().GlobalSize()
	b, _ := partition.NewBlock(n, p.Layout().Ranks()) // the container has as many
	return b.LocalSize(rank)
}

// whole returns the elements of a part of one dimension.
func (s *sorting) whole(p container.Part) memory.Span {
	if n := p.Shape()[0]; n > 0 {
		return p.Elements(0, int(n))
	}
	return memory.Span{Type: p.Type(), Addr: s.tmp.Addr()} // an address also where there are none
}

// sortLines sorts each line along the axis by itself.
func (s *sorting) sortLines(p container.Part, done *phase.Phase) {
	n, t := int(p.Shape()[s.axis]), p.Type()
	bytes := n * t.Size()
	room := s.roomOfLine(p) * bytes
	var pace memory.Pace
	s.eachLine(p, func(slot, _ int, by radix.Workers, at line) {
		defer done.Add(int64(bytes))
		defer pace.Passed(at.reach(n))
		tmp := memory.Span{Addr: unsafe.Add(s.tmp.Addr(), slot*room), Count: n, Type: t}
		if s.external != nil {
			s.external.sort(memory.Span{Addr: at.first, Count: n, Type: t}, tmp)
			return
		}
		if s.together(p) {
			radix.Sort(memory.Span{Addr: at.first, Count: n, Type: t}, tmp, s.order, by)
			return
		}
		line := memory.Span{Addr: unsafe.Add(tmp.Addr, bytes), Count: n, Type: t}
		move.CopyStrided(line.Addr, t.Size(), at.first, int(at.stride), n, t.Size())
		radix.Sort(line, tmp, s.order, by)
		move.CopyStrided(at.first, int(at.stride), line.Addr, t.Size(), n, t.Size())
	})
}

// line is elements along a dimension: where the first is, and how far it is from one to the next.
type line struct {
	first  unsafe.Pointer
	stride int64
}

// lineOf returns a line of a part along a dimension.
func lineOf(p container.Part, axis, number int) line {
	first, stride := p.Line(axis, number)
	return line{first, stride}
}

// reach returns how many bytes the system may have made resident where a line of n elements is used: of those that are far apart, it maps
// about mapped around each.
func (l line) reach(n int) int {
	const mapped = 128 << 10
	return n * int(min(max(l.stride, -l.stride), mapped))
}

// roomOfLine returns how many elements of temporary memory a line of a part takes, for each that it has: one that is not side by side
// is copied.
func (s *sorting) roomOfLine(p container.Part) int {
	if s.alone(p) && !s.together(p) {
		return 2
	}
	return 1
}

// slots returns how many lines of a part are sorted at once: short ones, each by one thread.
func (s *sorting) slots(p container.Part) int {
	n := p.Shape()[s.axis]
	if !s.alone(p) || n >= pieceSize || held(p) < 2*pieceSize*int64(p.Type().Size()) {
		return 1
	}
	return max(1, int(min(int64(s.workers.Size), held(p)/int64(p.Type().Size())/n)))
}

// eachLine calls f with each line of a part and its number, the number of a slot that no other call has meanwhile, and who works on it.
func (s *sorting) eachLine(p container.Part, f func(slot, number int, by radix.Workers, at line)) {
	slots, lines, next := s.slots(p), p.CountLines(s.axis), atomic.Int64{}
	by := s.workers
	if slots > 1 {
		by = radix.Workers{}
	}
	s.workers.Each(slots, func(slot int) {
		for number := int(next.Add(1)) - 1; number < lines; number = int(next.Add(1)) - 1 {
			f(slot, number, by, lineOf(p, s.axis, number))
		}
	})
}

// byBlocks calls f with a copy of the elements by blocks.
func (s *sorting) byBlocks(c container.Container, f func(container.Part) error) error {
	if err := moveAll(s.blocks, c); err != nil {
		return err
	}
	p, err := container.OnItsDevice(s.blocks).Use()
	if err != nil {
		return err
	}
	defer p.Done()
	return f(p)
}

// sort sorts the ranks' elements, of which each has a range. They travel as keys, but where zeros have signs that would be
// lost. Collective.
func (s *sorting) sort(over *comm.Comm, mine memory.Span, of partition.Layout) error {
	tmp := memory.Span{Addr: s.tmp.Addr(), Count: mine.Count, Type: mine.Type}
	m := merging{op: "sort", over: over, order: s.order, workers: s.workers, mine: mine, tmp: tmp, external: s.external}
	local := phase.Begin(m.op, "local", int64(mine.Bytes()))
	asElements, back := int64(1), func() {} // of files that are sorted externally
	if s.external != nil {
		s.external.sort(mine, tmp)
	} else {
		signs := radix.SortToKeys(mine, tmp, s.order, s.workers)
		asElements, back = truth(signs.Negative()), func() { radix.FromKeys(mine, s.order, signs, s.workers) }
	}
	local.Add(int64(mine.Bytes()))
	local.End()
	call, all := comm.Call{Op: "sort"}, make([]comm.Shared, over.Size())
	if err := over.AgreeSharing(call, nil, comm.Shared{asElements}, all); err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(x comm.Shared) bool { return x[0] != 0 }) {
		back()
		return m.run(sizes(of))
	}
	m.order = radix.KeyOrder(mine.Type)
	err := m.run(sizes(of))
	radix.FromKeys(mine, s.order, nil, s.workers) // also what stayed where it was, if the exchange failed
	return err
}

// sizes returns how many elements each rank has.
func sizes(of partition.Layout) []int64 {
	all := make([]int64, of.Ranks())
	for rank := range all {
		all[rank] = of.LocalShape(rank)[0]
	}
	return all
}
