package container

import (
	"dtl/core/comm"
	"dtl/core/comm/wire"
	"dtl/core/kernel/move"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/runtime"
	"dtl/core/status"
	"dtl/core/transfer"
)

// executed returns the call that executes a plan, which is another one than that which makes it.
func executed(making comm.Call) comm.Call {
	const executes = -1
	text := making.Text
	making.Same = append(making.Same, executes)
	making.Text = func() string { return text() + ", executed" }
	return making
}

// Execute moves the elements as they are now. Collective.
func (m *Plan) Execute() error {
	c, err := m.over.Context().Comm()
	if err != nil {
		return status.In(m.op, err)
	}
	if to, from, ok := m.direct(); ok {
		return m.copyAlike(c, to, from)
	}
	return m.transfer(c)
}

// stale refuses parts that are not as they were when the plan was made.
func (m *Plan) stale(to, from Part) error {
	if to.changes != m.toChanges || from.changes != m.fromChanges {
		return status.New(status.InvalidHandle,
			"the plan is stale: a container was resized, redistributed or given a halo since")
	}
	return nil
}

// transfer is Execute where the layouts differ. Without an agreement on the plan it makes that, too. Collective.
func (m *Plan) transfer(c *comm.Comm) error {
	var twin *state
	defer func() { twin.release() }()
	to, mine := inPlace(m.to)
	if mine == nil {
		defer to.Done()
	}
	from, err := inPlace(m.from)
	if err == nil {
		defer from.Done()
	} else if mine == nil {
		mine = err
	}
	call := m.call()
	if mine == nil {
		call = m.call(to.state, from.state)
	}
	planned := m.move != nil
	if planned {
		call = executed(call)
	}
	return together(c, call, func() (*transfer.Transfer, error) {
		if mine == nil && planned {
			mine = m.stale(to, from)
		} else if mine == nil {
			m.move, mine = m.plan(to.state, from.state)
		}
		if mine != nil {
			return nil, mine
		}
		src := from.state
		if src.storage == to.storage { // what is read must not have been written
			if twin, err = src.duplicate(m.from.Context()); err != nil {
				return nil, err
			}
			src = twin
		}
		return m.prepare(c, to.state, src)
	})
}

// prepare is the transfer's Prepare with this rank's parts.
func (m *Plan) prepare(c *comm.Comm, to, from *state) (*transfer.Transfer, error) {
	dst := arranged(to, m.axes, Axis.destination)
	dst.Combine = m.combine
	t, err := m.move.Prepare(c, arranged(from, m.axes, Axis.source), dst, m.limit)
	if m.leaves && err == nil {
		t.Leave()
	}
	return t, err
}

// plan returns how elements move between parts of one context on the host.
func (m *Plan) plan(to, from *state) (*transfer.Plan, error) {
	src, dst, err := m.ends(to, from)
	if err != nil {
		return nil, err
	}
	return transfer.New(src, dst, to.typ.Size())
}

// arranged returns a part with the dimensions in the order of the axes.
func arranged(s *state, axes []Axis, end func(Axis) (int64, transfer.Slice)) transfer.Memory {
	strides := make([]int64, len(axes))
	for i, a := range axes {
		if d, _ := end(a); d >= 0 {
			strides[i] = s.strides[d]
		}
	}
	return s.memoryOf(strides)
}

// duplicate returns a copy of the part, in C order: in memory, or in a file where the part is, and memory is limited.
func (s *state) duplicate(on *runtime.Context) (*state, error) {
	if s.Placement() == OnDevice {
		return s.duplicateThere()
	}
	twin := *s
	bytes := int(product(s.shape)) * s.typ.Size()
	twin.strides = cOrder(s.shape, s.typ.Size())
	to := home{space: on.Memory()}
	if s.home.files && memory.Limit() != 0 && memory.WorthAFile(int64(bytes), s.home.limit) {
		to = s.home
	}
	storage, err := to.blank(bytes)
	if err != nil {
		return nil, err
	}
	twin.storage, twin.addr = storage, storage.Addr()
	move.CopyBox(twin.addr, twin.strides, s.addr, s.strides, s.shape, s.typ.Size())
	return &twin, nil
}

// Move plans a move and executes it once. Collective over the destination's ranks.
func Move(to, from Container, axes []Axis, limit int64) error {
	return (&Plan{op: "copy", to: to, from: from, over: to, axes: axes, limit: limit}).once()
}

