package container

import (
	"fmt"
	"strings"

	"dtl/core/comm"
	"dtl/core/handle"
	"dtl/core/partition"
	"dtl/core/status"
	"dtl/core/transfer"
)

// Plans are the open plans.
var Plans = handle.NewTable[*Plan](handle.Plan)

// Axis is one dimension of what moves: Count indices of a dimension of the source go to as many of a dimension of the
// destination. A dimension of -1 is none, with a Count of 1: so an index of a tensor takes a dimension away.
type Axis struct {
	From, FromStart, FromStep int64
	To, ToStart, ToStep       int64
	Count                     int64
}

// Whole returns the axes that move everything to the same place, or an error where the shapes differ.
func Whole(to, from Container) ([]Axis, error) {
	shape, other, err := shapes(to, from)
	if err != nil {
		return nil, err
	}
	if len(shape) != len(other) {
		return nil, status.New(status.InvalidArgument, "shape %s cannot take shape %s", tuple(shape), tuple(other))
	}
	axes := make([]Axis, len(shape))
	for d, n := range shape {
		if n != other[d] {
			return nil, status.New(status.InvalidArgument, "shape %s cannot take shape %s", tuple(shape), tuple(other))
		}
		axes[d] = Axis{From: int64(d), FromStep: 1, To: int64(d), ToStep: 1, Count: n}
	}
	return axes, nil
}

func shapes(to, from Container) (a, b []int64, err error) {
	p, q, err := lookBoth(to, from)
	if err != nil {
		return nil, nil, err
	}
	defer p.Done()
	defer q.Done()
	return p.layout.Shape(), q.layout.Shape(), nil
}

// Plan moves elements from one container to another, as often as wanted while neither changes its structure.
type Plan struct {
	op          string
	to, from    Container
	over        Container // which of them has the ranks that make the calls
	axes        []Axis
	limit       int64
	toChanges   int
	fromChanges int
	leaves      bool             // what stays on this rank is the caller's to copy
	combine     transfer.Combine // how what moves is written; nil copies
	move        *transfer.Plan
	link        comm.Exchanger // of the devices that the elements are on
}

// NewPlan plans a move. The contexts may differ, if each process has a rank in both. limit bounds the temporary memory
// in bytes on each rank; 0 is a default of a few MiB. It and what is done with the plan are collective over the source's
// ranks.
func NewPlan(to, from Container, axes []Axis, limit int64) (*Plan, error) {
	m := &Plan{op: "redistribution", to: to, from: from, over: from, axes: axes, limit: limit}
	return m, m.agree()
}

// agree makes the plan. Collective.
func (m *Plan) agree() error {
	c, err := m.over.Context().Comm()
	if err != nil {
		return status.In(m.op, err)
	}
	src, dst, size, parts, mine := m.sides()
	if mine == nil && m.to.Context() == m.from.Context() {
		m.link = linking(m.to.Context(), parts...)
	}
	other, ranks := m.from.Context(), &src.Ranks
	if m.over == m.from {
		other, ranks = m.to.Context(), &dst.Ranks
	}
	all := make([]comm.Shared, c.Size())
	share := comm.Shared{int64(other.Rank()), int64(other.Size())}
	if err := c.AgreeSharing(m.call(parts...), mine, share, all); err != nil {
		return err
	}
	if *ranks, err = counterparts(all); err != nil {
		return status.In(m.op, err)
	}
	if m.move, err = transfer.New(src, dst, size); err == nil {
		m.move.OnDevices(parts[0].Placement() == OnDevice || parts[1].Placement() == OnDevice).LinkedBy(m.link)
	}
	return status.In(m.op, err)
}

// call is the move as the ranks agree on it, of the parts that are known.
func (m *Plan) call(parts ...*state) comm.Call {
	same := []int64{m.limit, truth(m.link != nil)}
	for _, p := range parts {
		of := p.same()
		same = append(same, of[:]...)
	}
	for _, a := range m.axes {
		same = append(same, a.From, a.FromStart, a.FromStep, a.To, a.ToStart, a.ToStep, a.Count)
	}
	return comm.Call{Op: m.op, Same: same, Text: func() string {
		texts := []string{}
		for _, p := range parts {
			texts = append(texts, p.String())
		}
		for _, a := range m.axes {
			texts = append(texts, a.String())
		}
		return fmt.Sprintf("%s, max_extra_bytes %d", strings.Join(texts, ", "), m.limit)
	}}
}

// String describes an axis for an error.
func (a Axis) String() string {
	side := func(dim, start, step int64) string {
		if dim < 0 {
			return "none"
		}
		return fmt.Sprintf("%d + %di of dimension %d", start, step, dim)
	}
	return fmt.Sprintf("%s to %s for i < %d", side(a.From, a.FromStart, a.FromStep), side(a.To, a.ToStart, a.ToStep), a.Count)
}

