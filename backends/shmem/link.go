package shmem

import (
	"sync/atomic"
	"unsafe"

	"dtl/core/memory"
)

// Each process has a mailbox for each process, itself too, in symmetric memory: a ring of bytes, which the sender writes
// and the receiver reads. Two counters say how far each of them is; they lie where the other looks at them:
//
//	tail     bytes written, in the receiver's memory, written by the sender
//	credit   bytes read, in the sender's memory, written by the receiver
//
// In the ring are records, which do not wrap around its end. A short message is one record. A long one is announced by
// one; when its receiver has room it says so with another, and the elements follow in pieces. So nobody keeps a long
// message for a receiver that does not want it yet, and no mailbox is full of it.

// mailboxes say where they lie.
type mailboxes struct{ processes, ring int }

const (
	line      = 64 // bytes apart, so that two processes do not write to one cache line
	leastRing = 4 << 10
	mostRing  = 64 << 10
	allRings  = 32 << 20 // what all rings of a process take together, if none has to be smaller than the least
)

// layout chooses the size of the rings.
func layout(processes int) mailboxes {
	ring := mostRing
	for ring > leastRing && ring*processes > allRings {
		ring /= 2
	}
	return mailboxes{processes, ring}
}

func (m mailboxes) tail(of int) int   { return of * 2 * line }
func (m mailboxes) credit(of int) int { return of*2*line + line }
func (m mailboxes) records(of int) int {
	return roundUp(m.processes*2*line, 4096) + of*m.ring
}
func (m mailboxes) bytes() int { return m.records(m.processes) }

// short is the length of the longest message that goes in one record, and piece that of a part of a long one.
func (m mailboxes) short() int { return m.ring / 8 }
func (m mailboxes) piece() int { return m.ring / 4 }

// kind says what a record is.
type kind uint32

const (
	skip     kind = iota // nothing, up to the end of the ring
	message              // a short message
	announce             // of a long message: id is its sender's
	invite               // of its receiver: id is the sender's, bytes the receiver's
	part                 // of its elements: id is the receiver's
	order                // of a window: see orders.go
	answer               // to an order: id is the order's
)

// header starts each record; size bytes follow.
type header struct {
	kind    kind
	channel uint32
	tag     int32
	size    uint32
	bytes   uint64
	id      uint64
}

const (
	headerSize = int(unsafe.Sizeof(header{}))
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

// outgoing is what waits for room in a mailbox: a record, or the parts of a long message.
type outgoing struct {
	header
	data    unsafe.Pointer
	total   int
	sent    int
	request *request // which is complete then; nil: none
}

// counter returns one of this process's own counters.
func (w *world) counter(at int) *uint64 {
	start, _ := w.memory()
	return (*uint64)(unsafe.Add(start, at))
}

// record writes a record into another's mailbox, and reports whether there was room.
func (w *world) record(to int, h header, data unsafe.Pointer) bool {
	l, ring := &w.links[to], w.mail.ring
	n := int(h.size)
	length := roundUp(headerSize+n, headerSize)
	at := int(l.written) % ring
	over := 0
	if length > ring-at {
		over = ring - at
	}
	if int(l.written-atomic.LoadUint64(w.counter(w.mail.credit(to))))+over+length > ring {
		return false
	}
	base := w.mail.records(w.me())
	if over > 0 {
		w.putRecord(to, base+at, header{kind: skip}, nil)
		l.written += uint64(over)
		at = 0
	}
	w.putRecord(to, base+at, h, data)
	l.written += uint64(length)
	w.post(to, w.mail.tail(w.me()), l.written)
	return true
}

func (w *world) putRecord(to, at int, h header, data unsafe.Pointer) {
	n := int(h.size)
	*(*header)(unsafe.Pointer(&w.stage[0])) = h
	if headerSize+n <= len(w.stage) {
		if n > 0 {
			memory.Move(unsafe.Pointer(&w.stage[headerSize]), data, n)
		}
		w.put(to, at, unsafe.Pointer(&w.stage[0]), headerSize+n)
		return
	}
	w.put(to, at, unsafe.Pointer(&w.stage[0]), headerSize)
	w.put(to, at+headerSize, data, n)
}

// send has something written after all that waits already. The caller holds the lock.
func (w *world) send(to int, o *outgoing) {
	w.links[to].queue = append(w.links[to].queue, o)
	w.flush(to)
}

// flush writes what there is room for.
func (w *world) flush(to int) {
	l := &w.links[to]
	for len(l.queue) > 0 && w.write(to, l.queue[0]) {
		if r := l.queue[0].request; r != nil {
			r.done = true
		}
		l.queue[0] = nil
		l.queue = l.queue[1:]
	}
}

// write writes a record, or the parts that there is room for, and reports whether nothing is left.
func (w *world) write(to int, o *outgoing) bool {
	if o.kind != part {
		return w.record(to, o.header, o.data)
	}
	for o.sent < o.total {
		h := o.header
		h.size = uint32(min(o.total-o.sent, w.mail.piece()))
		if !w.record(to, h, unsafe.Add(o.data, o.sent)) {
			return false
		}
		o.sent += int(h.size)
	}
	return true
}

// drain reads what has come from a process.
func (w *world) drain(from int) {
	l, ring := &w.links[from], w.mail.ring
	start, _ := w.memory()
	records := unsafe.Add(start, w.mail.records(from))
	tail := atomic.LoadUint64(w.counter(w.mail.tail(from)))
	for l.read < tail {
		at := int(l.read) % ring
		h := *(*header)(unsafe.Add(records, at))
		if h.kind == skip {
			l.read += uint64(ring - at)
			continue
		}
		w.handle(from, h, unsafe.Add(records, at+headerSize))
		l.read += uint64(roundUp(headerSize+int(h.size), headerSize))
	}
	if l.read-l.credited >= uint64(ring/4) {
		l.credited = l.read
		w.post(from, w.mail.credit(w.me()), l.read)
	}
}

// handle does what a record asks for.
func (w *world) handle(from int, h header, data unsafe.Pointer) {
	switch h.kind {
	case message, announce:
		w.inbox(h.channel).deliver(w, arrival{source: from, tag: int(h.tag), bytes: int(h.bytes), id: h.id}, data)
	case invite:
		r := w.sends[h.id]
		delete(w.sends, h.id)
		w.send(from, &outgoing{header: header{kind: part, id: h.bytes}, data: r.buf.Addr, total: r.buf.Bytes(), request: r})
	case order:
		w.obey(from, h, data)
	case answer:
		w.answered(h, data)
	case part:
		r := w.receives[h.id]
		r.append(data, int(h.size))
		if r.done {
			delete(w.receives, h.id)
		}
	}
}
