package comm

import (
	"slices"

	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// NeighborAlltoallv sends the next sendCounts[k] rows of value along the k-th edge, and puts what comes, edge by edge, one
// after the other. recvCounts is how many rows must come along each; nil takes what comes. Collective over all ranks,
// whose rows have the same type and shape (MPI_Neighbor_alltoallv).
func (c *Comm) NeighborAlltoallv(value Array, n Neighbors, sendCounts, recvCounts []int64, out *Array) (Result, error) {
	const op = "neighbor_alltoallv"
	mine := c.checkNeighbors(n)
	if mine == nil {
		mine = errorOr(checkOffer(&value, out), checkEdgeCounts(&value, n, sendCounts, recvCounts))
	}
	if err := c.Agree(n.describe(op, &value), mine); err != nil {
		return Result{}, status.In(op, err)
	}
	got, err := c.countsAlongEdges(n, sendCounts)
	p := passage{}
	if err == nil && recvCounts != nil && !slices.Equal(recvCounts, got) {
		err = status.New(status.InvalidArgument, "recv_counts %v, but the neighbours send %v rows", recvCounts, got)
	}
	if err == nil && out != nil {
		err = checkOutput(out.Span, value.Span, int(sum(got)*value.rowCount()))
	}
	if err == nil {
		p, err = c.newPassage(&value, sum(got), out)
	}
	if err := p.ready(c, op, agreed, err); err != nil {
		return Result{}, err
	}
	defer p.end()
	row := value.rowCount()
	if err := c.alongEdges(n, cut(p.send, sendCounts, row), cut(p.Span, got, row)); err != nil {
		p.release()
		return Result{}, status.In(op, err)
	}
	return p.Result, nil
}

// checkEdgeCounts refuses counts that are not one an edge, negative, or not value's rows in all.
func checkEdgeCounts(value *Array, n Neighbors, sendCounts, recvCounts []int64) error {
	if err := checkEach("send_counts", sendCounts, len(n.Dests), "destinations"); err != nil {
		return err
	}
	if err := checkSum("send_counts", value, sendCounts); err != nil || recvCounts == nil {
		return err
	}
	return checkEach("recv_counts", recvCounts, len(n.Sources), "sources")
}

// countsAlongEdges sends a number along each edge, and returns what comes along each; 0 along none.
func (c *Comm) countsAlongEdges(n Neighbors, send []int64) ([]int64, error) {
	all := len(n.Dests) + len(n.Sources)
	storage, err := memory.NewStorage(c.memory, 8*all, alignment)
	if err != nil {
		return nil, err
	}
	defer storage.Release()
	both := memory.Span{Addr: storage.Addr(), Count: all, Type: dtype.Int64}
	numbers := memory.As[int64](both)
	got := numbers[copy(numbers, send):]
	clear(got)
	err = c.alongEdges(n, alike(both.Slice(0, len(send)), len(send)), alike(both.Slice(len(send), all), len(got)))
	return slices.Clone(got), err
}
