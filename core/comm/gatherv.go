package comm

import (
	"slices"

	"dtl/core/memory"
	"dtl/core/status"
)

// Allgatherv puts every rank's rows, in rank order, one after the other, on every rank. Collective (MPI_Allgatherv).
func (c *Comm) Allgatherv(value Array, out *Array) (Result, error) {
	const op = "allgatherv"
	all := make([]Shared, c.Size())
	if err := c.AgreeSharing(value.describe(op, -1), checkOffer(&value, out), offer(&value, out), all); err != nil {
		return Result{}, err
	}
	counts, row := rowsOf(all), value.rowCount()
	total := sum(counts)
	if err := c.checkOuts(op, all, func(int) int64 { return total * row }); err != nil {
		return Result{}, err
	}
	p, err := c.newPassage(&value, total, out)
	if err := p.ready(c, op, total*row*int64(value.Type.Size()), err); err != nil {
		return Result{}, err
	}
	return c.pass(op, &p, slices.Repeat([]memory.Span{p.send}, c.Size()), cut(p.Span, counts, row))
}

// rowsOf returns how many rows each rank has.
func rowsOf(all []Shared) []int64 {
	counts := make([]int64, len(all))
	for rank, s := range all {
		counts[rank] = s[sharedRows]
	}
	return counts
}

// Gatherv is Allgatherv with the result on root alone. counts, on root, is how many rows each rank must send; nil takes
// what comes. Elsewhere counts and out are ignored. Collective (MPI_Gatherv).
func (c *Comm) Gatherv(value Array, counts []int64, out *Array, root int64) (Result, error) {
	const op = "gatherv"
	mine := c.checkRank("root", root)
	here := mine == nil && int(root) == c.Rank()
	if !here {
		counts, out = nil, nil
	}
	all, err := c.agreeToGather(op, &value, counts, out, root, mine)
	if err != nil {
		return Result{}, err
	}
	got, row := rowsOf(all), value.rowCount()
	total := sum(got)
	want := func(rank int) int64 { return total * row } // of root: no other has an output
	if err := c.checkOuts(op, all, want); err != nil {
		return Result{}, err
	}
	p := passage{send: value.Span}
	if here {
		p, err = c.newPassage(&value, total, out)
	}
	if err := p.ready(c, op, total*row*int64(value.Type.Size()), err); err != nil {
		return Result{}, err
	}
	send, recv := c.nothing(), c.nothing()
	send[root] = p.send
	if here {
		recv = cut(p.Span, got, row)
	}
	return c.pass(op, &p, send, recv)
}

// agreeToGather agrees on a gatherv, and returns what each rank shares. Collective.
func (c *Comm) agreeToGather(op string, value *Array, counts []int64, out *Array, root int64, mine error) ([]Shared, error) {
	share := offer(value, out)
	if counts != nil {
		share[sharedKnow] = 1
		for rank, n := range counts {
			share[sharedTies] += tie(rank, int(root), n)
		}
		if mine == nil {
			mine = c.checkLengths("recvcounts", counts)
		}
	}
	if mine == nil {
		mine = checkOffer(value, out)
	}
	all := make([]Shared, c.Size())
	if err := c.AgreeSharing(value.describe(op, root), mine, share, all); err != nil {
		return nil, err
	}
	got, ties := rowsOf(all), int64(0)
	for rank, n := range got {
		ties += tie(rank, int(root), n)
	}
	if told := all[root]; told[sharedKnow] == 0 || told[sharedTies] == ties {
		return all, nil
	}
	if counts != nil {
		mine = status.New(status.InvalidArgument, "recvcounts %v, but the ranks send %v rows", counts, got)
	}
	return all, c.settle(op, mine)
}
