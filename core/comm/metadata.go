package comm

import (
	"unsafe"

	"dtl/core/board"
	"dtl/core/comm/agreement"
	"dtl/core/comm/wire"
	"dtl/core/memory"
)

// description is what root tells the others in a call in which it alone knows what travels.
type description struct {
	wire.Header             // of one rank's part
	elements    memory.Span // which follow the header where they are short
	offers      []byte      // else the number of the offer to each rank, if there are any
}

// exchangeMetadata meets for a call in which root alone knows what travels, told, in so many parts; elsewhere that is ignored.
// Where it travels along, root waits for nobody, and the others wait for root. It returns
// root's header, and where the elements are, unless they are Apart; then it is where the numbers of root's offers are, if
// there are any. Those stay until this rank's next meeting. Collective.
func (c *Comm) exchangeMetadata(f wire.Signature, mine error, root int64, told description, parts int, out *Array) (wire.Header, unsafe.Pointer, error) {
	if c.size == 1 {
		return told.Header, told.elements.Addr, mine
	}
	here := int(root) == c.rank
	var packed memory.Span
	if here && mine == nil {
		var err error
		if packed, err = c.packMetadata(&told); err != nil {
			mine = err
		}
	}
	brought := agreement.Elements{Span: packed, Way: agreement.FromRoot, Root: int(root)}
	if parts > 1 {
		brought.Way = agreement.Scattered
	}
	if packed.Count > 0 {
		brought.Head = told.Size()
	}
	waits := board.WaitsForRoot
	if here && told.Apart {
		waits = board.WaitsForAll // before anything is moved by other means
	} else if here {
		waits = board.WaitsForNone
	}
	if here && mine != nil || c.checkRank("root", root) != nil {
		waits = board.WaitsForAll
	}
	if err := c.meetRooted(f, mine, brought, waits, int(root)); err != nil {
		return told.Header, nil, err
	}
	return c.metadataOf(f, int(root), parts, out)
}

// metadataOf reads what root has told in a call that f describes. Before anything is moved by other means, all ranks meet.
func (c *Comm) metadataOf(f wire.Signature, root, parts int, out *Array) (wire.Header, unsafe.Pointer, error) {
	h, along, err := c.unpackMetadata(bytesAt(c.meeter.Payload(root)), out)
	if err == nil && h.Apart && !h.Offer {
		err = c.getExtension(parts*h.Bytes() + h.Size())
	}
	if c.amongNodes == nil || err != nil || !h.Apart {
		return h, along, err
	}
	if c.amongNodes.Passed() {
		err = c.meet(f, nil)
	}
	if !c.amongNodes.Passes(h.Size() + parts*h.Bytes()) {
		c.amongNodes.EndRow()
	}
	return h, along, err
}

// packMetadata encodes a description, and the elements behind it where they fit.
func (c *Comm) packMetadata(told *description) (memory.Span, error) {
	n := told.Size() + told.elements.Bytes()
	if n > c.meeter.Room(agreement.FromRoot) && !c.extensionHolds(n) {
		told.Apart, n = true, told.Size()+len(told.offers)
	}
	if c.metadata == nil || c.metadata.Size() < n {
		room, err := memory.NewStorage(c.memory, max(n, board.MaxPayload), memory.Alignment)
		if err != nil {
			return memory.Span{}, err
		}
		if c.metadata != nil {
			c.metadata.Release()
		}
		c.metadata = room
	}
	told.Offer = told.Apart && told.offers != nil
	raw := bytesAt(c.metadata.Addr(), n)
	told.Put(raw)
	switch {
	case told.Offer:
		copy(raw[told.Size():], told.offers)
	case !told.Apart:
		copy(raw[told.Size():], bytesAt(told.elements.Addr, told.elements.Bytes()))
	}
	return span(c.metadata, n), nil
}

// unpackMetadata reads a description, and says where the elements are that came along. Where they fit out, they are all in
// one dimension.
func (c *Comm) unpackMetadata(raw []byte, out *Array) (wire.Header, unsafe.Pointer, error) {
	if h, _, err := wire.ParseFixed(raw); err == nil && out != nil && !h.Apart && out.Type == h.Type && out.Count == wire.CountIn(raw) {
		c.flat[0] = int64(out.Count)
		h.Shape = c.flat[:] // as many elements; nobody asks how they are arranged
		return h, unsafe.Add(unsafe.Pointer(unsafe.SliceData(raw)), wire.SizeIn(raw)), nil
	}
	h, err := wire.ParseHeader(raw)
	if err != nil || h.Apart && !h.Offer {
		return h, nil, err
	}
	return h, unsafe.Add(unsafe.Pointer(unsafe.SliceData(raw)), h.Size()), nil
}

// checkRoomFrom is from how many bytes on ranks make sure that all of them have room. Below, the agreement would cost more
// than it is worth: a process that cannot get so little has no way on.
const checkRoomFrom = 1 << 20

// ready returns nil if every rank that is to take what h describes says nil; else each gets an error. Nothing must be
// sent then, for not all would receive it. Collective; mine alone where h is short.
func (c *Comm) ready(h wire.Header, mine error) error {
	if h.Bytes() < checkRoomFrom {
		return mine
	}
	return c.meet(wire.Signature{Op: "room", Type: h.Type, Count: h.Count()}, mine)
}

// room returns out, or new memory for what h describes.
func (c *Comm) room(h wire.Header, out *Array) (Result, error) {
	if out != nil {
		return Result{Array: Array{Span: out.Span, Shape: h.Shape, Kind: h.Kind}}, h.Fits(out.Span)
	}
	return newResult(c.memory, h)
}

// stateElements puts in a signature whose elements are optional what a rank says of the elements: nothing, where there is no array.
func stateElements(s *wire.Signature, a *Array) {
	if a != nil {
		s.Type, s.Count = a.Type, a.Count
	}
}
