package comm

import (
	"math"
	"sync"
	"time"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/comm/unexpected"
	"dtl/core/comm/wire"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/progress"
	"dtl/core/status"
)

// The fast path makes short calls outside Go: C code lays down entries on the board by itself, and reads those of the other
// ranks (numpybridge/fastpath*.c). What takes longer it asks for here, within its turn.

// OpenFastPath returns where the board is, for code outside Go that knows this Comm by a number, or where the ranks of several
// nodes meet; nil where there is none, or where not every thread may make calls. It is called before the Comm is used.
func (c *Comm) OpenFastPath(owner int64) (onBoard, amongNodes unsafe.Pointer) {
	if c.gone.Load() || c.oneProcess || progress.Limited() {
		return nil, nil
	}
	if c.amongNodes != nil && !c.unchecked {
		onFastPath.Store(owner, c)
		return nil, c.amongNodes.Fast().OpenFastPath(owner, progress.Queued())
	}
	b, most := c.board, c.boardBytes
	if c.size == 1 {
		if c.own == nil {
			if c.own, _ = board.Alone(); c.own != nil { // or there is none
				c.turn.at = c.own.Turn()
			}
		}
		b, most = c.own, board.MaxPayload
	}
	if b == nil {
		return nil, nil
	}
	var m board.Messages
	if direct, ok := c.main.(backend.DirectCommunicator); ok {
		d := direct.Direct()
		m = board.Messages{
			Comm: d.Comm, SendFor: d.SendFor, RecvFor: d.RecvFor, WaitFor: d.WaitFor, Cancel: d.Cancel,
			Queued: uintptr(unsafe.Pointer(progress.Queued())), Unexpected: uintptr(unsafe.Pointer(c.unexpected.Length())),
			Tags: int32(min(c.main.TagBound(), math.MaxInt32)),
		}
		c.pins.Pin(c) // C looks at the length of its unexpected-message queue
	}
	onFastPath.Store(owner, c)
	return b.OpenFastPath(owner, c.spins, most, c.goesOn != 0, m), nil
}

// onFastPath has each Comm that OpenFastPath has opened, by the number by which code outside Go knows it.
var onFastPath sync.Map

// OnFastPath returns the Comm that code outside Go knows by a number; nil if it has been closed. Such code asks within a call:
// then the Comm is there until that ends, also where its handle has been closed meanwhile.
func OnFastPath(owner int64) *Comm {
	c, _ := onFastPath.Load(owner)
	of, _ := c.(*Comm)
	return of
}

// closeFastPath takes a board back, and waits until messages that code outside Go has on their way have gone.
func (c *Comm) closeFastPath(b *board.Board) error {
	if owner := b.CloseFastPath(); owner != 0 {
		defer onFastPath.Delete(owner)
	}
	w := c.beginWait("close, behind another thread's message")
	w.last = true
	defer w.End()
	for b.InUse() {
		time.Sleep(50 * time.Microsecond)
		if err := w.check(); err != nil {
			return err
		}
	}
	c.pins.Unpin()
	return nil
}

// FinishSend waits for a message that was sent outside Go and has not gone yet, where there is one, and for an offer that
// was made there, unless it is negative. rc is what the backend said of the message: where that is an error, it may have
// gone all the same, so it is not sent again.
func (c *Comm) FinishSend(native uint64, rc, offer int, dest, tag int64) error {
	direct, ok := c.main.(backend.DirectCommunicator)
	if !ok {
		return status.In("send", status.New(status.Internal, "the backend does not know the message"))
	}
	var err error
	if rc != 0 {
		err = direct.Failure(rc)
	}
	if native != 0 {
		_, e := c.await(direct.Adopt(native), waiting("send", "dest", dest, tag))
		err = errorOr(err, e)
	}
	if offer >= 0 {
		err = c.endOffer(wire.Header{Number: uint32(offer)}, memory.Span{}, err, dest, tag)
	}
	return status.In("send", err)
}

// AwaitCopy waits until a rank has copied its share of what it offers under a number to code outside Go.
func (c *Comm) AwaitCopy(rank, number int, tag int64) error {
	b := c.board
	_, err := c.await(c.pollRequest(func() (bool, error) {
		copying, err := b.Copying(rank, number)
		return !copying, err
	}), waiting("recv", "source", int64(rank), tag))
	return status.In("recv", err)
}

// KeepUnexpected puts a message in the unexpected-message queue that was received outside Go and did not fit there.
func (c *Comm) KeepUnexpected(message memory.Span, source, tag int) error {
	b, err := c.scratch.get()
	if err != nil {
		return status.In("recv", err)
	}
	n := copy(bytesAt(b.Addr(), eager), bytesAt(message.Addr, message.Bytes()))
	c.unexpected.Put(unexpected.Message{Buffer: b, Status: backend.Status{Source: source, Tag: tag, Bytes: n}})
	return nil
}

// Meet waits until every rank has come to the meeting of a short call that was laid down outside Go, and returns nil if
// they agree.
func (c *Comm) Meet(f wire.Signature) error {
	c.takeOutside()
	err := c.awaitMeeting(c.inCall(f.String()))
	if err == nil && !c.meeter.Agreed() {
		err = c.explain(c.inCall(f.String()), nil)
	} else if err == nil && c.amongNodes != nil && !c.amongNodes.Ahead() {
		c.hasHeard()
	}
	return status.In(f.Op, err)
}

// Broadcasted is Broadcast from where all ranks have met, on a rank other than root.
func (c *Comm) Broadcasted(out *Array, root int64) (Result, error) {
	h, along, err := c.metadataOf(wire.Signature{Op: "broadcast", Root: wire.Rooted(root), ElementsOptional: true}, int(root), 1, out)
	if err != nil {
		return Result{}, status.In("broadcast", err)
	}
	r, err := c.broadcastTo(out, h, along, int(root))
	return r, status.In("broadcast", err)
}

// Scattered is the same of Scatter.
func (c *Comm) Scattered(out *Array, root int64) (Result, error) {
	h, along, err := c.metadataOf(wire.Signature{Op: "scatter", Root: wire.Rooted(root), ElementsOptional: true}, int(root), c.size, out)
	if err != nil {
		return Result{}, status.In("scatter", err)
	}
	r, err := c.scattered(memory.Span{}, h, along, out, int(root))
	return r, status.In("scatter", err)
}

// Allreduced is Allreduce from where all ranks have met that are each on a node of their own.
func (c *Comm) Allreduced(send, recv memory.Span, op kernel.Op) error {
	c.op = "allreduce"
	return status.In(c.op, c.apart(send, recv, func(send memory.Span) error { return c.main.Allreduce(send, recv, op) }))
}

// Allgathered is the same of Allgather.
func (c *Comm) Allgathered(send, recv memory.Span) error {
	c.op = "allgather"
	return status.In(c.op, c.apart(send, recv, func(send memory.Span) error { return c.main.Allgather(known(send), known(recv)) }))
}

// fastPathBoard returns the board that code outside Go may have; nil where there is none.
func (c *Comm) fastPathBoard() *board.Board {
	if c.size == 1 {
		return c.own
	}
	return c.board
}
