package halo

import (
	"slices"

	"dtl/core/partition"
	"dtl/core/status"
)

// Box is a range along each dimension of a part and its ghosts. At is the first index, counted from the part's first
// element: negative in the ghosts before it.
type Box struct {
	Peer      int // the rank that the elements come from, or go to
	At, Shape []int64
}

// Plan is what one rank moves to fill all ghosts once. What a rank sends to another and what that receives are the same
// boxes in the same order.
type Plan struct {
	Sends  []Box // of the rank's own elements
	Recvs  []Box // of its ghosts
	Copies []Copy
}

// Copy is a box of a rank's own elements that its own ghosts stand for.
type Copy struct{ From, To, Shape []int64 }

// boxes is how many a rank may have at most.
const boxes = 1 << 20

// NewPlan plans the exchange of a rank. The margins are one a dimension. Layouts whose parts are no ranges are
// status.Unsupported.
func NewPlan(l partition.Layout, rank int, margins []Margin) (*Plan, error) {
	if err := check(l, margins); err != nil {
		return nil, err
	}
	in, out := make([][]strip, l.Dims()), make([][]strip, l.Dims())
	for d, m := range margins {
		x, at := newAxis(l.Dim(d), m), l.Coordinate(rank, d)
		in[d], out[d] = x.strips(at), x.served(at)
	}
	if n := max(combinations(in), combinations(out)); n > boxes {
		return nil, status.New(status.InvalidArgument, "the halo has more than %d pieces on rank %d; make it narrower", boxes, rank)
	}
	p := &Plan{}
	combine(in, func(box []strip) {
		peer, from, to, shape := describe(l, box)
		if peer == rank {
			p.Copies = append(p.Copies, Copy{From: from, To: to, Shape: shape})
		} else {
			p.Recvs = append(p.Recvs, Box{Peer: peer, At: to, Shape: shape})
		}
	})
	combine(out, func(box []strip) {
		if peer, from, _, shape := describe(l, box); peer != rank {
			p.Sends = append(p.Sends, Box{Peer: peer, At: from, Shape: shape})
		}
	})
	inTurn(p.Recvs, rank, l.Ranks())
	inTurn(p.Sends, rank, l.Ranks())
	return p, nil
}

// combinations returns how many boxes there are, or a number above the limit.
func combinations(dims [][]strip) int {
	n := 1
	for _, strips := range dims {
		n = min(n, boxes+1) * min(len(strips), boxes+1)
	}
	return n
}

// combine calls f with each combination of one strip a dimension, but for that of elements which fill themselves, in
// lexical order.
func combine(dims [][]strip, f func(box []strip)) {
	box := make([]strip, len(dims))
	var choose func(d int, inside bool)
	choose = func(d int, inside bool) {
		if d == len(dims) {
			if !inside {
				f(box)
			}
			return
		}
		for _, s := range dims[d] {
			box[d] = s
			choose(d+1, inside && s.inside)
		}
	}
	choose(0, true)
}

// describe returns the other rank of a box, and where it lies there and here.
func describe(l partition.Layout, box []strip) (peer int, from, to, shape []int64) {
	coordinates := make([]int, len(box))
	for d, s := range box {
		coordinates[d] = s.other
		from, to, shape = append(from, s.from), append(to, s.to), append(shape, s.count)
	}
	return l.Rank(coordinates), from, to, shape
}

// inTurn sorts by peer, from the next rank around, so that not all ranks turn to the same one first.
func inTurn(boxes []Box, rank, ranks int) {
	turn := func(b Box) int { return (b.Peer - rank + ranks) % ranks }
	slices.SortStableFunc(boxes, func(a, b Box) int { return turn(a) - turn(b) })
}
