package comm

import (
	"unsafe"

	"dtl/core/backend"
	"dtl/core/comm/agreement"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
	"dtl/core/status"
)

// Allreduce combines every rank's send elementwise in every rank's recv. recv may be send. Collective.
func (c *Comm) Allreduce(send, recv memory.Span, op kernel.Op) error {
	return c.inTurn("allreduce", func() error { return c.allreduce(send, recv, op) })
}

func (c *Comm) allreduce(send, recv memory.Span, op kernel.Op) error {
	f := wire.Signature{Op: "allreduce", Operator: op.String(), Type: send.Type, Count: send.Count}
	mine := checkReduction(send, recv, op)
	var room Result
	if mine == nil {
		room, mine = c.roomForPieces(send)
	}
	defer func() { room.release() }()
	if c.inSlices(send) {
		return c.allreduceInSlices(f, mine, send, recv, op)
	}
	if c.inExtensionPieces(send, mostReducedInPieces) {
		return c.allreduceThroughExtension(f, mine, send, recv, op)
	}
	short, err := c.startWith(f, mine, toCombine(send, op))
	if err != nil {
		return err
	}
	if short {
		return c.outcome(recv, op, 0)
	}
	if err = c.getExtensionForPieces(send, mostReducedInPieces); err != nil {
		return err
	}
	return c.apart(send, recv, func(send memory.Span) error { return c.allreduceApart(send, recv, &room, op) })
}

// Reduce combines every rank's send elementwise in root's recv, which is ignored elsewhere. Collective.
func (c *Comm) Reduce(send, recv memory.Span, op kernel.Op, root int64) error {
	return c.inTurn("reduce", func() error { return c.reduce(send, recv, op, root) })
}

func (c *Comm) reduce(send, recv memory.Span, op kernel.Op, root int64) error {
	mine := c.checkRank("root", root)
	here := int(root) == c.rank
	if mine == nil && here {
		mine = checkReduction(send, recv, op)
	} else if mine == nil {
		mine = checkElements(send, op)
	}
	var room roomToReduce
	if mine == nil {
		room, mine = c.roomToReduce(send, here)
	}
	defer room.release()
	f := wire.Signature{Op: "reduce", Operator: op.String(), Type: send.Type, Count: send.Count, Root: wire.Rooted(root)}
	short, err := c.startTo(int(root), f, mine, toCombine(send, op))
	if err != nil || short && !here {
		return err
	}
	if short {
		return c.outcome(recv, op, 0)
	}
	if !here {
		recv = memory.Span{Type: send.Type}
		return c.blocking(func() error { return c.reduceApart(send, recv, &room, op, int(root)) })
	}
	return c.apart(send, recv, func(send memory.Span) error { return c.reduceApart(send, recv, &room, op, int(root)) })
}

// toCombine returns the elements that a rank brings to a meeting where all ranks' elements are combined.
func toCombine(send memory.Span, op kernel.Op) agreement.Elements {
	return agreement.Elements{Span: send, Way: agreement.Combined, Op: op, InExtension: true}
}

// outcome puts in recv what is combined of all ranks, from an element on.
func (c *Comm) outcome(recv memory.Span, op kernel.Op, from int) error {
	if c.size > 1 {
		if at := c.meeter.Combination(); at != nil {
			memory.Copy(recv, memory.Span{Addr: unsafe.Add(at, from*recv.Type.Size()), Count: recv.Count, Type: recv.Type})
			return nil
		}
	}
	return c.fold(recv, op, from, c.size)
}

// fold combines in recv what the first n ranks laid down, from an element on, in rank order, so that all ranks get the
// same bits.
func (c *Comm) fold(recv memory.Span, op kernel.Op, from, n int) error {
	if err := c.foldRanks(recv, op, from, 0, n); err != nil || n > 1 {
		return err
	}
	return reduce.Settle(recv, op)
}

