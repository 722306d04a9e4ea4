package comm

import (
	"dtl/core/memory"
	"dtl/core/status"
)

// broadcastBlock is the first thing that a broadcast sends: the header, and the elements where they fit
// beside it. Every rank knows its length, so nobody needs to know the array's.
const broadcastBlock = 128

// Broadcast sends root's value to every rank with its shape, type and kind. Elsewhere value is a template
// that must agree, or nil; the elements go to out where it is given, else to the result. On root the
// result is empty: the caller has the value. Collective.
func (c *Comm) Broadcast(value, out *Array, root int64) (Result, error) {
	r, err := c.broadcast(value, out, root)
	return r, status.In("broadcast", err)
}

func (c *Comm) broadcast(value, out *Array, root int64) (Result, error) {
	if err := c.checkRank("root", root); err != nil {
		return Result{}, err
	}
	if int(root) == c.Rank() {
		return Result{}, c.broadcastFrom(value, out)
	}
	r, h, err := c.learn(int(root), out)
	if err != nil {
		return Result{}, err
	}
	if h.apart {
		if err := c.main.Broadcast(r.Raw(), int(root)); err != nil {
			r.release()
			return Result{}, err
		}
	}
	return c.deliver(r, h, value, out)
}

// broadcastFrom is root's part. A value that cannot be sent is an error on every rank.
func (c *Comm) broadcastFrom(value, out *Array) error {
	if err := c.checkBroadcast(value, out); err != nil {
		return c.refuse(err, broadcastBlock)
	}
	if c.Size() > 1 {
		h, err := c.describe(value)
		if err == nil && h.apart {
			err = c.main.Broadcast(value.Raw(), c.Rank())
		}
		if err != nil {
			return err
		}
	}
	if out != nil {
		memory.Copy(out.Span, value.Span)
	}
	return nil
}

func (c *Comm) checkBroadcast(value, out *Array) error {
	if value == nil {
		return status.New(status.InvalidArgument, "root has no value to send")
	}
	if err := checkArray("value", value); err != nil || out == nil {
		return err
	}
	return checkOutput(out.Span, value.Span, value.Count)
}

// refuse tells the ranks that wait for root's first block of the given length why nothing follows, and
// returns the reason.
func (c *Comm) refuse(why error, block int) error {
	b, err := c.scratch.get()
	if err != nil {
		return err
	}
	defer c.scratch.put(b)
	putRefusal(bytesAt(b.Addr(), eager), why, block)
	if err := c.main.Broadcast(span(b, block), c.Rank()); err != nil {
		return err
	}
	return why
}

// describe is root's part of the description: it broadcasts value's header, and its elements where they fit
// beside it. Where they do not, every rank has room for them when it returns nil.
func (c *Comm) describe(value *Array) (header, error) {
	b, err := c.scratch.get()
	if err != nil {
		return header{}, err
	}
	defer c.scratch.put(b)
	raw := bytesAt(b.Addr(), eager)
	h := headerOf(*value)
	h.apart = h.size()+h.bytes() > broadcastBlock
	h.put(raw)
	if !h.apart {
		copy(raw[h.size():], bytesAt(value.Addr, h.bytes()))
	}
	if err := c.broadcastBytes(b, h.size(), c.Rank()); err != nil || !h.apart {
		return h, err
	}
	return h, c.agree(h, nil)
}

// learn is the other ranks' part. It returns memory for the elements, with those that came beside the header:
// out's where that fits, else new.
func (c *Comm) learn(root int, out *Array) (Result, header, error) {
	b, err := c.scratch.get()
	if err != nil {
		return Result{}, header{}, err
	}
	defer c.scratch.put(b)
	raw := bytesAt(b.Addr(), eager)
	if err := c.main.Broadcast(span(b, broadcastBlock), root); err != nil {
		return Result{}, header{}, err
	}
	if long := headerFixed + 8*int(raw[2]); long > broadcastBlock {
		if err := c.main.Broadcast(span(b, long), root); err != nil {
			return Result{}, header{}, err
		}
	}
	h, err := parseHeader(raw)
	if err != nil {
		return Result{}, h, err
	}
	r, err := c.room(h, out)
	if h.apart {
		err = c.agree(h, err)
	}
	if err != nil {
		r.release()
		return Result{}, h, err
	}
	if !h.apart {
		copy(bytesAt(r.Addr, h.bytes()), raw[h.size():])
	}
	return r, h, nil
}

// broadcastBytes sends root's block, and the whole header once more where it is longer than a block.
func (c *Comm) broadcastBytes(b *memory.Storage, headerSize, root int) error {
	if err := c.main.Broadcast(span(b, broadcastBlock), root); err != nil {
		return err
	}
	if headerSize <= broadcastBlock {
		return nil
	}
	return c.main.Broadcast(span(b, headerSize), root)
}

// room returns out where it fits what h describes, else new memory.
func (c *Comm) room(h header, out *Array) (Result, error) {
	if out != nil && h.fits(out.Span) == nil {
		return Result{Array: Array{Span: out.Span, Shape: h.shape, Kind: h.kind}}, nil
	}
	return newResult(c.memory, h)
}

// deliver hands over what has arrived, or says why it is not what the caller stated. By now no other rank
// waits for this one.
func (c *Comm) deliver(r Result, h header, template, out *Array) (Result, error) {
	var err error
	if out != nil {
		err = h.fits(out.Span)
	} else if template != nil && (template.Type != h.typ || template.Count != h.count()) {
		err = status.New(status.InvalidArgument, "value here has %d elements of %s, but root's has %d of %s",
			template.Count, template.Type, h.count(), h.typ)
	}
	if err != nil {
		r.release()
		return Result{}, err
	}
	return r, nil
}
