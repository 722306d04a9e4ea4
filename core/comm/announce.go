package comm

import (
	"unsafe"

	"dtl/core/board"
	"dtl/core/memory"
)

// announceBytes is the length of an announcement by message: every rank knows it, so nobody needs to know the array's.
const announceBytes = 1024

// announce meets for a call in which root alone knows what travels: on root, h describes one rank's part of elements,
// elsewhere both are ignored. It returns root's description, and where the elements are, unless h.apart says that they
// are too long to come along; then it is where the numbers of root's offers are, if there are any. Those stay until this rank's next meeting. Collective.
func (c *Comm) announce(f form, mine error, root int64, h header, elements memory.Span, out *Array) (header, unsafe.Pointer, error) {
	if c.size == 1 {
		return h, elements.Addr, mine
	}
	here := int(root) == c.rank
	var packed memory.Span
	if here && mine == nil {
		var err error
		if packed, err = c.onDesk(&h, elements); err != nil {
			mine = err
		}
	}
	if c.board == nil {
		return c.announceByMessage(f, mine, int(root), out)
	}
	if err := c.meetWith(f, mine, packed); err != nil {
		return h, nil, err
	}
	at, n := c.board.Payload(int(root))
	return c.unpacked(bytesAt(at, n), out)
}

// onDesk puts a description in order, and the elements behind it where they fit.
func (c *Comm) onDesk(h *header, elements memory.Span) (memory.Span, error) {
	if err := c.furnish(); err != nil {
		return memory.Span{}, err
	}
	room := announceBytes
	if c.board != nil {
		room = board.MaxPayload
	}
	n := h.size() + elements.Bytes()
	if n > room {
		h.apart, n = true, h.size()+len(h.numbers)
	}
	h.offer = h.apart && h.numbers != nil
	raw := bytesAt(c.desk.Addr(), n)
	h.put(raw)
	switch {
	case h.offer:
		copy(raw[h.size():], h.numbers)
	case !h.apart:
		copy(raw[h.size():], bytesAt(elements.Addr, elements.Bytes()))
	}
	return span(c.desk, n), nil
}

// furnish makes the desk.
func (c *Comm) furnish() (err error) {
	if c.desk == nil {
		c.desk, err = memory.NewStorage(c.memory, board.MaxPayload, alignment)
	}
	return err
}

func (c *Comm) announceByMessage(f form, mine error, root int, out *Array) (header, unsafe.Pointer, error) {
	if mine == nil {
		mine = c.furnish()
	}
	if err := c.meet(f, mine); err != nil {
		return header{}, nil, err
	}
	if err := c.main.Broadcast(span(c.desk, announceBytes), root); err != nil {
		return header{}, nil, err
	}
	return c.unpacked(bytesAt(c.desk.Addr(), announceBytes), out)
}

// unpacked reads a description, and says where the elements are that came along. Where they
// fit out, they are all in one dimension.
func (c *Comm) unpacked(raw []byte, out *Array) (header, unsafe.Pointer, error) {
	if h, ndim, err := glance(raw); err == nil && out != nil && !h.apart && out.Type == h.typ && out.Count == announced(raw) {
		c.flat[0] = int64(out.Count)
		h.shape = c.flat[:] // as many elements; nobody asks how they are arranged
		return h, unsafe.Add(unsafe.Pointer(unsafe.SliceData(raw)), headerFixed+8*ndim), nil
	}
	h, err := parseHeader(raw)
	if err != nil || h.apart && !h.offer {
		return h, nil, err
	}
	return h, unsafe.Add(unsafe.Pointer(unsafe.SliceData(raw)), h.size()), nil
}

// agreed is from how many bytes on ranks make sure that all of them have room. Below, the agreement would cost more
// than it is worth: a process that cannot get so little has no way on.
const agreed = 1 << 20

// ready returns nil if every rank that is to take what h describes says nil; else each gets an error. Nothing must be
// sent then, for not all would receive it. Collective; mine alone where h is short.
func (c *Comm) ready(h header, mine error) error {
	if h.bytes() < agreed {
		return mine
	}
	return c.meet(form{op: "room", typ: h.typ, count: h.count()}, mine)
}

// room returns out, or new memory for what h describes.
func (c *Comm) room(h header, out *Array) (Result, error) {
	if out != nil {
		return Result{Array: Array{Span: out.Span, Shape: h.shape, Kind: h.kind}}, h.fits(out.Span)
	}
	return newResult(c.memory, h)
}

// state puts in a loose form what a rank says of the elements: nothing, where there is no array.
func (f *form) state(a *Array) {
	if a != nil {
		f.typ, f.count = a.Type, a.Count
	}
}
