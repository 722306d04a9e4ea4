package comm

import (
	"errors"
	"slices"
	"unsafe"

	"dtl/core/backend"
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
	f := wire.Signature{Op: "broadcast", Root: wire.Rooted(root), ElementsOptional: true}
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
	var d *broadcastOffers
	if n := told.elements.Bytes(); n > board.MaxPayload && !c.extensionMayHold(n+told.Size()) {
		if d = c.offerOn(c.board, told.elements); d != nil {
			told.offers = d.numbers
		}
	}
	h, along, err := c.exchangeMetadata(f, mine, root, told, 1, out)
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
func (c *Comm) broadcastFrom(value, out *Array, h wire.Header, d *broadcastOffers) error {
	if h.Apart {
		if err := c.ready(h, nil); err != nil {
			d.revoke()
			return err
		}
		if err := c.broadcastAll(value, d); err != nil {
			return err
		}
	}
	if out != nil {
		memory.Copy(out.Span, value.Span)
	}
	return nil
}

// broadcastAll moves root's elements to all others: what it offers them, if anything.
func (c *Comm) broadcastAll(value *Array, d *broadcastOffers) error {
	if d == nil {
		return c.broadcastApart(&Result{Array: *value}, c.rank)
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
			err = c.broadcastApart(&r, root)
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

// blockBytes is what a broadcast that does not block sends first: the header, and the elements where they fit beside it. Only
// root knows how long that is, so it is no longer than most headers need.
const blockBytes = 1024

// checkBlock refuses what has a header that is longer.
func checkBlock(value *Array) error {
	if n := headerOf(*value).Size(); n > blockBytes {
		return status.New(status.InvalidArgument, "value has a dtype and a shape whose description takes %d bytes; ibroadcast sends at most %d, "+
			"broadcast %d", n, blockBytes, wire.LongestHeader)
	}
	return nil
}

// Ibroadcast starts what Broadcast does. Longer values go from root straight to each rank: who passes on what comes
// would have to make a call first, and may be waiting in another. Collective.
func (c *Comm) Ibroadcast(value, out *Array, root int64) (*Request, error) {
	const op = "ibroadcast"
	mine := c.checkRank("root", root)
	here := mine == nil && int(root) == c.rank
	f := wire.Signature{Op: op, Root: wire.Rooted(root), ElementsOptional: true}
	if here {
		if mine = checkBroadcast(value, out); mine == nil {
			mine = checkBlock(value)
		}
		stateElements(&f, value)
	} else if out != nil {
		stateElements(&f, out)
	} else {
		stateElements(&f, value)
	}
	a, err := c.async()
	if mine == nil {
		mine = err
	}
	p, err := c.starts.Begin(f, mine)
	if err != nil {
		return nil, status.In(op, err)
	}
	t := broadcasting{comm: c, on: a, root: int(root)}
	if out != nil {
		t.out = &Array{Span: out.Span}
	}
	if here {
		t.value = *value
		if p.Pending != nil { // and that is later
			t.value.Shape = slices.Clone(value.Shape)
		}
		return c.begin(op, &broadcastingFrom{broadcasting: t}, p)
	}
	return c.begin(op, &broadcastingTo{broadcasting: t}, p)
}

// broadcasting is the state that root and the other ranks have of a broadcast.
type broadcasting struct {
	comm   *Comm
	on     backend.AsyncCommunicator
	value  Array // root's; its shape is read only when it begins
	out    *Array
	root   int
	buffer *memory.Storage
	got    Result
}

func (t *broadcasting) awaits() awaited {
	return named(wire.Signature{Op: "ibroadcast", Root: wire.Rooted(int64(t.root))}.String())
}

func (t *broadcasting) result() Result {
	r := t.got
	t.got = Result{}
	return r
}

// first starts the broadcast of the block.
func (t *broadcasting) first(fill func(raw []byte)) (backend.Request, error) {
	var err error
	if t.buffer, err = t.comm.scratch.get(); err != nil {
		return nil, err
	}
	fill(bytesAt(t.buffer.Addr(), blockBytes))
	r, err := t.on.Ibroadcast(span(t.buffer, blockBytes), t.root)
	if err != nil {
		t.comm.scratch.put(t.buffer)
	}
	return r, err
}

// broadcastingFrom is root's side: the block, and the elements for each rank.
type broadcastingFrom struct {
	broadcasting
	left   []backend.Request // in the order in which they are waited for
	failed error
}

func (t *broadcastingFrom) begin() (backend.Request, error) {
	c, h := t.comm, headerOf(t.value)
	if t.out != nil {
		memory.Copy(t.out.Span, t.value.Span)
	}
	if h.Apart = h.Size()+t.value.Bytes() > blockBytes; h.Apart {
		h.Number = c.seq.Add(1)
	}
	r, err := t.first(func(raw []byte) {
		h.Put(raw)
		if !h.Apart {
			copy(raw[h.Size():], bytesAt(t.value.Addr, t.value.Bytes()))
		}
	})
	if err != nil || !h.Apart {
		return r, err
	}
	for step := 1; step < c.Size(); step++ {
		sent, err := c.payload.Isend(t.value.Raw(), (t.root+step)%c.Size(), c.payloadTag(h))
		if err != nil {
			t.failed = errors.Join(t.failed, err)
			continue
		}
		t.left = append(t.left, sent)
	}
	return r, nil
}

func (t *broadcastingFrom) next(_ backend.Status, err error) (backend.Request, error) {
	t.failed = errors.Join(t.failed, err)
	if t.buffer != nil {
		t.comm.scratch.put(t.buffer)
		t.buffer = nil
	}
	if len(t.left) == 0 {
		return nil, t.failed
	}
	r := t.left[0]
	t.left = t.left[1:]
	return r, nil
}

func (t *broadcastingFrom) more() bool { return false }

// broadcastingTo is the other ranks' side.
type broadcastingTo struct {
	broadcasting
	head   wire.Header // once the block has come
	rest   bool        // the elements are awaited
	misfit error       // why out does not take them
}

func (t *broadcastingTo) begin() (backend.Request, error) { return t.first(func([]byte) {}) }

func (t *broadcastingTo) next(_ backend.Status, err error) (backend.Request, error) {
	if t.rest {
		return nil, t.finish(err)
	}
	c := t.comm
	defer c.scratch.put(t.buffer)
	if err != nil {
		return nil, err
	}
	raw := bytesAt(t.buffer.Addr(), blockBytes)
	if t.head, err = wire.ParseHeader(raw); err != nil {
		return nil, err
	}
	if t.got, t.misfit = c.room(t.head, t.out); t.misfit != nil && t.out != nil {
		t.got, err = c.room(t.head, nil) // root sends all the same
	} else {
		err, t.misfit = t.misfit, nil
	}
	if err != nil {
		return nil, err
	}
	if !t.head.Apart {
		copy(bytesAt(t.got.Addr, t.head.Bytes()), raw[t.head.Size():])
		return nil, t.finish(nil)
	}
	r, err := c.payload.Irecv(t.got.Raw(), t.root, c.payloadTag(t.head))
	if err != nil {
		return nil, t.finish(err)
	}
	t.rest = true
	return r, nil
}

func (t *broadcastingTo) more() bool { return !t.rest }

// finish has the result, or says why there is none.
func (t *broadcastingTo) finish(err error) error {
	if err = errorOr(err, t.misfit); err != nil {
		t.got.release()
		t.got = Result{}
	}
	return err
}
