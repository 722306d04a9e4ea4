package container

import (
	"fmt"

	"dtl/core/comm"
	"dtl/core/partition"
	"dtl/core/status"
	"dtl/core/transfer"
)

// GatherTo writes all elements in C order to root's out, which is ignored elsewhere. Collective.
func GatherTo(from Container, out *comm.Array, root int64) error {
	return atRoot("gather_to", from, out, root, func(p Part, whole endpoint) (src, dst endpoint) { return p.endpoint(), whole })
}

// Distribute writes root's values, in C order, to a container; elsewhere they are ignored. Collective.
func Distribute(to Container, values *comm.Array, root int64) error {
	return atRoot(distributes, to, values, root, func(p Part, whole endpoint) (src, dst endpoint) { return whole, p.endpoint() })
}

// distributes is the operation of the two that writes the container.
const distributes = "from_numpy"

// endpoint is one end of a transfer, with this rank's memory.
type endpoint struct {
	transfer.Side
	transfer.Memory
}

func (s *state) endpoint() endpoint { return endpoint{transfer.Side{Layout: s.layout}, s.memory()} }

// atRoot moves everything between a container and an array on one rank.
func atRoot(op string, on Container, array *comm.Array, root int64, direct func(Part, endpoint) (src, dst endpoint)) error {
	c, err := on.Context().Comm()
	if err != nil {
		return status.In(op, err)
	}
	p, mine := inPlace(on)
	if mine == nil {
		defer p.Done()
		mine = checkRoot(p.state, array, root, c)
	}
	call := comm.Call{Op: op, Same: []int64{root}, Text: func() string { return fmt.Sprint("root ", root) }}
	if p.state != nil {
		call = p.Named(call)
	}
	return together(c, call, func() (*transfer.Transfer, error) {
		if mine != nil {
			return nil, mine
		}
		whole, err := p.on(int(root), c.Size())
		if err != nil {
			return nil, err
		}
		if array != nil && c.Rank() == int(root) {
			whole.Addr = array.Addr
		}
		src, dst := direct(p, whole)
		move, err := transfer.New(src.Side, dst.Side, p.typ.Size())
		if err != nil {
			return nil, err
		}
		return move.OnDevices(p.Placement() == OnDevice).Prepare(c, src.Memory, dst.Memory, 0)
	})
}

// on is the end that has everything on one rank, in C order; the address is missing.
func (s *state) on(root, ranks int) (endpoint, error) {
	shape := s.layout.Shape()
	dims := make([]partition.Partition, len(shape))
	for d, n := range shape {
		dims[d], _ = partition.NewBlock(n, 1) // the container has it
	}
	dims[0] = partition.On(root, ranks, shape[0])
	layout, err := partition.NewLayout(dims...)
	return endpoint{transfer.Side{Layout: layout}, transfer.Memory{Strides: cOrder(shape, s.typ.Size())}}, err
}

// checkRoot refuses a root outside the ranks, and an array there that is not what the container holds.
func checkRoot(s *state, array *comm.Array, root int64, c *comm.Comm) error {
	if root < 0 || root >= int64(c.Size()) {
		return status.New(status.OutOfBounds, "root %d outside [0, %d)", root, c.Size())
	}
	if c.Rank() != int(root) {
		return nil
	}
	if array == nil {
		return status.New(status.InvalidArgument, "root has no array")
	}
	if size := s.layout.GlobalSize(); array.Type != s.typ || int64(array.Count) != size {
		return status.New(status.InvalidArgument, "root's array has %d elements of %s where the container has %d of %s",
			array.Count, array.Type, size, s.typ)
	}
	return nil
}
