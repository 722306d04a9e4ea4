package comm

import (
	"dtl/core/backend"
	"dtl/core/comm/agreement"
	"dtl/core/comm/wire"
	"dtl/core/memory"
)

// Gather concatenates every rank's send, in rank order, in root's recv, which is ignored elsewhere.
// Every rank sends the same number of elements. Collective.
func (c *Comm) Gather(send, recv memory.Span, root int64) error {
	return c.inTurn("gather", func() error { return c.gather(send, recv, root) })
}

func (c *Comm) gather(send, recv memory.Span, root int64) error {
	mine := c.checkRank("root", root)
	here := int(root) == c.rank
	if mine == nil {
		mine = checkType("value", send)
	}
	if mine == nil && here {
		mine = checkOutput(recv, send, send.Count*c.size)
	}
	f := wire.Signature{Op: "gather", Type: send.Type, Count: send.Count, Root: wire.Rooted(root)}
	short, err := c.startTo(int(root), f, mine, agreement.Elements{Span: send, InExtension: true})
	if err != nil || short && !here {
		return err
	}
	if short {
		c.concatenate(recv)
		return nil
	}
	if !here {
		return c.blocking(func() error { return c.main.Gather(known(send), known(memory.Span{Type: send.Type}), int(root)) })
	}
	return c.apart(send, recv, func(send memory.Span) error { return c.main.Gather(known(send), known(recv), int(root)) })
}

// concatenate copies to recv what every rank laid down in the meeting.
func (c *Comm) concatenate(recv memory.Span) {
	n := recv.Count / c.size
	for rank := range c.size {
		memory.Copy(recv.Slice(rank*n, (rank+1)*n), c.part(rank, recv.Type, 0, n))
	}
}

// Allgather concatenates every rank's send, in rank order, in every rank's recv. Collective.
func (c *Comm) Allgather(send, recv memory.Span) error {
	return c.inTurn("allgather", func() error { return c.allgather(send, recv) })
}

func (c *Comm) allgather(send, recv memory.Span) error {
	mine := checkType("value", send)
	if mine == nil {
		mine = checkOutput(recv, send, send.Count*c.size)
	}
	f := wire.Signature{Op: "allgather", Type: send.Type, Count: send.Count}
	if c.inExtensionPieces(send, mostGatheredInPieces) {
		return c.allgatherThroughExtension(f, mine, send, recv)
	}
	short, err := c.start(f, mine, send)
	if err != nil {
		return err
	}
	if short {
		c.concatenate(recv)
		return nil
	}
	if err = c.getExtensionForPieces(send, mostGatheredInPieces); err != nil {
		return err
	}
	return c.apart(send, recv, func(send memory.Span) error { return c.main.Allgather(known(send), known(recv)) })
}

// Igather starts what Gather does. Collective.
func (c *Comm) Igather(send, recv memory.Span, root int64) (*Request, error) {
	f := wire.Signature{Op: "igather", Type: send.Type, Count: send.Count, Root: wire.Rooted(root)}
	mine := c.checkRank("root", root)
	if mine == nil {
		mine = checkType("value", send)
	}
	var duplicate *memory.Storage
	if mine == nil && int(root) == c.Rank() {
		if mine = checkOutput(recv, send, send.Count*c.Size()); mine == nil {
			send, duplicate, mine = c.withoutOverlap(send, recv)
		}
	} else {
		recv = memory.Span{Type: send.Type}
	}
	return c.startCollectiveWith(f, duplicate, mine, func(a backend.AsyncCommunicator) (backend.Request, error) {
		return a.Igather(known(send), known(recv), int(root))
	})
}

// Iallgather starts what Allgather does. Collective.
func (c *Comm) Iallgather(send, recv memory.Span) (*Request, error) {
	f := wire.Signature{Op: "iallgather", Type: send.Type, Count: send.Count}
	mine := checkType("value", send)
	if mine == nil {
		mine = checkOutput(recv, send, send.Count*c.Size())
	}
	var duplicate *memory.Storage
	if mine == nil {
		send, duplicate, mine = c.withoutOverlap(send, recv)
	}
	return c.startCollectiveWith(f, duplicate, mine, func(a backend.AsyncCommunicator) (backend.Request, error) {
		return a.Iallgather(known(send), known(recv))
	})
}
