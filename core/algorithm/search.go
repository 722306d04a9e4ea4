package algorithm

import (
	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
	"dtl/core/status"
)

// Search returns where in a sorted container of one dimension each value belongs, so that it stays sorted: before what
// is equal to it, or, with after, behind. The values are each rank's own. Collective, in one exchange there and back.
func Search(c container.Container, values comm.Array, after bool, how Sorting) (comm.Result, error) {
	s := searching{sorting: sorting{how: how}, values: values, after: after}
	defer s.release()
	call := how.call("searchsorted")
	call.Same = append(call.Same, truth(after))
	err := on(c, call, s.prepare(c), func(over *comm.Comm, p container.Part) error {
		return s.inRanges(c, p, func(p container.Part) error { return s.run(over, call, p) })
	})
	if err != nil {
		if s.result != nil {
			s.result.Release()
		}
		return comm.Result{}, err
	}
	return comm.Result{Array: comm.Array{Span: s.positions(), Shape: values.Shape}, Storage: s.result}, nil
}

// searching is one Search.
type searching struct {
	sorting
	values comm.Array
	after  bool
	result *memory.Storage
}

func (s *searching) positions() memory.Span {
	return memory.Span{Addr: s.result.Addr(), Count: s.values.Count, Type: dtype.Int64}
}

func (s *searching) prepare(c container.Container) func(container.Part) error {
	inner := s.sorting.prepare(c)
	return func(p container.Part) (err error) {
		if p.Layout().Dims() != 1 {
			return status.New(status.Unsupported, "a container of %d dimensions is not searched", p.Layout().Dims())
		}
		if s.values.Type != p.Type() {
			return status.New(status.InvalidArgument, "values of %s for elements of %s", s.values.Type, p.Type())
		}
		if err = inner(p); err != nil {
			return err
		}
		s.result, err = memory.NewStorage(c.Context().Memory(), 8*s.values.Count+8, memory.Alignment)
		return err
	}
}

// run asks the ranks where the values belong. Collective.
func (s *searching) run(over *comm.Comm, call comm.Call, p container.Part) error {
	a, out := s.whole(p), memory.As[int64](s.positions())
	if s.alone(p) {
		for i := range out {
			out[i] = int64(s.find(a, s.order.Rank(s.values.Span, i)))
			easeAfter(i)
		}
		return nil
	}
	all := make([]comm.Shared, over.Size())
	if err := over.AgreeSharing(call, nil, s.ends(a), all); err != nil {
		return err
	}
	keys, owners := make([]uint64, len(out)), make([]int32, len(out))
	for i := range keys {
		keys[i] = s.order.Rank(s.values.Span, i)
		owners[i] = s.owner(all, keys[i])
	}
	offset := int64(0)
	for _, x := range all[:over.Rank()] {
		offset += x[1]
	}
	asked := 0
	return ask(over, keys, owners, out, func(key uint64) int64 {
		easeAfter(asked)
		asked++
		return offset + int64(s.find(a, key))
	})
}

// easeAfter lets pages be given back after some searches, each of which may have read other pages of a file.
func easeAfter(i int) {
	if i%1024 == 1023 {
		memory.Ease()
	}
}

// find returns how many elements of a sorted span come before a key.
func (s *searching) find(a memory.Span, key uint64) int {
	if s.after && key > s.order.Last() {
		key = s.order.Greatest()
	}
	return radix.Search(a, s.order, key, s.after)
}

// owner returns the last rank whose first element comes before a key; else the first that has elements.
func (s *searching) owner(all []comm.Shared, key uint64) (owner int32) {
	for rank := len(all) - 1; rank >= 0; rank-- {
		first := uint64(all[rank][2])
		if all[rank][1] > 0 {
			if owner = int32(rank); first < key || s.after && first == key {
				return owner
			}
		}
	}
	return owner
}
