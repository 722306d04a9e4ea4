package comm

import (
	"dtl/core/board"
	"dtl/core/comm/agreement"
	"dtl/core/comm/wire"
	"dtl/core/kernel"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
)

// Elements that are too long for the entries of a board lie in its extension, which the ranks get when they first agree on such a
// call. That call still goes through the backend, and the later ones do not.

// extensionState is what all ranks know of the extension.
type extensionState uint8

const (
	extensionUnasked extensionState = iota
	extensionRefused                // a rank has no memory for it
	extensionUsed
)

// extensionMayHold reports whether so many bytes lie in the extension, or will when the ranks have got it.
func (c *Comm) extensionMayHold(bytes int) bool {
	return c.inMemory != nil && c.extension != extensionRefused && bytes <= board.MostPayload
}

// extensionHolds reports whether so many bytes go along with a meeting in the extension.
func (c *Comm) extensionHolds(bytes int) bool {
	return c.extension == extensionUsed && bytes <= board.MostPayload
}

// getExtension has the ranks get the extension for a call with so many bytes, which all of them make, unless they have tried. Collective.
func (c *Comm) getExtension(bytes int) error {
	if c.extension != extensionUnasked || !c.extensionMayHold(bytes) {
		return nil
	}
	all := make([]Shared, c.size)
	filled := truth(c.board.FillExtension() == nil)
	if err := c.agree(Call{Op: "getting shared memory for long calls"}, nil, Shared{int64(filled)}, all); err != nil {
		return err
	}
	c.extension = extensionUsed
	for _, share := range all {
		if share[0] == 0 {
			c.extension = extensionRefused
		}
	}
	if c.extension == extensionUsed {
		c.board.UseExtension()
	} else {
		c.board.DropExtension()
	}
	return nil
}

// Few ranks each combine all elements of all ranks. More divide them into slices: each rank combines one slice of all ranks'
// elements, and then all copy the slices. So each rank reads what all have laid down twice, and not once for each rank.

// SlicesFrom is from how many ranks on they do that.
const SlicesFrom = 4

// inSlices reports whether as many elements of each rank are combined in slices.
func (c *Comm) inSlices(send memory.Span) bool {
	return c.size >= SlicesFrom && send.Bytes() > board.MaxPayload && c.extensionHolds(send.Bytes())
}

// sliceOf returns which of so many elements a rank combines.
func (c *Comm) sliceOf(rank, count int) (from, to int) {
	return rank * count / c.size, (rank + 1) * count / c.size
}

// allreduceInSlices is Allreduce of elements in the extension. Each rank lays down its own, and writes the slice that it has
// combined over its part of that, which nobody else reads before all have come to a second meeting.
func (c *Comm) allreduceInSlices(f wire.Signature, mine error, send, recv memory.Span, op kernel.Op) error {
	if err := c.meetWith(f, mine, toCombine(send, op)); err != nil {
		return err
	}
	from, to := c.sliceOf(c.rank, recv.Count)
	if err := c.foldInGroups(recv.Slice(from, to), op, from, 0, c.size); err != nil {
		return err
	}
	memory.Copy(c.part(c.rank, recv.Type, from, to-from), recv.Slice(from, to))
	slices := make([]memory.Span, c.size) // an entry that says where one is may be overwritten after the second meeting
	for rank := range slices {
		from, to := c.sliceOf(rank, recv.Count)
		slices[rank] = c.part(rank, recv.Type, from, to-from)
	}
	if err := c.meetWith(f, nil, agreement.Elements{}); err != nil {
		return err
	}
	c.board.Keep()
	for rank, slice := range slices {
		memory.Copy(recv.Slice(c.sliceOf(rank, recv.Count)), slice)
	}
	return nil
}

// Elements that do not fit the extension go through it in pieces, where what they become goes to more than a few ranks. Each piece is a
// meeting of the same call, and stays in the processors' caches from one rank to the others.

