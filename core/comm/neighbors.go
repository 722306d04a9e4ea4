package comm

import (
	"fmt"
	"slices"
	"strconv"

	"dtl/core/backend"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// Neighbors are the edges of one rank in a graph of ranks. ProcNull is no edge, but has a part in what is exchanged, which
// stays as it is. Where several edges run from one rank to another, the first that it sends along is the first that the
// other receives from, and so on.
type Neighbors struct {
	Sources, Dests []int64
	Crosswise      bool  // edges come in pairs, as along the axes of a grid: what is sent backwards comes from ahead
	Serial         int64 // of the graph among those of the communicator
}

// check refuses edges to no rank, and an unlike number of them from this rank to itself.
func (c *Comm) checkNeighbors(n Neighbors) error {
	balance := 0
	for _, rank := range n.Sources {
		if err := c.checkNeighbor("source", rank); err != nil {
			return err
		}
		if rank == int64(c.rank) {
			balance++
		}
	}
	for _, rank := range n.Dests {
		if err := c.checkNeighbor("destination", rank); err != nil {
			return err
		}
		if rank == int64(c.rank) {
			balance--
		}
	}
	if balance != 0 {
		return status.New(status.InvalidArgument, "rank %d is among its own sources %v another number of times than among its destinations %v",
			c.rank, n.Sources, n.Dests)
	}
	if n.Crosswise && (len(n.Sources)%2 != 0 || !slices.Equal(n.Sources, n.Dests)) {
		return status.New(status.InvalidArgument, "sources %v and destinations %v are no pairs of a grid", n.Sources, n.Dests)
	}
	return nil
}

func (c *Comm) checkNeighbor(name string, rank int64) error {
	if rank == backend.ProcNull {
		return nil
	}
	return c.checkRank(name, rank)
}

// NeighborAllgather sends value along every edge, and puts in recv, edge by edge, what comes. Collective over all ranks,
// which pass the same type and number of elements (MPI_Neighbor_allgather).
func (c *Comm) NeighborAllgather(value Array, n Neighbors, recv memory.Span) error {
	const op = "neighbor_allgather"
	return c.inTurn(op, func() error {
		mine := c.checkNeighbors(n)
		if mine == nil {
			mine = errorOr(checkArray("value", &value), checkOutput(recv, value.Span, len(n.Sources)*value.Count))
		}
		short, err := c.start(n.signature(op, value.Span), mine, value.Span)
		if err != nil {
			return err
		}
		if short && c.size > 1 {
			c.takeEntries(n, recv, func(int) int { return 0 })
			return nil
		}
		return c.apart(value.Span, recv, func(send memory.Span) error {
			return c.alongEdges(n, slices.Repeat([]memory.Span{send}, len(n.Dests)), equalParts(recv, len(n.Sources)))
		})
	})
}

// NeighborAlltoall sends the next entry of value along each edge, and puts in recv, edge by edge, what comes. Collective
// over all ranks, whose entries have the same type and length (MPI_Neighbor_alltoall).
func (c *Comm) NeighborAlltoall(value Array, n Neighbors, recv memory.Span) error {
	const op = "neighbor_alltoall"
	return c.inTurn(op, func() error {
		mine := c.checkNeighbors(n)
		if mine == nil {
			mine = c.checkEntries(&value, n, recv)
		}
		short, err := c.startEntries(op, &value, n, mine)
		if err != nil {
			return err
		}
		if short && c.size > 1 {
			c.takeEntries(n, recv, func(at int) int { return at ^ 1 })
			return nil
		}
		return c.apart(value.Span, recv, func(send memory.Span) error {
			return c.alongEdges(n, equalParts(send, len(n.Dests)), equalParts(recv, len(n.Sources)))
		})
	})
}

// startEntries meets for a call that has an entry an edge, and reports whether every rank has those of all others now. In a
// grid every rank has as many; in a graph a source does not know which of the entries is whose.
func (c *Comm) startEntries(op string, value *Array, n Neighbors, mine error) (short bool, err error) {
	if n.Crosswise {
		return c.start(n.signature(op, value.Span), mine, value.Span)
	}
	return false, c.agree(n.describe(op, value), mine, Shared{}, nil)
}

// takeEntries copies to recv what the sources laid down in the meeting: of each the entry that comes along an edge.
func (c *Comm) takeEntries(n Neighbors, recv memory.Span, entry func(at int) int) {
	for at, part := range equalParts(recv, len(n.Sources)) {
		if source := n.Sources[at]; source != backend.ProcNull {
			memory.Copy(part, c.part(int(source), part.Type, entry(at)*part.Count, part.Count))
		}
	}
}

// signature is the part of a call that ranks agree on where all have as many elements.
func (n *Neighbors) signature(op string, send memory.Span) wire.Signature {
	return wire.Signature{Op: op, Operator: "topology " + strconv.FormatInt(n.Serial, 10), Type: send.Type, Count: send.Count}
}

func (c *Comm) checkEntries(value *Array, n Neighbors, recv memory.Span) error {
	if err := checkArray("values", value); err != nil {
		return err
	}
	if len(value.Shape) == 0 || value.Shape[0] != int64(len(n.Dests)) {
		return status.New(status.InvalidArgument, "values of shape %v must have one entry along the first dimension for each of %s",
			value.Shape, plural(len(n.Dests), "destination"))
	}
	return checkOutput(recv, value.Span, int(value.rowCount())*len(n.Sources))
}

// describe returns the part of a call on which all ranks must agree: here only the shape and the type of an entry.
func (n *Neighbors) describe(op string, value *Array) Call {
	call := value.describe(op, n.Serial)
	call.Text = func() string {
		_, row := value.rows()
		return fmt.Sprintf("entries of shape %v of %s, topology %d", row, value.Type, n.Serial)
	}
	return call
}

// equalParts divides a span in n parts.
func equalParts(s memory.Span, n int) []memory.Span {
	parts := make([]memory.Span, n)
	for i := range parts {
		length := s.Count / n
		parts[i] = s.Slice(i*length, (i+1)*length)
	}
	return parts
}

// alongEdges sends each part of send to its destination, and fills each part of recv from its source.
func (c *Comm) alongEdges(n Neighbors, send, recv []memory.Span) error {
	under := c.NewBundle()
	var own []memory.Span // what comes from this rank itself, in the order in which it is sent
	const lane = 0
	for at := range n.Sources {
		if n.Crosswise {
			at ^= 1 // the neighbour sends backwards first, and that comes from ahead
		}
		switch source := n.Sources[at]; source {
		case backend.ProcNull:
		case int64(c.rank):
			own = append(own, recv[at])
		default:
			under.Recv(recv[at], int(source), lane)
		}
	}
	for at, dest := range n.Dests {
		switch dest {
		case backend.ProcNull:
		case int64(c.rank):
			memory.Copy(own[0], send[at])
			own = own[1:]
		default:
			under.Send(send[at], int(dest), lane)
		}
	}
	return under.Wait()
}

// NeighborAlltoallv sends the next sendCounts[k] rows of value along the k-th edge, and puts what comes, edge by edge, one
// after the other. recvCounts is how many rows must come along each; nil takes what comes. Collective over all ranks,
// whose rows have the same type and shape (MPI_Neighbor_alltoallv).
func (c *Comm) NeighborAlltoallv(value Array, n Neighbors, sendCounts, recvCounts []int64, out *Array) (Result, error) {
	const op = "neighbor_alltoallv"
	mine := c.checkNeighbors(n)
	if mine == nil {
		mine = errorOr(checkRows(&value, out), checkEdgeCounts(&value, n, sendCounts, recvCounts))
	}
	if err := c.Agree(n.describe(op, &value), mine); err != nil {
		return Result{}, status.In(op, err)
	}
	got, err := c.countsAlongEdges(n, sendCounts)
	p := exchangeBuffers{}
	if err == nil && recvCounts != nil && !slices.Equal(recvCounts, got) {
		err = status.New(status.InvalidArgument, "recv_counts %v, but the neighbours send %v rows", recvCounts, got)
	}
	if err == nil && out != nil {
		err = checkOutput(out.Span, value.Span, int(sum(got)*value.rowCount()))
	}
	if err == nil {
		p, err = c.newExchangeBuffers(&value, sum(got), out)
	}
	if err := p.ready(c, op, checkRoomFrom, err); err != nil {
		return Result{}, err
	}
	defer p.end()
	row := value.rowCount()
	if err := c.alongEdges(n, splitRows(p.send, sendCounts, row), splitRows(p.Span, got, row)); err != nil {
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
	storage, err := memory.NewStorage(c.memory, 8*all, memory.Alignment)
	if err != nil {
		return nil, err
	}
	defer storage.Release()
	both := memory.Span{Addr: storage.Addr(), Count: all, Type: dtype.Int64}
	numbers := memory.As[int64](both)
	got := numbers[copy(numbers, send):]
	clear(got)
	err = c.alongEdges(n, equalParts(both.Slice(0, len(send)), len(send)), equalParts(both.Slice(len(send), all), len(got)))
	return slices.Clone(got), err
}

// Connect returns nil on every rank if for each edge that one of them has to another, that one has it, too; else an error on
// every rank. Collective (MPI_Dist_graph_create_adjacent).
func (c *Comm) Connect(n Neighbors) error {
	const op = "graph"
	var mine error
	for _, end := range []struct {
		name  string
		ranks []int64
	}{{"source", n.Sources}, {"destination", n.Dests}} {
		for _, rank := range end.ranks {
			mine = errorOr(mine, c.checkRank(end.name, rank))
		}
	}
	if err := c.Agree(Call{Op: op}, mine); err != nil {
		return status.In(op, err)
	}
	to, from := make([]int64, c.size), make([]int64, c.size)
	for _, rank := range n.Dests {
		to[rank]++
	}
	for _, rank := range n.Sources {
		from[rank]++
	}
	got, err := c.Counts(to)
	if err != nil {
		return status.In(op, err)
	}
	for rank, edges := range got {
		if edges != from[rank] {
			mine = status.New(status.InvalidArgument, "rank %d has %s to rank %d, which has it %s among its sources",
				rank, plural(int(edges), "edge"), c.rank, plural(int(from[rank]), "time"))
			break
		}
	}
	return status.In(op, c.shareError(op, mine))
}
