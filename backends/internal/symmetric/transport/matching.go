package transport

import (
	"slices"
	"unsafe"

	"dtl/core/backend"
)

// matching matches what came on a channel with what is received there, both in order. The engine's lock covers it.
type matching struct {
	unexpected []envelope // messages that came and are not received yet
	posted     []*Request // receives that wait; none matches an unexpected message
}

// envelope is a short message, or the announcement of a long one, which has a number.
type envelope struct {
	source, tag, bytes int
	id                 uint64
	address            uint64 // of a long one at its sender; 0: it sends the elements
	data               []byte
}

func (m *envelope) matches(source, tag int) bool {
	return (source == backend.AnySource || source == m.source) && (tag == backend.AnyTag || tag == m.tag)
}

// deliver gives what came to the first receive that waits for it, or keeps it, with a copy of its data.
func (q *matching) deliver(e *Engine, m envelope, data unsafe.Pointer) {
	if i := slices.IndexFunc(q.posted, func(r *Request) bool { return m.matches(r.source, r.tag) }); i >= 0 {
		r := q.posted[i]
		q.posted = slices.Delete(q.posted, i, i+1)
		e.match(r, &m, data)
		return
	}
	if m.id == 0 {
		m.data = slices.Clone(unsafe.Slice((*byte)(data), m.bytes))
	}
	q.unexpected = append(q.unexpected, m)
}

// take gives a receive the first unexpected message that matches, and reports whether there is one.
func (q *matching) take(e *Engine, r *Request) bool {
	i := slices.IndexFunc(q.unexpected, func(m envelope) bool { return m.matches(r.source, r.tag) })
	if i < 0 {
		return false
	}
	m := q.unexpected[i]
	q.unexpected = slices.Delete(q.unexpected, i, i+1)
	e.match(r, &m, unsafe.Pointer(unsafe.SliceData(m.data)))
	return true
}

// withdraw takes a posted receive back, and reports whether it still waited.
func (q *matching) withdraw(r *Request) bool {
	i := slices.Index(q.posted, r)
	if i < 0 {
		return false
	}
	q.posted = slices.Delete(q.posted, i, i+1)
	return true
}

// match has a receive filled with a message: at once, or by its sender, who is told that there is room.
func (e *Engine) match(r *Request, m *envelope, data unsafe.Pointer) {
	r.status = backend.Status{Source: r.ranks[m.source], Tag: m.tag, Bytes: m.bytes}
	if m.id == 0 {
		r.append(data, m.bytes)
		return
	}
	r.process, r.id, r.address = m.source, m.id, m.address
	if m.address == 0 || e.reader == nil {
		e.demand(r)
		return
	}
	if !e.copySome(r) {
		e.copies = append(e.copies, r)
	}
}

// demand has the sender of a long message send it.
func (e *Engine) demand(r *Request) {
	id := e.Number()
	e.receives[id] = r
	e.SendRecord(r.process, Header{Kind: clearToSend, ID: r.id, Bytes: id}, nil)
}
