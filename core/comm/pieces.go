package comm

import (
	"errors"

	"dtl/core/backend"
	"dtl/core/comm/wire"
	"dtl/core/kernel"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
)

// A long allreduce of several nodes goes in pieces. Of each, every rank of a node combines a share of what the node has, the ranks
// of all nodes that have the same share combine that, and each node puts the shares together again. While a piece is between
// nodes, the ranks of each combine the next. Where nodes have different numbers of ranks, their first ranks have the whole.

const (
	// pieceBytes is about how long a piece is. What a node combines is in its caches then, and the messages between two ranks are
	// several, of which some libraries move one at a time in each direction only where there are.
	pieceBytes = 256 << 10
	// portionBytes is how long a message is at least, whatever the number of ranks: shorter ones take longer than their bytes.
	portionBytes = 32 << 10
	// behind is how many pieces are begun before the next step of one: its messages have time to come.
	behind = 4
	// piecesUnderWay is how many there are then, with two steps to come.
	piecesUnderWay = 2*behind + 1
	// mostNodesDirect is how many nodes send each other their portions directly; more leave that to the library.
	mostNodesDirect = 16
)

// pieces is a long allreduce.
type pieces struct {
	levels     *levels
	send, recv memory.Span
	op         kernel.Op
	sizes      pieceSizes
	slots      [piecesUnderWay]piece
}

// piece is one that is under way.
type piece struct {
	share  memory.Span // what this rank combines, a portion for each node
	others memory.Span // what the other nodes have of this rank's portion; as long
	under  []backend.Request
}

// pieceSizes says how a call divides its elements into pieces, which all have these sizes.
type pieceSizes struct {
	nodes   int
	sharing int // ranks of each node that have a share of a piece
	portion int // elements that each of them combines of all nodes'
}

func (s pieceSizes) share() int { return s.portion * s.nodes }

func (s pieceSizes) piece() int { return s.share() * s.sharing }

// sizesOf returns the sizes of pieces for such elements.
func (c *Comm) sizesOf(like memory.Span) pieceSizes {
	s := pieceSizes{nodes: len(c.node.leaders), sharing: 1}
	if c.node.even {
		s.sharing = c.size / s.nodes
	}
	portions := s.nodes * s.sharing
	s.portion = max(pieceBytes/portions, portionBytes) / like.Type.Size()
	s.portion = max(min(s.portion, like.Count/portions), 1)
	return s
}

// inPieces reports whether so many bytes are combined in pieces: not where there is one node, or each rank is on one of its own.
func (c *Comm) inPieces(bytes int) bool {
	return bytes >= twoLevelsFrom && len(c.node.leaders) > 1 && len(c.node.leaders) < c.size
}

// roomForPieces returns the memory that allreduceInPieces needs, if it is called; on ranks without a share it is empty.
func (c *Comm) roomForPieces(like memory.Span) (Result, error) {
	if !c.inPieces(like.Bytes()) || !c.node.even && !c.leads() {
		return Result{}, nil
	}
	count := int64(piecesUnderWay * 2 * c.sizesOf(like).share())
	return newResult(c.memory, wire.Header{Type: like.Type, Shape: []int64{count}})
}

// allreduceInPieces combines every rank's send in every rank's recv. room is what roomForPieces returned, which it keeps where it
// fails: messages may still come there. It is called within blocking. Collective.
func (c *Comm) allreduceInPieces(send, recv memory.Span, room *Result, op kernel.Op) error {
	l, err := c.byLevel()
	if err != nil {
		return err
	}
	p := &pieces{levels: l, send: send, recv: recv, op: op, sizes: c.sizesOf(send)}
	p.divide(room.Span)
	done := p.sizes.piece() * (send.Count / p.sizes.piece())
	err = p.run(done / p.sizes.piece())
	if err == nil && done < send.Count {
		err = c.main.Allreduce(send.Slice(done, send.Count), recv.Slice(done, send.Count), op)
	}
	if err != nil {
		*room = Result{}
	}
	return err
}

