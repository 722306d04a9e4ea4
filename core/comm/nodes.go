package comm

import (
	"errors"
	"runtime"
	"sync/atomic"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/comm/agreement"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// A communicator whose ranks do not all share memory knows its nodes: the ranks of each share a board.

// node is the ranks of this rank's node in such a communicator.
type node struct {
	board    *board.Board // nil: this rank is alone
	place    []int32      // by rank: its number on the board; -1: it is on another node
	leaderOf []int32      // by rank: the first rank of its node
	leaders  []int        // the first rank of each node, in order
	even     bool         // each node has as many ranks
}

// BoardWith returns the board that this rank has in common with another, and the number of that one there; nil where there is
// none.
func (c *Comm) BoardWith(rank int) (b *board.Board, place int) {
	if c.board != nil {
		return c.board, rank
	}
	if c.node.board == nil || c.node.place[rank] < 0 {
		return nil, 0
	}
	return c.node.board, int(c.node.place[rank])
}

// ranksPerNode is how many ranks of the world pretend to be on a node of their own; 0: none does.
var ranksPerNode atomic.Int64

// PretendNodes has each so many ranks of communicators made from now on pretend to be on a node of their own, so that what
// several nodes do can be tried on one; 0 ends that. A communicator of the world counts, and those derived from it follow.
// All ranks say the same.
func PretendNodes(ranks int64) { ranksPerNode.Store(ranks) }

// pretendedNode returns the number of the node that a rank of the world pretends to be on; -1: of none.
func pretendedNode(rank int) int {
	if n := ranksPerNode.Load(); n > 0 {
		return rank / int(n)
	}
	return -1
}

// splitByNode returns the ranks of c that are on this rank's node. Collective.
func (c *Comm) splitByNode() (backend.ReducingCommunicator, error) {
	on, err := c.main.SplitByNode()
	if err != nil || c.pretended < 0 {
		return on, err
	}
	part, err := on.Split(c.pretended, on.Rank())
	return part, errors.Join(err, on.Close())
}

// findNodes returns where the ranks are that do not all share memory. goesOn is that of the link. Collective.
func (c *Comm) findNodes(goesOn bool) (agreement.Place, error) {
	on, err := c.splitByNode()
	if err != nil {
		return agreement.Place{}, err
	}
	b, leader, err := c.boardOfNode(on, goesOn)
	if err = errors.Join(err, on.Close()); err != nil {
		return agreement.Place{}, err
	}
	leaders := make([]int32, c.size)
	err = c.main.Allgather(memory.Of(dtype.Int32, []int32{leader}), memory.Of(dtype.Int32, leaders))
	return c.placeRanks(b, leaders), err
}

// boardOfNode returns a board of the ranks on this rank's node, and the rank of the first of them in c. Where there is no
// other, or not all of them can open one, each is alone, and the board nil. Collective among them.
func (c *Comm) boardOfNode(on backend.ReducingCommunicator, goesOn bool) (b *board.Board, leader int32, err error) {
	if on.Size() == 1 {
		return nil, int32(c.rank), nil
	}
	first := []int32{int32(c.rank)}
	if err = on.Broadcast(memory.Of(dtype.Int32, first), 0); err != nil {
		return nil, 0, err
	}
	for _, byPath := range []bool{false, true} {
		if b, err = openOnNode(on, byPath, agreement.BesideBytes(on.Size(), goesOn)); b != nil || err != nil {
			return b, first[0], err
		}
	}
	return nil, int32(c.rank), nil
}

// openOnNode opens a board for all ranks of a node, by a path or without, with so many bytes beside it; nil where not all can. Collective.
func openOnNode(on backend.ReducingCommunicator, byPath bool, beside int) (b *board.Board, err error) {
	var made *board.Segment
	name := make([]uint8, board.NameBytes)
	if on.Rank() == 0 {
		made, _ = board.CreateBeside(on.Size(), beside) // in vain where there is no room
		defer made.Close()
		if made != nil && (!byPath || made.Link() == nil) {
			copy(name, made.Name())
		}
	}
	if err = on.Broadcast(memory.Of(dtype.Uint8, name), 0); err != nil {
		return nil, err
	}
	b, _ = board.OpenBeside(string(name), on.Rank(), on.Size(), beside) // in vain on another machine
	opened, all := []uint8{truth(b != nil)}, []uint8{0}
	err = on.Allreduce(memory.Of(dtype.Uint8, opened), memory.Of(dtype.Uint8, all), kernel.Min)
	if b != nil && all[0] == 0 {
		_ = b.Close() // of no use alone
		b.Recycle()
		b = nil
	}
	return b, err
}

// placeRanks keeps who is on this rank's node, whose board is b, and returns where all are. leaders has the first rank of
// each rank's node.
func (c *Comm) placeRanks(b *board.Board, leaders []int32) agreement.Place {
	p := agreement.Place{Board: b, Slots: make([]int, c.size)}
	ofNode := make(map[int32]int) // how many ranks of a node have been seen
	for rank, leader := range leaders {
		if int(leader) == rank {
			p.Leaders = append(p.Leaders, rank)
		}
		p.Slots[rank] = ofNode[leader]
		ofNode[leader]++
	}
	c.node = node{board: b, place: make([]int32, c.size), leaderOf: leaders, leaders: p.Leaders, even: true}
	for _, leader := range p.Leaders {
		c.node.even = c.node.even && ofNode[int32(leader)]*len(p.Leaders) == c.size
	}
	for rank, leader := range leaders {
		if c.node.place[rank] = -1; leader == leaders[c.rank] {
			c.node.place[rank] = int32(p.Slots[rank])
		}
	}
	first := make(map[int32]int)
	for at, n := 0, 0; at < len(p.Leaders); at++ {
		leader := int32(p.Leaders[at])
		first[leader] = n
		n += ofNode[leader]
	}
	for rank, leader := range leaders {
		p.Slots[rank] += first[leader]
	}
	return p
}

// looksOnNode is how often a rank looks for another of its node before it lets others have the processor: it waits for
// other nodes, too, which takes longer than to look again, and the one that has to take their messages may be on this processor.
const looksOnNode = 8

// useNodes has the ranks of each node meet in the memory that they share, and the first of each by messages.
func (c *Comm) useNodes(link agreement.Link, p agreement.Place) (err error) {
	looks := looksOnNode
	if c.yield = board.Yield; c.oneProcess {
		looks, c.yield = 1, runtime.Gosched
	}
	if c.spins = spinsOversubscribed; p.Board != nil {
		p.Board.TryReading()
	}
	if c.amongNodes, err = agreement.NewNodes(link, p, looks, c.pause); err != nil {
		return err
	}
	c.meeter, c.turn.at = c.amongNodes, c.amongNodes.Fast().Turn()
	return nil
}
