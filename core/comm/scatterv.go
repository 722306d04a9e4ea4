package comm

import (
	"fmt"

	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// Scatterv gives rank r the next counts[r] of root's rows. Elsewhere values and counts are ignored. Collective
// (MPI_Scatterv).
func (c *Comm) Scatterv(values *Array, counts []int64, out *Array, root int64) (Result, error) {
	const op = "scatterv"
	mine := c.checkRank("root", root)
	here := mine == nil && int(root) == c.Rank()
	if here {
		mine = c.checkScatterv(values, counts, out)
	}
	share := Shared{}
	if out != nil {
		share[sharedOut], share[sharedType] = int64(out.Count)+1, int64(out.Type)
	}
	all := make([]Shared, c.Size())
	call := Call{Op: op, Same: []int64{root}, Text: func() string { return fmt.Sprint("root ", root) }}
	if err := c.AgreeSharing(call, mine, share, all); err != nil {
		return Result{}, err
	}
	like, counts, err := c.tell(values, counts, root)
	if err != nil {
		return Result{}, status.In(op, err)
	}
	p, err := c.prepareScatterv(op, &like, counts, out, all)
	if err != nil {
		return Result{}, err
	}
	send, recv := c.nothing(), c.nothing()
	if here {
		send = cut(p.send, counts, like.rowCount())
	}
	recv[root] = p.Span
	return c.pass(op, &p, send, recv)
}

// prepareScatterv checks every rank's output, and makes room for the results. Collective.
func (c *Comm) prepareScatterv(op string, like *Array, counts []int64, out *Array, all []Shared) (p passage, err error) {
	row, mine, agreed := like.rowCount(), error(nil), true
	for rank, s := range all {
		has := s[sharedOut] - 1
		agreed = agreed && (has < 0 || has == counts[rank]*row && s[sharedType] == int64(like.Type))
	}
	if out != nil {
		mine = checkOutput(out.Span, like.Span, int(counts[c.Rank()]*row))
	}
	if !agreed {
		return p, c.settle(op, mine)
	}
	p, err = c.newPassage(like, counts[c.Rank()], out)
	return p, p.ready(c, op, sum(counts)*row*int64(like.Type.Size()), err)
}

// checkScatterv checks what root gave.
func (c *Comm) checkScatterv(values *Array, counts []int64, out *Array) error {
	if values == nil {
		return status.New(status.InvalidArgument, "root has no data to scatter")
	}
	if counts == nil {
		return status.New(status.InvalidArgument, "root has no sendcounts")
	}
	if err := checkOffer(values, out); err != nil {
		return err
	}
	return c.checkCounts("sendcounts", values, counts)
}

// tell broadcasts the type and shape of root's rows and the counts. Elsewhere the array has no elements. Collective.
func (c *Comm) tell(values *Array, counts []int64, root int64) (like Array, all []int64, err error) {
	n := c.Size()
	storage, err := memory.NewStorage(c.memory, 8*(2+wire.MaxDims+n), alignment)
	if err != nil {
		return like, nil, err
	}
	defer storage.Release()
	told := memory.Span{Addr: storage.Addr(), Count: 2 + wire.MaxDims + n, Type: dtype.Int64}
	numbers := memory.As[int64](told)
	if int(root) == c.Rank() {
		_, row := values.rows()
		numbers[0], numbers[1] = int64(values.Type), int64(len(row))
		copy(numbers[2:], row)
		copy(numbers[2+wire.MaxDims:], counts)
	}
	if err := c.main.Broadcast(told, int(root)); err != nil || int(root) == c.Rank() {
		if err != nil {
			return like, nil, err
		}
		return *values, counts, nil
	}
	like.Type = dtype.Type(numbers[0])
	like.Shape = append([]int64{0}, numbers[2:2+numbers[1]]...)
	return like, append([]int64{}, numbers[2+wire.MaxDims:]...), nil
}
