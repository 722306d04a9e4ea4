// Package transfer moves elements between any two distributions: from the ranks of one layout to those of another,
// either all elements or a window with steps. Redistribution, slices, resizing, gathering and scattering are all
// transfers.
//
// The indices of the window, in C order, are one sequence. Each pair of ranks has its own part of this sequence: a
// stream of elements that sender and receiver both compute from the layouts. So only elements are sent.
package transfer

import (
	"math"

	"dtl/core/comm"
	"dtl/core/partition"
	"dtl/core/status"
)

// Side is one end: how the elements are divided, and which of them take part.
type Side struct {
	Layout partition.Layout
	Window []Slice // one a dimension; nil: everything
	Ranks  []int   // the communicator's rank of each of the layout's ranks; nil: the same
}

// Plan says which bytes each rank sends to each. It is not changed once it is made, holds no memory of the sides, and
// serves any number of transfers.
type Plan struct {
	sides [2]Side
	owner [2][]int // the layout's rank of each of the communicator's, or -1; nil: the same
	dims  []dimension
	item  int64

	onDevices bool
	link      comm.Exchanger // of the devices that both sides are on; nil: messages go by way of the host
}

// New plans to move the i-th element of src's window to the i-th of dst's. The windows have as many dimensions, and
// equal counts in each, or it is status.InvalidArgument. Element size is in bytes. A replicated source serves each
// rank that is part of it from that rank's own memory. Local, and alike on all ranks: it costs no more than a look at
// the arguments.
func New(src, dst Side, itemSize int) (*Plan, error) {
	p := &Plan{sides: [2]Side{src, dst}, item: int64(itemSize)}
	if itemSize < 1 {
		return nil, status.New(status.InvalidArgument, "element size %d: it must be at least 1", itemSize)
	}
	var windows [2][]Slice
	for s, name := range sideNames {
		var err error
		if windows[s], err = p.sides[s].windows(); err != nil {
			return nil, status.New(status.CodeOf(err), "%s: %w", name, err)
		}
		if p.owner[s], err = p.sides[s].owners(); err != nil {
			return nil, status.New(status.CodeOf(err), "%s: %w", name, err)
		}
	}
	if len(windows[0]) != len(windows[1]) {
		return nil, status.New(status.InvalidArgument,
			"source has %d dimensions, destination %d", len(windows[0]), len(windows[1]))
	}
	total := p.item
	for d, w := range windows[0] {
		if v := windows[1][d]; v.Count != w.Count {
			return nil, status.New(status.InvalidArgument,
				"source has %d indices in dimension %d, destination %d", w.Count, d, v.Count)
		}
		if w.Count > 0 && total > math.MaxInt64/w.Count {
			return nil, status.New(status.InvalidArgument, "the windows have more than %d bytes", int64(math.MaxInt64))
		}
		total *= max(w.Count, 1)
		p.dims = append(p.dims, newDimension(w, windows[1][d], [2]partition.Partition{src.Layout.Dim(d), dst.Layout.Dim(d)}))
	}
	return p, nil
}

var sideNames = [2]string{"source", "destination"}

// owners inverts Ranks.
func (s *Side) owners() ([]int, error) {
	if s.Ranks == nil {
		return nil, nil
	}
	if len(s.Ranks) != s.Layout.Ranks() {
		return nil, status.New(status.InvalidArgument, "%d ranks named for a layout of %d", len(s.Ranks), s.Layout.Ranks())
	}
	owner := []int{}
	for i, rank := range s.Ranks {
		if rank < 0 || rank > math.MaxInt32 {
			return nil, status.New(status.InvalidArgument, "rank %d outside [0, %d]", rank, math.MaxInt32)
		}
		for len(owner) <= rank {
			owner = append(owner, -1)
		}
		if owner[rank] >= 0 {
			return nil, status.New(status.InvalidArgument, "rank %d named twice", rank)
		}
		owner[rank] = i
	}
	return owner, nil
}

// part returns a communicator's rank as the layout's, or -1 if it has no part of that side.
func (p *Plan) part(side, rank int) int {
	switch owner := p.owner[side]; {
	case owner != nil && rank < len(owner):
		return owner[rank]
	case owner == nil && rank < p.sides[side].Layout.Ranks():
		return rank
	}
	return -1
}

// ranks returns one more than the highest rank of the communicator that takes part.
func (p *Plan) ranks() int {
	n := 0
	for s := range p.sides {
		if p.owner[s] != nil {
			n = max(n, len(p.owner[s]))
		} else {
			n = max(n, p.sides[s].Layout.Ranks())
		}
	}
	return n
}

// Bytes returns how many bytes one rank of the communicator sends to another; to itself, what it copies. Pure
// arithmetic, alike on all ranks. It is O(1) where neither side has BlockCyclic or Hash, or where the other gives each
// rank one range and the window has a step of 1; else it can cost a look at each of the pair's runs, and for Hash,
// in every case, what its From costs.
func (p *Plan) Bytes(from, to int) int64 {
	pair, ok := p.pair(from, to)
	if !ok {
		return 0
	}
	return pair.bytes
}