// divide gives each piece its memory.
func (p *pieces) divide(room memory.Span) {
	n := p.sizes.share()
	for i := range p.slots {
		if p.slots[i].share.Type = p.send.Type; room.Count > 0 {
			p.slots[i].share = room.Slice(2*i*n, (2*i+1)*n)
			p.slots[i].others = room.Slice((2*i+1)*n, (2*i+2)*n)
		}
	}
}

// run combines so many pieces.
func (p *pieces) run(count int) error {
	steps := []func(number int, s *piece) error{p.reduce, p.exchange, p.gather}
	for at := range count + piecesUnderWay - 1 {
		for i, step := range steps {
			if number := at - i*behind; number >= 0 && number < count {
				if err := step(number, &p.slots[number%piecesUnderWay]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// of returns a piece of elements.
func (p *pieces) of(all memory.Span, number int) memory.Span {
	return all.Slice(number*p.sizes.piece(), (number+1)*p.sizes.piece())
}

// portion returns the portion of a share, or of what others have, that is a node's.
func (p *pieces) portion(of memory.Span, node int) memory.Span {
	return of.Slice(node*p.sizes.portion, (node+1)*p.sizes.portion)
}

// reduce combines a piece of what this rank's node has, and begins to send each node its portions.
func (p *pieces) reduce(number int, s *piece) (err error) {
	on, from := p.levels.node, p.of(p.send, number)
	if p.sizes.sharing > 1 {
		err = on.ReduceScatter(from, s.share, p.op)
	} else {
		err = on.Reduce(from, s.share, p.op, 0)
	}
	if err != nil || !p.direct() {
		return err
	}
	own := p.levels.across.Rank()
	return p.begin(s, 2*number, func(node int) (send, recv memory.Span) { return p.portion(s.share, node), p.portion(s.others, node) }, own)
}

// exchange combines this rank's portion of all nodes, and begins to send it to each of them.
func (p *pieces) exchange(number int, s *piece) error {
	if p.levels.across == nil {
		return nil
	}
	if !p.direct() {
		err := p.levels.across.Allreduce(s.share, s.others, p.op)
		s.share, s.others = s.others, s.share
		return err
	}
	if err := s.wait(); err != nil {
		return err
	}
	own := p.levels.across.Rank()
	mine := p.portion(s.share, own)
	for node := range p.sizes.nodes {
		if node != own {
			if err := reduce.Accumulate(mine, p.portion(s.others, node), p.op); err != nil {
				return err
			}
		}
	}
	return p.begin(s, 2*number+1, func(node int) (send, recv memory.Span) { return mine, p.portion(s.share, node) }, own)
}

// gather puts the shares of a piece together.
func (p *pieces) gather(number int, s *piece) error {
	if err := s.wait(); err != nil {
		return err
	}
	on, to := p.levels.node, p.of(p.recv, number)
	if p.sizes.sharing > 1 {
		return on.Allgather(s.share, to)
	}
	if p.levels.across != nil {
		memory.Copy(to, s.share)
	}
	return on.Broadcast(to.Raw(), 0)
}

// direct reports whether this rank sends each node its portion itself.
func (p *pieces) direct() bool { return p.levels.across != nil && p.sizes.nodes <= mostNodesDirect }

// tagsOfPieces is how many tags tell the messages of a piece from those of others that are under way.
const tagsOfPieces = 2 * piecesUnderWay

// begin starts messages to and from each other node.
func (p *pieces) begin(s *piece, step int, of func(node int) (send, recv memory.Span), own int) error {
	on, tag := p.levels.across, step%tagsOfPieces
	for i := 1; i < p.sizes.nodes; i++ {
		to, from := (own+i)%p.sizes.nodes, (own+p.sizes.nodes-i)%p.sizes.nodes
		_, recv := of(from)
		send, _ := of(to)
		received, err := on.Irecv(recv.Raw(), from, tag)
		if err != nil {
			return err
		}
		s.under = append(s.under, received)
		sent, err := on.Isend(send.Raw(), to, tag)
		if err != nil {
			return err
		}
		s.under = append(s.under, sent)
	}
	return nil
}

// wait waits for the messages that are under way.
func (s *piece) wait() error {
	var failed error
	for _, r := range s.under {
		_, err := r.Wait()
		failed = errors.Join(failed, err)
	}
	s.under = s.under[:0]
	return failed
}
