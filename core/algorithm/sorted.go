package algorithm

import (
	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/kernel/move"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
)

// inRanges calls f with the container's part, or with that of a copy by blocks. Collective.
func (s *sorting) inRanges(c container.Container, p container.Part, f func(container.Part) error) error {
	if s.blocks == nil {
		return f(p)
	}
	if err := moveAll(s.blocks, c); err != nil {
		return err
	}
	q, err := s.blocks.Use()
	if err != nil {
		return err
	}
	defer q.Done()
	return f(q)
}

// IsSorted reports whether Sort would leave a container as it is. Collective.
func IsSorted(c container.Container, how Sorting) (sorted bool, err error) {
	s := sorting{how: how}
	defer s.release()
	call := how.call("is_sorted")
	return sorted, on(c, call, s.prepare(c), func(over *comm.Comm, p container.Part) error {
		return s.inRanges(c, p, func(p container.Part) error {
			sorted, err = s.sorted(over, call, p)
			return err
		})
	})
}

// sorted reports whether all ranks' elements are. Collective.
func (s *sorting) sorted(over *comm.Comm, call comm.Call, p container.Part) (bool, error) {
	mine, all := comm.Shared{1}, make([]comm.Shared, over.Size())
	if s.alone(p) {
		n, line := int(p.Shape()[s.axis]), memory.Span{}
		for number := range p.CountLines(s.axis) {
			first, stride := p.Line(s.axis, number)
			line = memory.Span{Addr: first, Count: n, Type: p.Type()}
			if s.axis < len(p.Shape())-1 {
				line.Addr = s.tmp.Addr()
				move.CopyStrided(line.Addr, p.Type().Size(), first, int(stride), n, p.Type().Size())
			}
			mine[0] &= truth(radix.Sorted(line, s.order))
		}
	} else {
		a := s.whole(p)
		mine = s.ends(a)
		mine[0] = truth(radix.Sorted(a, s.order))
	}
	if err := over.AgreeSharing(call, nil, mine, all); err != nil {
		return false, err
	}
	last := uint64(0)
	for _, x := range all {
		if x[0] == 0 || x[1] > 0 && uint64(x[2]) < last {
			return false, nil
		}
		if x[1] > 0 {
			last = uint64(x[3])
		}
	}
	return true, nil
}

// ends returns how many elements there are, and the ranks of the first and the last, at 1, 2 and 3.
func (s *sorting) ends(a memory.Span) (x comm.Shared) {
	if a.Count > 0 {
		x = comm.Shared{0, int64(a.Count), int64(s.order.Rank(a, 0)), int64(s.order.Rank(a, a.Count-1))}
	}
	return x
}