// foldRanks is fold of n ranks from first on, with what one of them laid down as it is.
func (c *Comm) foldRanks(recv memory.Span, op kernel.Op, from, first, n int) error {
	memory.Copy(recv, c.part(first, recv.Type, from, recv.Count))
	for rank := first + 1; rank < first+n; rank++ {
		if err := reduce.Accumulate(recv, c.part(rank, recv.Type, from, recv.Count), op); err != nil {
			return err
		}
	}
	return nil
}

func checkElements(send memory.Span, op kernel.Op) error {
	if err := checkType("value", send); err != nil {
		return err
	}
	return op.Check(send.Type)
}

func checkReduction(send, recv memory.Span, op kernel.Op) error {
	if err := checkElements(send, op); err != nil {
		return err
	}
	return checkOutput(recv, send, send.Count)
}

// Iallreduce starts what Allreduce does. Collective.
func (c *Comm) Iallreduce(send, recv memory.Span, op kernel.Op) (*Request, error) {
	f := wire.Signature{Op: "iallreduce", Operator: op.String(), Type: send.Type, Count: send.Count}
	mine := checkReduction(send, recv, op)
	var duplicate *memory.Storage
	if mine == nil {
		send, duplicate, mine = c.withoutOverlap(send, recv)
	}
	return c.startCollectiveWith(f, duplicate, mine, func(a backend.AsyncCommunicator) (backend.Request, error) {
		return a.Iallreduce(send, recv, op)
	})
}

// AllreduceLoc is Allreduce by MINLOC or MAXLOC: best, which may be value, gets the least or greatest of every rank's
// value, elementwise, and the result the ranks that have it, as int64 of value's shape. Of several it is the lowest. NaN
// goes before every number, and the zeros are equal; best gets the very bits of the rank that the result names. Collective.
func (c *Comm) AllreduceLoc(value *Array, best memory.Span, op kernel.Op) (Result, error) {
	return c.locate(&locReduction{name: "allreduce", op: op, value: value, best: best, all: true})
}

// ReduceLoc is AllreduceLoc with best and the result on root only. Collective.
func (c *Comm) ReduceLoc(value *Array, best memory.Span, op kernel.Op, root int64) (Result, error) {
	return c.locate(&locReduction{name: "reduce", op: op, value: value, best: best, root: root})
}

// locReduction is one call of AllreduceLoc or ReduceLoc.
type locReduction struct {
	name  string
	op    kernel.Op
	value *Array
	best  memory.Span
	all   bool
	root  int64

	extreme  kernel.Op   // what finds them
	here     bool        // the outcome is wanted on this rank
	extremes memory.Span // in best, or in found where that cannot be
	found    Result
	mine     Result // this rank, where it has an extreme
	ranks    Result
}

// locate reduces twice: to the extremes, and to the lowest of the ranks that find theirs among them. So it needs no
// operator on pairs, which would be one for each type.
func (c *Comm) locate(s *locReduction) (r Result, err error) {
	err = c.inTurn(s.name, func() (err error) {
		r, err = c.locateNow(s)
		return err
	})
	return r, err
}

func (c *Comm) locateNow(s *locReduction) (Result, error) {
	wrong := c.prepare(s)
	defer s.found.release()
	defer s.mine.release()
	f := wire.Signature{Op: s.name, Operator: s.op.String(), Type: s.value.Type, Count: s.value.Count}
	if !s.all {
		f.Root = wire.Rooted(s.root)
	}
	short, err := c.startWith(f, wrong, agreement.Elements{Span: s.value.Span})
	if err == nil && short {
		err = c.locateAmongLaid(s)
	} else if err == nil {
		err = c.reduceTwice(s)
	}
	if err == nil && s.here && s.found.Storage != nil {
		memory.Copy(s.best, s.extremes)
	}
	if err != nil || !s.here {
		s.ranks.release()
		return Result{}, err
	}
	return s.ranks, nil
}

