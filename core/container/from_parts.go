package container

import (
	"cmp"
	"fmt"
	"slices"

	"dtl/core/comm"
	"dtl/core/partition"
	"dtl/core/runtime"
	"dtl/core/status"
	"dtl/core/transfer"
)

// FromParts makes an array of the rows that the ranks have, one rank's after the other's, divided as the specification says, whose first
// extent is ignored. The rows are on the host, and so are the elements. Collective.
func FromParts(on *runtime.Context, spec Spec, rows comm.Array) (*Array, error) {
	c, err := on.Comm()
	if err != nil {
		return nil, status.In(spec.Name(), err)
	}
	spec.Shape, spec.Blank = slices.Clone(spec.Shape), true
	spec.Shape[0] = 0
	mine := spec.takes(rows)
	call, own := spec.call(), spec.Placement.told()
	call.Text = func() string {
		return cmp.Or(spec.Words, fmt.Sprintf("rows of shape (*, %s, dtype %s, %s", tuple(spec.Shape[1:])[1:], spec.Type, spec.Division))
	}
	if mine == nil {
		own[3] = rows.Shape[0]
	}
	all := make([]comm.Shared, c.Size())
	if err = c.AgreeSharing(call, mine, own, all); err != nil {
		return nil, err
	}
	sizes := make([]int64, len(all))
	for rank, share := range all {
		sizes[rank] = share[3]
		spec.Shape[0] += share[3]
	}
	var a *Array
	err = together(c, executed(call), func() (t *transfer.Transfer, err error) {
		if a, err = Like(on, spec); err != nil {
			return nil, err
		}
		return a.now.prepareRows(c, rows, sizes)
	})
	if err != nil {
		if a != nil {
			_ = a.Close() // it never fails
		}
		return nil, err
	}
	return named(a, spec, all)
}

// takes refuses rows that are no elements of an array of the specification.
func (s *Spec) takes(rows comm.Array) error {
	if s.Placement != OnHost && s.Placement != OnDisk || rows.Type != s.Type || len(rows.Shape) != len(s.Shape) || !slices.Equal(rows.Shape[1:], s.Shape[1:]) {
		return status.New(status.InvalidArgument, "rows of shape %s, %s, for a container of shape %s, %s", tuple(rows.Shape), rows.Type,
			tuple(s.Shape), s.Type)
	}
	return nil
}

// prepareRows prepares the move of rows, of which each rank has as many as sizes says, to all of a part.
func (s *state) prepareRows(c *comm.Comm, rows comm.Array, sizes []int64) (*transfer.Transfer, error) {
	dims := make([]partition.Partition, len(rows.Shape))
	var err error
	for d, n := range rows.Shape {
		if d == 0 {
			dims[d], err = partition.NewExplicit(sizes)
		} else {
			dims[d], err = partition.NewBlock(n, 1)
		}
		if err != nil {
			return nil, err
		}
	}
	layout, err := partition.NewLayout(dims...)
	if err != nil {
		return nil, err
	}
	plan, err := transfer.New(transfer.Side{Layout: layout}, transfer.Side{Layout: s.layout}, s.typ.Size())
	if err != nil {
		return nil, err
	}
	return plan.Prepare(c, transfer.Memory{Addr: rows.Addr, Strides: cOrder(rows.Shape, s.typ.Size())}, s.memory(), 0)
}
