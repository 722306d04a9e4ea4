package numpybridge

import (
	"fmt"

	"dtl/core/comm"
	"dtl/core/status"
	"dtl/core/topology"
)

// grid reads a grid of a communicator's ranks: its dims, and whether each axis has a period.
func (c *Call) grid(on *comm.Comm) (*topology.Cart, error) {
	numbers, err := c.integers()
	if err != nil {
		return nil, err
	}
	n := len(numbers) / 2
	if len(numbers)%2 != 0 {
		return nil, status.New(status.InvalidArgument, "dims and periods of %d numbers together", len(numbers))
	}
	periods := make([]bool, n)
	for axis := range periods {
		periods[axis] = numbers[n+axis] != 0
	}
	return topology.NewCart(on.Size(), numbers[:n], periods)
}

// cart returns the dims of a grid, with those that were 0 filled, after all ranks have passed the same. Every rank says in
// its first argument whether it wants the ranks in another order.
func cart(c *Call) error {
	return c.on(func(on *comm.Comm) error {
		numbers, mine := c.integers()
		var g *topology.Cart
		if mine == nil {
			g, mine = c.grid(on)
		}
		half := len(numbers) / 2
		call := comm.Call{Op: "cart", Same: append([]int64{int64(half), c.Args[0]}, numbers...), Text: func() string {
			return gridText(numbers[:half], numbers[half:], c.Args[0] != 0)
		}}
		if err := on.Agree(call, mine); err != nil {
			return err
		}
		return c.answer([]int64{int64(len(g.Dims))}, g.Dims...)
	})
}

// The questions about a grid, in the first argument of cartAt.
const (
	askCoords  = iota // of a rank, the second argument
	askRank           // at the coordinates of the first list
	askShift          // of a rank, along an axis, by a displacement
	askNear           // the neighbours of a rank
	askReorder        // the rank in the grid of each rank, whose nodes are the first list
)

// cartAt answers one of the questions about a grid. Local.
func cartAt(c *Call) error {
	return c.on(func(on *comm.Comm) error {
		g, err := c.grid(on)
		if err != nil {
			return err
		}
		var numbers []int64
		switch c.Args[0] {
		case askCoords:
			numbers, err = g.Coords(c.Args[1])
		case askRank:
			rank, err := g.Rank(c.Lists[0])
			if err != nil {
				return err
			}
			return c.answer(nil, rank)
		case askShift:
			numbers = make([]int64, 2)
			numbers[0], numbers[1], err = g.Shift(c.Args[1], c.Args[2], c.Args[3])
		case askNear:
			numbers, err = g.Neighbors(c.Args[1])
		case askReorder:
			numbers, err = reordered(g, c.Lists[0])
		default:
			err = status.New(status.Internal, "no question about a grid has the number %d", c.Args[0])
		}
		if err != nil {
			return err
		}
		return c.answer([]int64{int64(len(numbers))}, numbers...)
	})
}

func reordered(g *topology.Cart, nodes []int64) ([]int64, error) {
	if int64(len(nodes)) != g.Size() {
		return nil, status.New(status.InvalidArgument, "nodes of %d ranks for a grid of %d", len(nodes), g.Size())
	}
	numbers := make([]int, len(nodes))
	for rank, node := range nodes {
		numbers[rank] = int(node)
	}
	return topology.Reorder(g.Dims, numbers), nil
}

// neighbors reads the first list: how many sources there are, the sources, and the destinations. The first argument says
// whether the edges are those of a grid, the second which topology of the communicator they belong to.
func (c *Call) neighbors() (comm.Neighbors, error) {
	l := c.Lists[0]
	if len(l) == 0 || l[0] < 0 || l[0] > int64(len(l)-1) {
		return comm.Neighbors{}, status.New(status.InvalidArgument, "%v is no list of neighbours", l)
	}
	return comm.Neighbors{Sources: l[1 : 1+l[0]], Dests: l[1+l[0]:], Crosswise: c.Args[0] != 0, Serial: c.Args[1]}, nil
}

// among calls f with the communicator and the neighbours.
func (c *Call) among(f func(*comm.Comm, comm.Neighbors) error) error {
	return c.on(func(on *comm.Comm) error {
		n, err := c.neighbors()
		if err != nil {
			return err
		}
		return f(on, n)
	})
}

func graph(c *Call) error { return c.among((*comm.Comm).Connect) }

func nearGather(c *Call) error {
	return c.among(func(on *comm.Comm, n comm.Neighbors) error { return on.NeighborAllgather(c.In, n, c.Out.Span) })
}

func nearAll(c *Call) error {
	return c.among(func(on *comm.Comm, n comm.Neighbors) error { return on.NeighborAlltoall(c.In, n, c.Out.Span) })
}

// nearAllv has the counts in its second list: of each destination, and, if the third argument says so, of each source.
func nearAllv(c *Call) error {
	return c.among(func(on *comm.Comm, n comm.Neighbors) (err error) {
		sent, expected := c.Lists[1], []int64(nil)
		if c.Args[2] != 0 {
			k := min(len(n.Dests), len(sent))
			sent, expected = sent[:k], sent[k:]
		}
		c.Result, err = on.NeighborAlltoallv(c.In, n, sent, expected, c.out())
		return err
	})
}

// gridText is what a call passes, for the error of ranks that do not pass the same.
func gridText(dims, periods []int64, reorder bool) string {
	text := fmt.Sprintf("dims %v, periods %v", dims, periods)
	if reorder {
		text += ", reordered"
	}
	return text
}
