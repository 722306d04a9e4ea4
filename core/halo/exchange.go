package halo

import (
	"unsafe"

	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/memory"
)

// Memory is where a part and its ghosts lie.
type Memory struct {
	Addr    unsafe.Pointer // of the part's first element
	Strides []int64        // in bytes
	Item    int            // bytes of an element
	Queue   backend.Queue  // of what is done with elements that a device alone reaches; nil on the host
	Place   memory.Place
	Link    comm.Exchanger // of the devices of all ranks; nil: messages go by way of the host
}

// Exchange moves what a plan says, as often as wanted. Everything is prepared: a round allocates only what the backend's
// requests need. One round at a time.
type Exchange struct {
	over         *comm.Comm
	recvs, sends []message
	copies       []patch
	buffer       *memory.Storage   // of messages that do not lie side by side in the part's memory
	pending      []backend.Request // one a message, receives first; nil where it is not under way
	device       device
}

// message is what travels between two ranks at once: memory of the part, or a buffer that patches fill or empty.
type message struct {
	peer    int
	span    memory.Span
	patches []patch
	runs    []backend.Run // in place of patches, of a device: between the part and the buffer of all messages
}

// NewExchange prepares the exchange. The memory is the caller's, and stays for as long as rounds are made. Local.
func NewExchange(over *comm.Comm, plan *Plan, m Memory) (*Exchange, error) {
	in, out := m.group(plan.Recvs), m.group(plan.Sends)
	bytes := 0
	for _, boxes := range append(append([][]Box{}, in...), out...) {
		if !m.sideBySide(boxes) {
			bytes += aligned(m.bytes(boxes))
		}
	}
	buffer, err := m.buffer(over, bytes)
	if err != nil {
		return nil, err
	}
	e := &Exchange{over: over, buffer: buffer, pending: make([]backend.Request, len(in)+len(out))}
	at := buffer.Addr()
	if m.Queue != nil {
		e.prepareDevice(m, in, out, plan.Copies)
		return e, nil
	}
	for _, boxes := range in {
		e.recvs = append(e.recvs, m.message(boxes, &at, true))
	}
	for _, boxes := range out {
		e.sends = append(e.sends, m.message(boxes, &at, false))
	}
	for _, c := range plan.Copies {
		e.copies = append(e.copies, newPatch(m.place(c.To), m.place(c.From), c.Shape, m.Item))
	}
	return e, nil
}

// buffer returns memory that messages are sent from and received in.
func (m Memory) buffer(over *comm.Comm, bytes int) (*memory.Storage, error) {
	if m.Link != nil {
		return memory.NewScratch(m.Queue.Memory(), bytes, memory.Alignment)
	}
	return memory.NewStorage(over.Memory(), bytes, memory.Alignment)
}

func aligned(bytes int) int { return (bytes + memory.Alignment - 1) &^ (memory.Alignment - 1) }

// apart is how many bytes a box has at least that travels by itself, and so perhaps without being copied. A message
// costs about as much as copying this many.
const apart = 1 << 14

// group divides boxes, which come peer by peer, into messages: the smaller ones of a peer together, the others each
// by itself; all of a peer together, if a library connects the devices. Both ends divide alike, for they have the same boxes.
func (m Memory) group(boxes []Box) (messages [][]Box) {
	together := -1 // the message of the peer's smaller boxes
	for i, b := range boxes {
		if i > 0 && boxes[i-1].Peer != b.Peer {
			together = -1
		}
		small := m.Link != nil || m.bytes(boxes[i:i+1]) < apart
		if small && together >= 0 {
			messages[together] = append(messages[together], b)
			continue
		}
		messages = append(messages, []Box{b})
		if small {
			together = len(messages) - 1
		}
	}
	return messages
}

// bytes returns how many bytes boxes have together.
func (m Memory) bytes(boxes []Box) int {
	n := 0
	for _, b := range boxes {
		elements := 1
		for _, extent := range b.Shape {
			elements *= int(extent)
		}
		n += elements * m.Item
	}
	return n
}

// place returns where a box lies that starts at an index.
func (m Memory) place(at []int64) place {
	addr := m.Addr
	for d, i := range at {
		addr = unsafe.Add(addr, i*m.Strides[d])
	}
	return place{addr: addr, strides: m.Strides}
}

// sideBySide reports whether a message is a stretch of the part's memory.
func (m Memory) sideBySide(boxes []Box) bool {
	if m.Queue != nil {
		return false // which no message is sent from
	}
	here := m.place(boxes[0].At)
	return len(boxes) == 1 && len(newPatch(here, here, boxes[0].Shape, m.Item).loops) == 0
}

// message makes one of boxes. What it needs of the buffer it takes from its front.
func (m Memory) message(boxes []Box, buffer *unsafe.Pointer, incoming bool) message {
	bytes := m.bytes(boxes)
	msg := message{peer: boxes[0].Peer, span: memory.Span{Addr: *buffer, Count: bytes, Type: dtype.Uint8}}
	if m.sideBySide(boxes) {
		msg.span.Addr = m.place(boxes[0].At).addr
		return msg
	}
	*buffer = unsafe.Add(*buffer, aligned(bytes))
	at := msg.span.Addr
	for i, b := range boxes {
		dst, src := place{addr: at, strides: m.dense(b.Shape)}, m.place(b.At)
		if incoming {
			dst, src = src, dst
		}
		msg.patches = append(msg.patches, newPatch(dst, src, b.Shape, m.Item))
		at = unsafe.Add(at, m.bytes(boxes[i:i+1]))
	}
	return msg
}

// dense returns the strides of a box by itself.
func (m Memory) dense(shape []int64) []int64 {
	strides, stride := make([]int64, len(shape)), int64(m.Item)
	for d := len(shape) - 1; d >= 0; d-- {
		strides[d] = stride
		stride *= shape[d]
	}
	return strides
}
