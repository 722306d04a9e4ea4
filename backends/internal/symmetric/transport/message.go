package transport

import (
	"unsafe"

	"dtl/core/memory"
)

// Ranks says which rank of a communicator each process is.
type Ranks map[int]int

// Send starts a send to a process on a channel.
func (e *Engine) Send(channel uint32, buf memory.Span, to, tag int) *Request {
	r := &Request{engine: e, buf: buf}
	h := Header{Kind: eager, Channel: channel, Tag: int32(tag), Bytes: uint64(buf.Bytes())}
	e.Lock()
	defer e.Unlock()
	if buf.Bytes() <= e.rings.eager() {
		h.Size = uint32(buf.Bytes())
		e.enqueue(to, &outgoing{Header: h, data: buf.Addr, request: r})
		return r
	}
	h.Kind, h.ID = readyToSend, e.Number()
	e.sends[h.ID] = r
	var where unsafe.Pointer
	if e.reader != nil {
		address := uint64(uintptr(buf.Addr))
		where, h.Size = unsafe.Pointer(&address), uint32(unsafe.Sizeof(address))
	}
	e.SendRecord(to, h, where)
	return r
}

// Receive starts a receive on a channel, from a process or backend.AnySource.
func (e *Engine) Receive(channel uint32, ranks Ranks, buf memory.Span, source, tag int) *Request {
	e.Lock()
	defer e.Unlock()
	r := e.receive(channel, ranks, buf, source, tag)
	if !r.in.take(e, r) {
		r.in.posted = append(r.in.posted, r)
	}
	return r
}

// TryReceive is Receive of a message that has come, and reports whether there is one.
func (e *Engine) TryReceive(channel uint32, ranks Ranks, buf memory.Span, source, tag int) (*Request, bool) {
	e.Lock()
	defer e.Unlock()
	e.Progress()
	r := e.receive(channel, ranks, buf, source, tag)
	return r, r.in.take(e, r)
}

// receive returns a receive that nobody knows yet. The caller holds the lock.
func (e *Engine) receive(channel uint32, ranks Ranks, buf memory.Span, source, tag int) *Request {
	return &Request{engine: e, ranks: ranks, buf: buf, in: e.matching(channel), source: source, tag: tag}
}

// onMessage takes a short message, or the announcement of a long one.
func (e *Engine) onMessage(from int, h Header, payload unsafe.Pointer) {
	m := envelope{source: from, tag: int(h.Tag), bytes: int(h.Bytes), id: h.ID}
	if h.Kind == readyToSend && h.Size > 0 {
		m.address = *(*uint64)(payload)
	}
	e.matching(h.Channel).deliver(e, m, payload)
}

// onClearToSend sends the elements of a long message.
func (e *Engine) onClearToSend(from int, h Header, _ unsafe.Pointer) {
	r := e.sends[h.ID]
	delete(e.sends, h.ID)
	e.enqueue(from, &outgoing{
		Header: Header{Kind: fragment, ID: h.Bytes}, data: r.buf.Addr, total: r.buf.Bytes(), request: r,
	})
}

// onCopied completes the send of a long message that its receiver has copied.
func (e *Engine) onCopied(_ int, h Header, _ unsafe.Pointer) {
	e.sends[h.ID].done = true
	delete(e.sends, h.ID)
}

// onFragment takes elements of a long message.
func (e *Engine) onFragment(_ int, h Header, payload unsafe.Pointer) {
	r := e.receives[h.ID]
	r.append(payload, int(h.Size))
	if r.done {
		delete(e.receives, h.ID)
	}
}