// MoveRest is Move on the host but for what stays on this rank, which the caller copies. Other ranks may call Move.
func MoveRest(to, from Container, axes []Axis, limit int64) error {
	return (&Plan{op: "copy", to: to, from: from, over: to, axes: axes, limit: limit, leaves: true}).once()
}

// MoveCombining moves everything between parts on the host that have several dimensions: f combines what moves with what is there. If a
// message fails, only some is. Collective.
func MoveCombining(op string, to, from Container, f transfer.Combine) error {
	axes, err := Whole(to, from)
	if err != nil {
		return err
	}
	return (&Plan{op: op, to: to, from: from, over: to, axes: axes, combine: f}).once()
}

// Copy is Move, but collective over the source's ranks.
func Copy(to, from Container, axes []Axis, limit int64) error {
	return (&Plan{op: "copy", to: to, from: from, over: from, axes: axes, limit: limit}).once()
}

// once makes the plan and executes it: with one agreement, unless the ranks have to learn of another context, or devices fail.
func (m *Plan) once() error {
	if m.to.Context() == m.from.Context() && !onDevices(m.to, m.from) {
		c, err := m.over.Context().Comm()
		if err != nil {
			return status.In(m.op, err)
		}
		return status.In(m.op, m.transfer(c))
	}
	if err := m.agree(); err != nil {
		return err
	}
	return m.Execute()
}

// Assign writes values, which are the same on every rank, to a window of a container. There is one value, which goes
// everywhere, or one an element; along an axis whose FromStep is 0, all elements get the same. Nothing but the agreement is
// communicated. Collective.
func Assign(to Container, values comm.Array, axes []Axis) error {
	m := &Plan{op: "setitem", axes: axes}
	c, err := to.Context().Comm()
	if err != nil {
		return status.In(m.op, err)
	}
	p, mine := inPlace(to)
	if mine == nil {
		defer p.Done()
	}
	call := comm.Call{Op: m.op, Same: append(m.call().Same, wire.Fingerprint(values.Span)),
		Text: func() string { return m.call().Text() + ", " + describeValues(values) }}
	if mine == nil {
		call = p.Named(call)
	}
	return together(c, call, func() (*transfer.Transfer, error) {
		if mine != nil {
			return nil, mine
		}
		src, dst, err := assignment(p.state, values, axes)
		if err != nil {
			return nil, err
		}
		move, err := transfer.New(src, dst, values.Type.Size())
		if err != nil {
			return nil, err
		}
		from := transfer.Memory{Addr: values.Addr, Strides: make([]int64, len(axes))}
		if values.Count > 1 {
			from.Strides = cOrder(given(axes), values.Type.Size())
		}
		for i, a := range axes {
			if a.FromStep == 0 {
				from.Strides[i] = 0
			}
		}
		return move.OnDevices(p.Placement() == OnDevice).Prepare(c, from, arranged(p.state, axes, Axis.destination), 0)
	})
}

// given returns how many values there are along each axis of an assignment.
func given(axes []Axis) []int64 {
	counts := make([]int64, len(axes))
	for i, a := range axes {
		counts[i] = a.Count
		if a.FromStep == 0 {
			counts[i] = 1
		}
	}
	return counts
}

// assignment returns both ends of an assignment: every rank has all values.
func assignment(s *state, values comm.Array, axes []Axis) (src, dst transfer.Side, err error) {
	if values.Type != s.typ {
		return src, dst, status.New(status.InvalidArgument, "values of %s for elements of %s", values.Type, s.typ)
	}
	if dst, err = side(s, axes, Axis.destination); err != nil {
		return src, dst, err
	}
	dims, total := make([]partition.Partition, len(axes)), product(given(axes))
	for i, a := range axes {
		if dims[i], err = partition.NewBlock(a.Count, 1); err != nil {
			return src, dst, err
		}
	}
	if len(dims) == 0 || values.Count != 1 && int64(values.Count) != total {
		return src, dst, status.New(status.InvalidArgument, "%d values for a window of %d elements", values.Count, total)
	}
	dims[0], err = partition.NewReplicated(axes[0].Count, dst.Layout.Ranks())
	src.Layout, _ = partition.NewLayout(dims...) // it is no larger than the window
	return src, dst, err
}