// counterparts returns the rank, in the context that agrees, of each rank of the other; nil where they are the same.
func counterparts(all []comm.Shared) ([]int, error) {
	ranks, same := make([]int, len(all)), true
	for i := range ranks {
		ranks[i] = -1
	}
	for rank, share := range all {
		other, size := share[0], share[1]
		if size != int64(len(all)) || ranks[other] >= 0 {
			return nil, status.New(status.InvalidArgument,
				"the contexts have %d and %d ranks, or not the same processes; each process must have a rank in both", len(all), size)
		}
		ranks[other] = rank
		same = same && int64(rank) == other
	}
	if same {
		return nil, nil
	}
	return ranks, nil
}

// sides returns both ends, the size of an element, and the parts as they are now.
func (m *Plan) sides() (src, dst transfer.Side, size int, parts []*state, err error) {
	from, err := m.from.Look()
	if err != nil {
		return src, dst, 0, nil, err
	}
	defer from.Done()
	to, err := m.to.Look()
	if err != nil {
		return src, dst, 0, nil, err
	}
	defer to.Done()
	m.fromChanges, m.toChanges = from.changes, to.changes
	src, dst, err = m.ends(to.state, from.state)
	return src, dst, from.typ.Size(), []*state{to.state, from.state}, err
}

// ends returns both ends of parts.
func (m *Plan) ends(to, from *state) (src, dst transfer.Side, err error) {
	if m.limit < 0 {
		return src, dst, status.New(status.InvalidArgument, "max_extra_bytes %d is negative", m.limit)
	}
	if from.typ != to.typ {
		return src, dst, status.New(status.InvalidArgument, "elements of %s cannot move to elements of %s; convert them first", from.typ, to.typ)
	}
	if src, err = side(from, m.axes, Axis.source); err == nil {
		dst, err = side(to, m.axes, Axis.destination)
	}
	return src, dst, err
}

// The two ends of an axis.

func (a Axis) source() (dim int64, s transfer.Slice) {
	return a.From, transfer.Slice{Start: a.FromStart, Step: a.FromStep, Count: a.Count}
}

func (a Axis) destination() (dim int64, s transfer.Slice) {
	return a.To, transfer.Slice{Start: a.ToStart, Step: a.ToStep, Count: a.Count}
}

// point is a dimension of one element, on every rank that has the others.
var point, _ = partition.NewBlock(1, 1)

// side returns one end of a move, with the dimensions in the order of the axes.
func side(s *state, axes []Axis, end func(Axis) (int64, transfer.Slice)) (transfer.Side, error) {
	dims, window := make([]partition.Partition, len(axes)), make([]transfer.Slice, len(axes))
	next := int64(0)
	for i, a := range axes {
		d, slice := end(a)
		if d < 0 {
			dims[i], window[i] = point, transfer.Slice{Step: 1, Count: min(a.Count, 1)}
			continue
		}
		if d != next || d >= int64(s.layout.Dims()) {
			return transfer.Side{}, status.New(status.InvalidArgument, "dimension %d of %d is out of order", d, s.layout.Dims())
		}
		next++
		dims[i], window[i] = s.layout.Dim(int(d)), slice
		if err := checkSlice(slice, dims[i].GlobalSize()); err != nil {
			return transfer.Side{}, err
		}
	}
	if next != int64(s.layout.Dims()) {
		return transfer.Side{}, status.New(status.InvalidArgument, "%d of %d dimensions were given", next, s.layout.Dims())
	}
	layout, err := partition.NewLayout(dims...)
	return transfer.Side{Layout: layout, Window: window}, err
}

// checkSlice refuses a slice that leaves [0, n).
func checkSlice(s transfer.Slice, n int64) error {
	if s.Count == 0 {
		return nil
	}
	if s.Step == 0 || s.Count < 0 || s.Start < 0 || s.Start >= n {
		return status.New(status.OutOfBounds, "%d indices from %d on by %d are outside [0, %d)", s.Count, s.Start, s.Step, n)
	}
	room := s.Start / max(-s.Step, 1)
	if s.Step > 0 {
		room = (n - 1 - s.Start) / s.Step
	}
	if s.Count-1 > room {
		return status.New(status.OutOfBounds, "%d indices from %d on by %d reach outside [0, %d)", s.Count, s.Start, s.Step, n)
	}
	return nil
}

// Ranks returns the number of ranks that take part.
func (m *Plan) Ranks() int { return m.over.Context().Size() }

// Bytes returns how many bytes rank from sends to rank to, both of the source's context.
func (m *Plan) Bytes(from, to int) int64 { return m.move.Bytes(from, to) }

// Extra returns the temporary bytes that a rank needs at most.
func (m *Plan) Extra() int64 { return m.move.Extra(m.limit) }

// Close does nothing: a plan owns no memory.
func (m *Plan) Close() error { return nil }
