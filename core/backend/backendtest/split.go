package backendtest

import (
	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/memory"
)

func dupApart(r *rank) {
	dup, err := r.c.Dup()
	if err != nil {
		r.ok("dup", err)
		return
	}
	got(r, "rank of dup", dup.Rank(), r.c.Rank())
	got(r, "size of dup", dup.Size(), r.c.Size())
	on := &rank{T: r.T, c: dup}
	defer on.pins.Unpin()
	first, second := r.isend(r.filled(dtype.Int64, 3, 1), r.next(), 7), on.isend(on.filled(dtype.Int64, 3, 2), r.next(), 7)
	on.recv(on.room(dtype.Int64, 3), r.previous(), 7, 2)
	r.recv(r.room(dtype.Int64, 3), r.previous(), 7, 1)
	first()
	second()
	r.ok("barrier on dup", dup.Barrier())
	r.ok("close of dup", dup.Close())
	r.ok("barrier after the dup is closed", r.c.Barrier())
}

// split makes halves in which the ranks stand in reverse.
func split(r *rank) {
	me := r.c.Rank()
	part, err := r.c.Split(me%2, -me)
	r.ok("split", err)
	var want []int32
	for rank := r.c.Size() - 1; rank >= 0; rank-- {
		if rank%2 == me%2 {
			want = append(want, int32(rank))
		}
	}
	r.members(part, want)
	tied, err := r.c.Split(0, 5)
	r.ok("split with equal keys", err)
	all := make([]int32, r.c.Size())
	for rank := range all {
		all[rank] = int32(rank)
	}
	r.members(tied, all)
}

func splitLeftOut(r *rank) {
	color := r.c.Rank()%2 - 1 // -1 for even ranks, 0 for odd ones
	part, err := r.c.Split(color, 0)
	r.ok("split", err)
	if color < 0 && part != nil {
		r.Errorf("rank %d: a negative color gives a communicator", r.c.Rank())
	}
	if color >= 0 {
		var odd []int32
		for rank := 1; rank < r.c.Size(); rank += 2 {
			odd = append(odd, int32(rank))
		}
		r.members(part, odd)
	}
	none, err := r.c.Split(-1, 0)
	r.ok("split without any color", err)
	if none != nil {
		r.Errorf("rank %d: a negative color gives a communicator", r.c.Rank())
	}
}

// splitByNode compares with what every launcher of these tests does: all ranks are on one machine.
func splitByNode(r *rank) {
	all := make([]int32, r.c.Size())
	for rank := range all {
		all[rank] = int32(rank)
	}
	part, err := r.c.SplitByNode()
	r.ok("split by node", err)
	r.members(part, all)
}

// members reports unless part connects the ranks of want, in that order, and closes it.
func (r *rank) members(part backend.ReducingCommunicator, want []int32) {
	r.Helper()
	if part == nil {
		r.Errorf("rank %d: split gave no communicator", r.c.Rank())
		return
	}
	got(r, "size of the part", part.Size(), len(want))
	mine, all := []int32{int32(r.c.Rank())}, make([]int32, part.Size())
	r.pins.Pin(&mine[0])
	r.pins.Pin(&all[0])
	r.ok("allgather on the part", part.Allgather(memory.Of(dtype.Int32, mine), memory.Of(dtype.Int32, all)))
	for i := range min(len(all), len(want)) {
		got(r, "member", all[i], want[i])
	}
	got(r, "own rank in the part", all[part.Rank()], mine[0])
	r.ok("close of the part", part.Close())
}
