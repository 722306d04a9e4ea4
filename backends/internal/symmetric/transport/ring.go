package transport

import (
	"sync/atomic"
	"unsafe"

	"dtl/core/memory"
)

// Each process has a ring of bytes for each process, itself too, in symmetric memory: the sender writes it and the
// receiver reads it. Two counters say how far each of them is; they lie where the other looks at them:
//
//	tail     bytes written, in the receiver's memory, written by the sender
//	credit   bytes read, in the sender's memory, written by the receiver
//
// In the ring are records, which do not wrap around its end. A short message is one record, sent eagerly. A long one is
// announced by one; when its receiver has room it says so with another, and the elements follow in pieces, unless the receiver
// can copy them from where they lie, and says when it has. So nobody keeps a long message for a receiver that does not want
// it yet, and no ring is full of it.

// Rings say where they lie in the symmetric memory.
type Rings struct{ processes, size int }

// CacheLine is how many bytes apart two processes write, so that they do not share a line of the cache.
const CacheLine = 64

const (
	leastRing = 4 << 10
	mostRing  = 64 << 10
	allRings  = 4 << 20 // what all rings of a process take together, if none has to be smaller than the least
)

// Layout chooses the size of the rings.
func Layout(processes int) Rings {
	ring := mostRing
	for ring > leastRing && ring*processes > allRings {
		ring /= 2
	}
	return Rings{processes, ring}
}

func (r Rings) tail(of int) int    { return of * 2 * CacheLine }
func (r Rings) credit(of int) int  { return of*2*CacheLine + CacheLine }
func (r Rings) records(of int) int { return roundUp(r.processes*2*CacheLine, 4096) + of*r.size }

// Bytes returns how much memory they take, from the start of the symmetric memory on.
func (r Rings) Bytes() int { return r.records(r.processes) }

// eager is the length of the longest message that goes in one record.
func (r Rings) eager() int { return r.size / 8 }

// Piece is the length of the longest record, apart from its header.
func (r Rings) Piece() int { return r.size / 4 }

// Kind says what a record is.
type Kind uint32

// The kinds of records.
const (
	skip          Kind = iota // nothing, up to the end of the ring
	eager                     // a short message
	readyToSend               // announces a long message: ID is its sender's; its address follows where others may read it
	clearToSend               // of its receiver: ID is the sender's, Bytes the receiver's
	fragment                  // of its elements: ID is the receiver's
	copied                    // of its receiver, who has read it: ID is the sender's
	ActiveRequest             // of a window, as package window says
	ActiveReply               // to an active request: ID is the request's
	kinds
)

// Header starts each record; Size bytes follow.
type Header struct {
	Kind    Kind
	Channel uint32
	Tag     int32
	Size    uint32
	Bytes   uint64
	ID      uint64
}

const (
	headerSize = int(unsafe.Sizeof(Header{}))
	staged     = headerSize + 1024 // records up to this length are put together before they are sent
)

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// link is how far this process and another are.
type link struct {
	written  uint64
	queue    []*outgoing
	read     uint64
	credited uint64 // of what was read, what the sender knows
}

// outgoing is what waits for room in a ring: a record, or the parts of a long message.
type outgoing struct {
	Header
	data    unsafe.Pointer
	total   int
	sent    int
	request *Request // which is complete then; nil: none
}

// counter returns one of this process's own counters.
func (e *Engine) counter(at int) *uint64 {
	start, _ := e.Memory()
	return (*uint64)(unsafe.Add(start, at))
}

// record writes a record into another's ring, and reports whether there was room.
func (e *Engine) record(to int, h Header, data unsafe.Pointer) bool {
	l, ring := &e.links[to], e.rings.size
	n := int(h.Size)
	length := roundUp(headerSize+n, headerSize)
	at := int(l.written) % ring
	over := 0
	if length > ring-at {
		over = ring - at
	}
	if int(l.written-atomic.LoadUint64(e.counter(e.rings.credit(to))))+over+length > ring {
		return false
	}
	base := e.rings.records(e.Me())
	if over > 0 {
		e.putRecord(to, base+at, Header{Kind: skip}, nil)
		l.written += uint64(over)
		at = 0
	}
	e.putRecord(to, base+at, h, data)
	l.written += uint64(length)
	e.Post(to, e.rings.tail(e.Me()), l.written)
	return true
}

func (e *Engine) putRecord(to, at int, h Header, data unsafe.Pointer) {
	n := int(h.Size)
	*(*Header)(unsafe.Pointer(&e.stage[0])) = h
	if headerSize+n <= len(e.stage) {
		if n > 0 {
			memory.Move(unsafe.Pointer(&e.stage[headerSize]), data, n)
		}
		e.Put(to, at, unsafe.Pointer(&e.stage[0]), headerSize+n)
		return
	}
	e.Put(to, at, unsafe.Pointer(&e.stage[0]), headerSize)
	e.Put(to, at+headerSize, data, n)
}

// SendRecord has a record written after all that waits already. Its data stay as they are until they are written. The
// caller holds the lock.
func (e *Engine) SendRecord(to int, h Header, data unsafe.Pointer) {
	e.enqueue(to, &outgoing{Header: h, data: data})
}

// enqueue has something written after all that waits already. The caller holds the lock.
func (e *Engine) enqueue(to int, o *outgoing) {
	e.links[to].queue = append(e.links[to].queue, o)
	e.flush(to)
}

// flush writes what there is room for.
func (e *Engine) flush(to int) {
	l := &e.links[to]
	for len(l.queue) > 0 && e.write(to, l.queue[0]) {
		if r := l.queue[0].request; r != nil {
			r.done = true
		}
		l.queue[0] = nil
		l.queue = l.queue[1:]
	}
}

// write writes a record, or the parts that there is room for, and reports whether nothing is left.
func (e *Engine) write(to int, o *outgoing) bool {
	if o.Kind != fragment {
		return e.record(to, o.Header, o.data)
	}
	for o.sent < o.total {
		h := o.Header
		h.Size = uint32(min(o.total-o.sent, e.rings.Piece()))
		if !e.record(to, h, unsafe.Add(o.data, o.sent)) {
			return false
		}
		o.sent += int(h.Size)
	}
	return true
}

// drain reads what has come from a process.
func (e *Engine) drain(from int) {
	l, ring := &e.links[from], e.rings.size
	start, _ := e.Memory()
	records := unsafe.Add(start, e.rings.records(from))
	tail := atomic.LoadUint64(e.counter(e.rings.tail(from)))
	for l.read < tail {
		at := int(l.read) % ring
		h := *(*Header)(unsafe.Add(records, at))
		if h.Kind == skip {
			l.read += uint64(ring - at)
			continue
		}
		e.handlers[h.Kind](from, h, unsafe.Add(records, at+headerSize))
		l.read += uint64(roundUp(headerSize+int(h.Size), headerSize))
	}
	if l.read-l.credited >= uint64(ring/4) {
		l.credited = l.read
		e.Post(from, e.rings.credit(e.Me()), l.read)
	}
}
