package comm

import (
	"errors"
	"slices"

	"dtl/core/backend"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// Long elements go in two levels where ranks are on several nodes: from leader to leader, and on each node through its
// memory. Libraries do that for short elements, and some of them not for long ones.

// levels are the communicators for that.
type levels struct {
	node backend.ReducingCommunicator // of this rank's node
	// across is of the ranks with this one's place on each node, so that of a leader is of all leaders; nil: nodes have different
	// numbers of ranks, and this one does not lead.
	across backend.ReducingCommunicator
}

// twoLevelsFrom is from how many bytes on they go in two levels: below, one operation of the library is as fast as two.
const twoLevelsFrom = 1 << 20

// inTwoLevels reports whether so many bytes go in two levels: not where each rank is on a node of its own, or where the library
// does that by itself.
func (c *Comm) inTwoLevels(bytes int) bool {
	f, ok := c.main.(backend.Flat)
	return ok && f.Flat() && c.inPieces(bytes)
}

// byLevel returns the communicators, which are made at their first use. Collective.
func (c *Comm) byLevel() (*levels, error) {
	if c.levels != nil {
		return c.levels, nil
	}
	var l levels
	err := c.blocking(func() (err error) {
		if l.node, err = c.main.Split(c.nodeOf(c.rank), c.rank); err != nil {
			return err
		}
		color := int(c.node.place[c.rank])
		if color > 0 && !c.node.even {
			color = Undefined
		}
		l.across, err = c.main.Split(color, c.nodeOf(c.rank))
		return err
	})
	if err != nil {
		return nil, err
	}
	c.levels = &l
	return c.levels, nil
}

// leader returns the first rank of a rank's node.
func (c *Comm) leader(rank int) int { return int(c.node.leaderOf[rank]) }

// leads reports whether this rank is the first of its node.
func (c *Comm) leads() bool { return c.leader(c.rank) == c.rank }

// nodeOf returns the number of a rank's node.
func (c *Comm) nodeOf(rank int) int {
	n, _ := slices.BinarySearch(c.node.leaders, c.leader(rank))
	return n
}

// close frees the communicators. Collective.
func (l *levels) close() error {
	if l == nil {
		return nil
	}
	err := l.node.Close()
	if l.across != nil {
		err = errors.Join(err, l.across.Close())
	}
	return err
}

// broadcastApart gives every rank root's elements, of which all ranks know how many there are: to is where they are on root,
// and go elsewhere. Collective.
func (c *Comm) broadcastApart(to *Result, root int) error {
	if !c.inTwoLevels(to.Bytes()) {
		return c.blocking(func() error { return c.main.Broadcast(to.Raw(), root) })
	}
	l, err := c.byLevel()
	if err != nil {
		return err
	}
	ofRoot := c.leader(c.rank) == c.leader(root)
	if ofRoot { // whose leader has to have them
		if err = c.broadcastOnNode(to, root); err != nil {
			return err
		}
	}
	if c.leads() {
		if err = c.blocking(func() error { return l.across.Broadcast(to.Raw(), c.nodeOf(root)) }); err != nil {
			return err
		}
	}
	if ofRoot {
		return nil
	}
	return c.broadcastOnNode(to, c.leader(c.rank))
}

// broadcastOnNode gives every rank of this rank's node the elements of one of them: each copies them from there, where all
// can. Collective among them.
func (c *Comm) broadcastOnNode(to *Result, from int) error {
	l, here := c.levels, from == c.rank
	place := int(c.node.place[from])
	var offers *broadcastOffers
	told := make([]uint8, l.node.Size()) // one more than the number of each rank's offer; 0: there is none
	if here {
		if offers = c.offerOn(c.node.board, to.Span); offers != nil {
			for i, number := range offers.numbers {
				told[i] = number + 1
			}
		}
	}
	err := c.blocking(func() error { return l.node.Broadcast(memory.Of(dtype.Uint8, told), place) })
	switch {
	case err != nil:
		offers.revoke()
		return err
	case offers != nil:
		return offers.end("broadcast")
	case here || told[l.node.Rank()] == 0:
		return c.blocking(func() error { return l.node.Broadcast(to.Raw(), place) })
	}
	h := wire.Header{Number: uint32(told[l.node.Rank()] - 1)}
	return c.collectOffer(to, from, h, awaited{peer: int64(from), call: func() string { return "broadcast" }})
}

// droppedFrom is from how many bytes on a reduction of ranks that share memory is an allreduce, whose outcome all but root drop,
// where the library does that sooner.
const droppedFrom = 256 << 10

// asAllreduce reports whether so many bytes are combined in root's memory that way.
func (c *Comm) asAllreduce(bytes int) bool {
	s, ok := c.main.(backend.SlowToReduce)
	return ok && s.SlowToReduce() && (c.inPieces(bytes) || c.board != nil && bytes >= droppedFrom)
}

// roomToReduce is the memory that a rank needs for a long reduction besides its elements.
type roomToReduce struct {
	part   Result // of two levels: what is combined of a leader's node; as an allreduce: what others than root drop
	pieces Result // see roomForPieces
}

func (r *roomToReduce) release() {
	r.part.release()
	r.pieces.release()
}

// roomToReduce returns it for as many elements. here is whether this rank is root.
func (c *Comm) roomToReduce(like memory.Span, here bool) (r roomToReduce, err error) {
	dropped := c.asAllreduce(like.Bytes())
	if dropped {
		r.pieces, err = c.roomForPieces(like)
	}
	if err == nil && (dropped && !here || c.inTwoLevels(like.Bytes()) && c.leads()) {
		r.part, err = newResult(c.memory, wire.Header{Type: like.Type, Shape: []int64{int64(like.Count)}})
	}
	if err != nil {
		r.release()
	}
	return r, err
}

// allreduceApart combines every rank's send in every rank's recv. room is what roomForPieces returned. It is called within
// blocking. Collective.
func (c *Comm) allreduceApart(send, recv memory.Span, room *Result, op kernel.Op) error {
	if !c.inPieces(send.Bytes()) {
		return c.main.Allreduce(send, recv, op)
	}
	return c.allreduceInPieces(send, recv, room, op)
}

// reduceApart combines every rank's send in root's recv. room is what roomToReduce returned. It is called within blocking. Where
// root is not its node's leader, all goes in one level. Collective.
func (c *Comm) reduceApart(send, recv memory.Span, room *roomToReduce, op kernel.Op, root int) error {
	if c.asAllreduce(send.Bytes()) {
		if c.rank != root {
			recv = room.part.Span
		}
		return c.allreduceApart(send, recv, &room.pieces, op)
	}
	if !c.inTwoLevels(send.Bytes()) || c.leader(root) != root {
		return c.main.Reduce(send, recv, op, root)
	}
	l, err := c.byLevel()
	if err != nil {
		return err
	}
	part := room.part.Span
	part.Type = send.Type
	if err = l.node.Reduce(send, part, op, 0); err != nil || !c.leads() {
		return err
	}
	return l.across.Reduce(part, recv, op, c.nodeOf(root))
}
