package container

import (
	"cmp"
	"fmt"

	"dtl/core/comm"
	"dtl/core/partition"
	"dtl/core/runtime"
	"dtl/core/status"
	"dtl/core/transfer"
)

// Resize makes a one-dimensional array n elements long. What fits stays, also where it has to move to another rank;
// what is new is zero. The kind of partition stays; of explicit sizes, the end grows or shrinks. Collective.
func (a *Array) Resize(n int64) error {
	call := comm.Call{Op: "resize", Same: []int64{n}, Text: func() string { return fmt.Sprint("size ", n) }}
	return a.change(a.context, call, func(s *state) (change, error) {
		if s.layout.Dims() != 1 {
			return change{}, status.New(status.Unsupported, "a container of %d dimensions has no resize", s.layout.Dims())
		}
		old := s.layout.Dim(0)
		if old.Kind() == partition.KindHash {
			if err := fits(s.home, a.context.Size(), n, s.typ); err != nil {
				return change{}, err
			}
		}
		p, err := resized(old, n)
		if err != nil {
			return change{}, err
		}
		layout, err := partition.NewLayout(p)
		return change{layout: layout, window: []transfer.Slice{{Step: 1, Count: min(n, old.GlobalSize())}}}, err
	}, 0)
}

// Redistribute divides the array anew. Its elements move with at most limit bytes of temporary memory on each rank,
// beside the new part; 0 is a default of a few MiB. Collective.
func (a *Array) Redistribute(v Division, limit int64) error {
	return a.redistribute(a.context, v, limit)
}

// redistribute is Redistribute by way of a context.
func (a *Array) redistribute(on *runtime.Context, v Division, limit int64) error {
	call := comm.Call{Op: "redistribute", Same: append(v.same(), limit), Text: func() string {
		return fmt.Sprintf("%s, max_extra_bytes %d", v, limit)
	}}
	return a.change(on, call, func(s *state) (change, error) {
		if limit < 0 {
			return change{}, status.New(status.InvalidArgument, "max_extra_bytes %d is negative", limit)
		}
		layout, err := v.layout(s.layout.Shape(), a.context.Size())
		return change{layout: layout}, err
	}, limit)
}

// change is what is to become of an array.
type change struct {
	layout partition.Layout
	window []transfer.Slice // of both the old and the new; nil: everything
}

// change replaces the array's state. Where a view is out, or any rank cannot, nothing changes on any.
func (a *Array) change(on *runtime.Context, call comm.Call, to func(*state) (change, error), limit int64) error {
	c, err := on.Comm()
	if err != nil {
		return status.In(call.Op, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var next *state
	if a.now != nil {
		call = a.now.Named(call)
	}
	err = together(c, call, func() (t *transfer.Transfer, err error) {
		t, err = a.prepare(on, c, &next, to, limit)
		return t, err
	})
	if err != nil {
		next.release()
		return err
	}
	a.now.release()
	a.now = next
	return nil
}

// prepare allocates the new state, and what moves the elements there. What it allocated is in next, also where it fails.
func (a *Array) prepare(on *runtime.Context, c *comm.Comm, next **state, to func(*state) (change, error), limit int64) (
	*transfer.Transfer, error,
) {
	if a.now == nil {
		return nil, closed()
	}
	if err := a.now.checkViews(); err != nil {
		return nil, err
	}
	made, err := to(a.now)
	if err != nil {
		return nil, err
	}
	src := transfer.Side{Layout: a.now.layout, Window: made.window}
	dst := transfer.Side{Layout: made.layout, Window: made.window}
	plan, err := transfer.New(src, dst, a.now.typ.Size())
	if err != nil {
		return nil, err
	}
	room := home.blank
	if made.window != nil {
		room = home.zeros
	}
	fresh := &state{id: a.now.id, changes: a.now.changes + 1}
	if err := fresh.allocate(a.context, a.now.home, a.now.typ, made.layout, room); err != nil {
		return nil, err
	}
	*next = fresh
	for _, s := range []*state{a.now, fresh} {
		err = cmp.Or(err, s.settle())
	}
	if err != nil {
		return nil, err
	}
	plan.OnDevices(fresh.Placement() == OnDevice).LinkedBy(linking(on, fresh))
	return plan.Prepare(c, a.now.memory(), fresh.memory(), limit)
}

// together runs a transfer when every rank has prepared its own, and agrees on the call.
func together(c *comm.Comm, call comm.Call, prepare func() (*transfer.Transfer, error)) error {
	t, mine := prepare()
	if err := c.Agree(call, mine); err != nil {
		if t != nil {
			t.Release()
		}
		return err
	}
	onDevice := t.OnDevice()
	err := status.In(call.Op, t.Run())
	if !onDevice || t.Known() {
		return err
	}
	return c.Agree(executed(call), err) // what a device failed at is an error on every rank
}

func (s *state) release() {
	if s != nil {
		s.storage.Release()
	}
}

// checkViews refuses a structural change of memory that views look at.
func (s *state) checkViews() error {
	if s.padding.busy() {
		return status.New(status.ViewsOut, "a halo exchange of the container is under way; end it first")
	}
	switch n := s.storage.Users() - 1; n {
	case 0:
		return nil
	case 1:
		return status.New(status.ViewsOut, "1 view of the container is out; delete it first")
	default:
		return status.New(status.ViewsOut, "%d views of the container are out; delete them first", n)
	}
}

// resized returns a partition of the same kind for n elements.
func resized(p partition.Partition, n int64) (partition.Partition, error) {
	switch p := p.(type) {
	case partition.BlockCyclic:
		return partition.NewBlockCyclic(n, p.Ranks(), p.BlockSize())
	case partition.Hash:
		return partition.NewHash(n, p.Ranks())
	case partition.Replicated:
		return partition.NewReplicated(n, p.Ranks())
	case partition.Explicit:
		return stretched(p, n)
	case partition.Sub: // of what was computed with a span
		return resized(p.Of(), n)
	default:
		return partition.NewBlock(n, p.Ranks())
	}
}

// stretched keeps the ranges, but for the end.
func stretched(p partition.Explicit, n int64) (partition.Partition, error) {
	if n < 0 {
		return nil, status.New(status.InvalidArgument, "size %d is negative", n)
	}
	sizes := make([]int64, p.Ranks())
	left := n
	for rank := range sizes {
		sizes[rank] = min(p.LocalSize(rank), left)
		left -= sizes[rank]
	}
	sizes[len(sizes)-1] += left
	return partition.NewExplicit(sizes)
}
