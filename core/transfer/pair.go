package transfer

import "dtl/core/partition"

// pair is a rank of the source and one of the destination that have elements in common.
type pair struct {
	plan  *Plan
	ranks [2]int // of the layouts
	dims  []overlap
	bytes int64
}

// pair looks at what a rank of the communicator sends to another. Reports false if it is nothing.
func (p *Plan) pair(from, to int) (*pair, bool) {
	q := &pair{plan: p, ranks: [2]int{p.part(0, from), p.part(1, to)}, bytes: p.item}
	if q.ranks[0] < 0 || q.ranks[1] < 0 || !p.serves(q.ranks[0], to) {
		return nil, false
	}
	q.dims = make([]overlap, len(p.dims))
	for d := range p.dims {
		q.dims[d] = p.dims[d].overlap(q.coordinates(d))
		q.bytes *= q.dims[d].count
	}
	if q.bytes == 0 {
		return nil, false
	}
	return q, true
}

// coordinates returns where the two ranks stand along a dimension.
func (q *pair) coordinates(d int) [2]int {
	sides := &q.plan.sides
	return [2]int{sides[0].Layout.Coordinate(q.ranks[0], d), sides[1].Layout.Coordinate(q.ranks[1], d)}
}

// serves reports whether, of the source's ranks that hold the same, this is the one that serves a rank: the rank
// itself if it is one of them, else one in turn.
func (p *Plan) serves(source, to int) bool {
	l := p.sides[0].Layout
	for d := range l.Dims() {
		q := l.Dim(d)
		if q.Kind() != partition.KindReplicated {
			continue
		}
		want := to % q.Ranks()
		if own := p.part(0, to); own >= 0 {
			want = l.Coordinate(own, d)
		}
		if l.Coordinate(source, d) != want {
			return false
		}
	}
	return true
}

// local returns the extents of the rank's part on a side.
func (q *pair) local(side int) []int64 { return q.plan.sides[side].Layout.LocalShape(q.ranks[side]) }

// dense returns the strides of a side's part if its elements lie side by side.
func (q *pair) dense(side int) []int64 {
	strides := q.local(side)
	next := q.plan.item
	for d := len(strides) - 1; d >= 0; d-- {
		strides[d], next = next, next*strides[d]
	}
	return strides
}

// grain is the stream as seen by memory: units of bytes that lie side by side on the sides that were looked at, for
// each index of the first kept dimensions.
type grain struct {
	kept int
	unit int64
	base [2]int64 // bytes from the part's first element to the stream's first
}

// grain joins trailing dimensions where the pair's elements lie side by side on every side that has strides.
func (q *pair) grain(strides [2][]int64) grain {
	g := grain{kept: len(q.dims), unit: q.plan.item}
	for g.kept > 0 && q.joins(g.kept-1, g.unit, strides) {
		g.kept--
		g.unit *= q.dims[g.kept].count
	}
	for s, side := range strides {
		for d := g.kept; side != nil && d < len(side); d++ {
			g.base[s] += q.dims[d].first[s] * side[d]
		}
	}
	return g
}

// joins reports whether the elements along a dimension follow each other a unit apart.
func (q *pair) joins(d int, unit int64, strides [2][]int64) bool {
	v := &q.dims[d]
	if v.count == 1 {
		return true
	}
	for s, side := range strides {
		if side != nil && (!v.solid[s] || side[d] != unit) {
			return false
		}
	}
	return true
}
