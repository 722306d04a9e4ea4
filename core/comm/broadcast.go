package comm

import (
	"unsafe"

	"dtl/core/board"
	"dtl/core/comm/wire"
	"dtl/core/memory"
	"dtl/core/status"
)

// Broadcast sends root's value to every rank with its shape, type and kind. Elsewhere value is a template
// that must agree, or nil; the elements go to out where it is given, else to the result. On root the
// result is empty: the caller has the value. Collective.
func (c *Comm) Broadcast(value, out *Array, root int64) (r Result, err error) {
	err = c.inTurn("broadcast", func() (err error) {
		r, err = c.broadcast(value, out, root)
		return err
	})
	return r, err
}

func (c *Comm) broadcast(value, out *Array, root int64) (Result, error) {
	mine := c.checkRank("root", root)
	here := mine == nil && int(root) == c.rank
	f := wire.Signature{Op: "broadcast", Root: wire.Rooted(root), Loose: true}
	var told description
	if here {
		if mine = checkBroadcast(value, out); mine == nil {
			told.Header, told.elements = headerOf(*value), value.Span
		}
		stateElements(&f, value)
	} else if out != nil {
		stateElements(&f, out)
	} else {
		stateElements(&f, value)
	}
	var d *deal
	if told.elements.Bytes() > board.MaxPayload {
		if d = c.deal(told.elements); d != nil {
			told.offers = d.numbers
		}
	}
	h, along, err := c.exchangeMetadata(f, mine, root, told, out)
	if err != nil {
		d.revoke()
		return Result{}, err
	}
	if here {
		return Result{}, c.broadcastFrom(value, out, h, d)
	}
	return c.broadcastTo(out, h, along, int(root))
}

// broadcastFrom is root's part once every rank knows what comes.
func (c *Comm) broadcastFrom(value, out *Array, h wire.Header, d *deal) error {
	if h.Apart {
		if err := c.ready(h, nil); err != nil {
			d.revoke()
			return err
		}
		if err := c.broadcastAll(value.Span, d); err != nil {
			return err
		}
	}
	if out != nil {
		memory.Copy(out.Span, value.Span)
	}
	return nil
}

// broadcastAll moves root's elements to all others: what it offers them, if anything.
func (c *Comm) broadcastAll(value memory.Span, d *deal) error {
	if d == nil {
		return c.blocking(func() error { return c.main.Broadcast(value.Raw(), c.rank) })
	}
	return d.end("broadcast")
}

// broadcastTo is the part of the others.
func (c *Comm) broadcastTo(out *Array, h wire.Header, along unsafe.Pointer, root int) (Result, error) {
	r, err := c.room(h, out)
	if h.Offer {
		h.Number = uint32(bytesAt(along, c.size)[c.rank]) // before the next meeting
	}
	switch {
	case h.Apart:
		if err = c.ready(h, err); err != nil {
			break
		}
		if h.Offer {
			err = c.collectOffer(&r, root, h, awaited{peer: int64(root), call: func() string {
				return wire.Signature{Op: "broadcast", Root: wire.Rooted(int64(root))}.String()
			}})
		} else {
			err = c.blocking(func() error { return c.main.Broadcast(r.Raw(), root) })
		}
	case err == nil:
		copy(bytesAt(r.Addr, h.Bytes()), bytesAt(along, h.Bytes()))
	}
	if err != nil {
		r.release()
		return Result{Retained: r.Retained}, err
	}
	return r, nil
}

func checkBroadcast(value, out *Array) error {
	if value == nil {
		return status.New(status.InvalidArgument, "root has no value to send")
	}
	if err := checkArray("value", value); err != nil || out == nil {
		return err
	}
	return checkOutput(out.Span, value.Span, value.Count)
}