// prepare checks the arguments and makes room.
func (c *Comm) prepare(s *locReduction) (err error) {
	var located bool
	if s.extreme, located = s.op.Located(); !located {
		return status.New(status.InvalidArgument, "%s gives no ranks", s.op)
	}
	if !s.all {
		if err := c.checkRank("root", s.root); err != nil {
			return err
		}
	}
	s.here = s.all || int(s.root) == c.rank
	if err := checkElements(s.value.Span, s.extreme); err != nil {
		return err
	}
	s.extremes = s.best
	if s.here {
		if err := checkOutput(s.best, s.value.Span, s.value.Count); err != nil {
			return err
		}
	}
	if s.here || s.value.Type.Inexact() { // then all may have to know the ranks: see takeOwn
		if s.ranks, err = newResult(c.memory, wire.Header{Kind: s.value.Kind, Type: dtype.Int64, Shape: s.value.Shape}); err != nil {
			return err
		}
	}
	count := []int64{int64(s.value.Count)}
	if !s.here || overlap(s.best, s.value.Span) {
		if s.found, err = newResult(c.memory, wire.Header{Type: s.value.Type, Shape: count}); err != nil {
			return err
		}
		s.extremes = s.found.Span
	}
	s.mine, err = newResult(c.memory, wire.Header{Type: dtype.Int64, Shape: count})
	return err
}

// reduceTwice searches where the values are too many for the board.
func (c *Comm) reduceTwice(s *locReduction) error {
	return c.blocking(func() error { return c.reducedTwice(s) })
}

func (c *Comm) reducedTwice(s *locReduction) error {
	if err := c.main.Allreduce(s.value.Span, s.extremes, s.extreme); err != nil {
		return err
	}
	err := reduce.Locate(s.mine.Span, s.value.Span, s.extremes, int64(c.rank), int64(c.size))
	if err != nil {
		return err
	}
	ranks := s.ranks.Span
	ranks.Type = dtype.Int64 // also where there are none
	if reduce.Ambiguous(s.extremes) {
		return c.takeOwn(s)
	}
	if s.all {
		return c.main.Allreduce(s.mine.Span, ranks, kernel.Min)
	}
	return c.main.Reduce(s.mine.Span, ranks, kernel.Min, int(s.root))
}

// takeOwn has all ranks know the ranks that are found, and each of those tell its own bits. Whether it is called depends on the
// extremes alone, which all ranks have.
func (c *Comm) takeOwn(s *locReduction) error {
	if err := c.main.Allreduce(s.mine.Span, s.ranks.Span, kernel.Min); err != nil {
		return err
	}
	own := s.mine.Span
	own.Type = s.value.Type
	reduce.Own(own, s.value.Span, s.ranks.Span, int64(c.rank))
	return c.main.Allreduce(reduce.Bits(own), reduce.Bits(s.extremes), kernel.BOr)
}

// locateAmongLaid searches among the values that every rank has laid down.
func (c *Comm) locateAmongLaid(s *locReduction) error {
	if !s.here {
		return nil
	}
	err := c.fold(s.extremes, s.extreme, 0, c.size)
	for rank := 0; rank < c.size && err == nil; rank++ {
		values := c.part(rank, s.value.Type, 0, s.value.Count)
		if err = reduce.Locate(s.mine.Span, values, s.extremes, int64(rank), int64(c.size)); err != nil {
			break
		}
		if rank == 0 {
			memory.Copy(s.ranks.Span, s.mine.Span)
		} else {
			err = reduce.Accumulate(s.ranks.Span, s.mine.Span, kernel.Min)
		}
	}
	if err == nil && reduce.Ambiguous(s.extremes) {
		for i, rank := range memory.As[int64](s.ranks.Span) {
			memory.Copy(s.extremes.Slice(i, i+1), c.part(int(rank), s.value.Type, i, 1))
		}
	}
	return err
}
