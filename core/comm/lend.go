package comm

import (
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/status"
)

// Short calls may be made by code outside Go, which lays down entries on the board by itself and reads those of the
// others. What takes longer it asks for here, within its turn.

// Lend returns where the board is, for code that knows this Comm by a number; nil where there is none, or where not every
// thread may make calls.
func (c *Comm) Lend(owner int64) unsafe.Pointer {
	c.turn.Lock()
	defer c.turn.Unlock()
	if c.board == nil || c.alike || callers.limit.Load() != nil {
		return nil
	}
	return c.board.Lend(owner, c.spins, c.brief)
}

// Brief is a short call that was laid down outside Go.
type Brief struct {
	Op, By string
	Type   dtype.Type
	Count  int
	Root   int64 // one more than the rank; 0: there is none
	Loose  bool
}

func (b *Brief) form() form {
	return form{op: b.Op, by: b.By, typ: b.Type, count: b.Count, root: b.Root, loose: b.Loose}
}

// Print is a number for an operation's name, or an operator's, in what such code lays down.
func Print(name string) uint64 { return hash(name) }

// Meet waits until every rank has come to the meeting of the call, and returns nil if they agree.
func (c *Comm) Meet(b Brief) error {
	f := b.form()
	err := c.linger(f.String())
	if err == nil && !c.agreed() {
		err = c.explain(f.String(), nil)
	}
	return status.In(b.Op, err)
}

// Broadcasted is Broadcast from where all ranks have met, on a rank other than root.
func (c *Comm) Broadcasted(out *Array, root int64) (Result, error) {
	h, along, err := c.unpacked(bytesAt(c.board.Payload(int(root))), out)
	if err != nil {
		return Result{}, status.In("broadcast", err)
	}
	r, err := c.broadcastTo(out, h, along, int(root))
	return r, status.In("broadcast", err)
}