// The most bytes of each rank that do that. More fill the caches, and then the backend copies them sooner from rank to rank.
const (
	mostReducedInPieces  = 512 << 10
	mostGatheredInPieces = 2 << 20
)

// suitPieces reports whether elements of each rank do that where there is an extension.
func (c *Comm) suitPieces(send memory.Span, most int) bool {
	return c.size >= SlicesFrom && send.Bytes() > board.MostPayload && send.Bytes() <= most
}

// inExtensionPieces reports whether they do.
func (c *Comm) inExtensionPieces(send memory.Span, most int) bool {
	return c.extension == extensionUsed && c.suitPieces(send, most)
}

// getExtensionForPieces is getExtension for elements that suit pieces.
func (c *Comm) getExtensionForPieces(send memory.Span, most int) error {
	if !c.suitPieces(send, most) {
		return nil
	}
	return c.getExtension(board.MostPayload)
}

// throughExtension calls f with each piece of send, from an element to another, and with this rank's error, where it has one. Pieces of
// recv may be written meanwhile: send is copied first where it shares memory with that.
func (c *Comm) throughExtension(mine error, send, recv memory.Span, f func(mine error, piece memory.Span, from, to int) error) error {
	const pieceBytes = 64 << 10
	var duplicate Result
	if mine == nil && overlap(send, recv) {
		if duplicate, mine = c.duplicate(send); mine == nil {
			send = duplicate.Span
		}
	}
	defer duplicate.release()
	pieces := (send.Bytes() + pieceBytes - 1) / pieceBytes
	for i := range pieces {
		from, to := i*send.Count/pieces, (i+1)*send.Count/pieces
		if err := f(mine, send.Slice(from, to), from, to); err != nil {
			return err
		}
	}
	return nil
}

// allreduceThroughExtension is Allreduce in pieces.
func (c *Comm) allreduceThroughExtension(f wire.Signature, mine error, send, recv memory.Span, op kernel.Op) error {
	written := recv
	if send.Addr == recv.Addr { // each piece is laid down before it is written
		written = memory.Span{}
	}
	return c.throughExtension(mine, send, written, func(mine error, piece memory.Span, from, to int) error {
		if mine != nil {
			return c.meet(f, mine)
		}
		return c.allreduceInSlices(f, nil, piece, recv.Slice(from, to), op)
	})
}

// allgatherThroughExtension is Allgather in pieces.
func (c *Comm) allgatherThroughExtension(f wire.Signature, mine error, send, recv memory.Span) error {
	return c.throughExtension(mine, send, recv, func(mine error, piece memory.Span, from, to int) error {
		if err := c.meetWith(f, mine, agreement.Elements{Span: piece, InExtension: true}); err != nil {
			return err
		}
		for step := range c.size { // not all ranks copy from one at the same time
			rank := (c.rank + step) % c.size
			memory.Copy(recv.Slice(rank*send.Count+from, rank*send.Count+to), c.part(rank, recv.Type, 0, to-from))
		}
		return nil
	})
}

// foldInGroups combines in recv what n ranks from first on laid down, from an element on, in the order in which they do that
// when they meet in groups.
func (c *Comm) foldInGroups(recv memory.Span, op kernel.Op, from, first, n int) error {
	if n <= board.GroupSize {
		return c.foldRanks(recv, op, from, first, n)
	}
	group := board.GroupSize
	for group*board.GroupSize < n {
		group *= board.GroupSize
	}
	room, err := c.scratch.get()
	if err != nil {
		return err
	}
	defer c.scratch.put(room)
	block := eager / recv.Type.Size()
	for at := 0; at < recv.Count; at += block {
		into := recv.Slice(at, min(at+block, recv.Count))
		if err := c.foldInGroups(into, op, from+at, first, group); err != nil {
			return err
		}
		others := memory.Span{Addr: room.Addr(), Count: into.Count, Type: into.Type}
		for next := group; next < n; next += group {
			err := c.foldInGroups(others, op, from+at, first+next, min(group, n-next))
			if err == nil {
				err = reduce.Accumulate(into, others, op)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
