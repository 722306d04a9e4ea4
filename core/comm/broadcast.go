package comm

import (
	"unsafe"

	"dtl/core/board"
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
	f := form{op: "broadcast", root: rooted(root), loose: true}
	var h header
	var elements memory.Span
	if here {
		if mine = checkBroadcast(value, out); mine == nil {
			h, elements = headerOf(*value), value.Span
		}
		f.state(value)
	} else if out != nil {
		f.state(out)
	} else {
		f.state(value)
	}
	var d *deal
	if elements.Bytes() > board.MaxPayload {
		if d = c.deal(elements); d != nil {
			h.numbers = d.numbers
		}
	}
	h, along, err := c.announce(f, mine, root, h, elements, out)
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
func (c *Comm) broadcastFrom(value, out *Array, h header, d *deal) error {
	if h.apart {
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
func (c *Comm) broadcastTo(out *Array, h header, along unsafe.Pointer, root int) (Result, error) {
	r, err := c.room(h, out)
	if h.offer {
		h.seq = uint32(bytesAt(along, c.size)[c.rank]) // before the next meeting
	}
	switch {
	case h.apart:
		if err = c.ready(h, err); err != nil {
			break
		}
		if h.offer {
			err = c.collectOffer(&r, root, h, awaited{peer: int64(root), call: func() string {
				return form{op: "broadcast", root: rooted(int64(root))}.String()
			}})
		} else {
			err = c.blocking(func() error { return c.main.Broadcast(r.Raw(), root) })
		}
	case err == nil:
		copy(bytesAt(r.Addr, h.bytes()), bytesAt(along, h.bytes()))
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
