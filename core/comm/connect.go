package comm

import "dtl/core/status"

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
	return status.In(op, c.settle(op, mine))
}
