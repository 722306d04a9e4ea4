package comm

import (
	"slices"

	"dtl/core/memory"
	"dtl/core/status"
)

// Alltoall sends the r-th entry of value along its first dimension, which has one a rank, to rank r, and puts in recv what
// comes, in rank order. recv may be the value's own memory. Every rank passes the same type and shape. Collective
// (MPI_Alltoall).
func (c *Comm) Alltoall(value Array, recv memory.Span) error {
	return c.inTurn("alltoall", func() error { return c.alltoall(value.Span, recv, c.checkAlltoall(&value, recv)) })
}

func (c *Comm) checkAlltoall(value *Array, recv memory.Span) error {
	if err := checkArray("values", value); err != nil {
		return err
	}
	if len(value.Shape) == 0 || value.Shape[0] != int64(c.Size()) {
		return status.New(status.InvalidArgument, "values of shape %v must have one entry along the first dimension for each of %d ranks",
			value.Shape, c.Size())
	}
	return checkOutput(recv, value.Span, value.Count)
}

// Alltoallv sends each rank r the next sendCounts[r] rows of value, and puts what comes, in rank order, one after the
// other. recvCounts is how many rows must come from each; nil takes what comes. Collective (MPI_Alltoallv).
//
// Where every rank passes recvCounts, one agreement shows whether they are right; else the ranks tell each other.
func (c *Comm) Alltoallv(value Array, sendCounts, recvCounts []int64, out *Array) (Result, error) {
	const op = "alltoallv"
	share := offer(&value, out)
	share[sharedKnow], share[sharedTies] = c.ties(sendCounts, recvCounts)
	mine := checkOffer(&value, out)
	if mine == nil {
		mine = c.checkAlltoallv(&value, sendCounts, recvCounts, out)
	}
	p := passage{}
	if mine == nil && recvCounts != nil {
		p, mine = c.newPassage(&value, sum(recvCounts), out)
	}
	all := make([]Shared, c.Size())
	if err := c.AgreeSharing(value.describe(op, -1), mine, share, all); err != nil {
		p.release()
		p.end()
		return Result{}, err
	}
	if !tied(all) {
		var err error
		if recvCounts, err = c.learnCounts(op, &p, &value, sendCounts, recvCounts, out, all); err != nil {
			return Result{}, err
		}
	}
	row := value.rowCount()
	return c.pass(op, &p, cut(p.send, sendCounts, row), cut(p.Span, recvCounts, row))
}

// checkAlltoallv checks one rank's counts, and its output where they say how long it must be.
func (c *Comm) checkAlltoallv(value *Array, sendCounts, recvCounts []int64, out *Array) error {
	if err := c.checkTrade(value, sendCounts, recvCounts); err != nil || recvCounts == nil || out == nil {
		return err
	}
	return checkOutput(out.Span, value.Span, int(sum(recvCounts)*value.rowCount()))
}

// checkTrade checks one rank's counts of an exchange of rows.
func (c *Comm) checkTrade(value *Array, sendCounts, recvCounts []int64) error {
	if sendCounts == nil {
		return status.New(status.InvalidArgument, "there are no send_counts")
	}
	if err := c.checkCounts("send_counts", value, sendCounts); err != nil || recvCounts == nil {
		return err
	}
	return c.checkLengths("recv_counts", recvCounts)
}

// ties returns whether this rank says what must come, and the sum of what it sends less the sum of what it expects: over
// all ranks that is zero where each sends what is expected, and else, in all likelihood, is not.
func (c *Comm) ties(sendCounts, recvCounts []int64) (know, ties int64) {
	if recvCounts == nil {
		return 0, 0
	}
	for rank, n := range sendCounts {
		ties += tie(c.Rank(), rank, n)
	}
	for rank, n := range recvCounts {
		ties -= tie(rank, c.Rank(), n)
	}
	return 1, ties
}

// tied reports whether every rank knows what comes, and is right.
func tied(all []Shared) bool {
	ties := int64(0)
	for _, s := range all {
		if s[sharedKnow] == 0 {
			return false
		}
		ties += s[sharedTies]
	}
	return ties == 0
}

// learnCounts has the ranks tell each other what they send, and makes room for it where recvCounts did not say. Collective.
func (c *Comm) learnCounts(op string, p *passage, value *Array, sendCounts, recvCounts []int64, out *Array, all []Shared) ([]int64, error) {
	got, err := c.Counts(sendCounts)
	switch {
	case err != nil:
	case recvCounts == nil:
		if out != nil {
			err = checkOutput(out.Span, value.Span, int(sum(got)*value.rowCount()))
		}
		if err == nil {
			*p, err = c.newPassage(value, sum(got), out)
		}
	case !slices.Equal(recvCounts, got):
		err = status.New(status.InvalidArgument, "recv_counts %v, but the ranks send %v rows", recvCounts, got)
	}
	bytes := sum(rowsOf(all)) * value.rowCount() * int64(value.Type.Size())
	if slices.ContainsFunc(all, func(s Shared) bool { return s[sharedKnow] != 0 || s[sharedOut] != 0 }) {
		bytes = agreed // what a rank stated may be wrong
	}
	return got, p.ready(c, op, bytes, err)
}
