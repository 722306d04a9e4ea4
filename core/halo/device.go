package halo

import (
	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/memory"
)

// device is an exchange of elements that a device alone reaches. It packs the messages of a round at once, in memory of its own, which
// is copied to the buffer that they are sent from; and unpacks those that have arrived at once, too.
type device struct {
	queue    backend.Queue  // nil where the host reaches the elements
	link     comm.Exchanger // nil where messages go by way of the host
	failed   error          // of the beginning of a round, which a link has all ranks know before it sends
	part     memory.Span    // from its first element on
	received memory.Span    // what messages are received in, one after the other
	sent     memory.Span
	copies   []backend.Run
}

// prepareDevice makes the messages, whose elements go by way of the buffer.
func (e *Exchange) prepareDevice(m Memory, in, out [][]Box, copies []Copy) {
	d := &e.device
	d.queue, d.part = m.Queue, memory.Span{Addr: m.Addr, Count: 1, Type: dtype.Uint8, Place: m.Place}
	d.link = m.Link
	buffer := e.buffer.Bytes()
	e.recvs, d.received = m.messages(in, buffer, true)
	e.sends, d.sent = m.messages(out, buffer.Slice(d.received.Count, buffer.Count), false)
	for _, c := range copies {
		for _, r := range backend.BoxRuns(c.Shape, m.Strides, m.Strides, m.Item) {
			r.To, r.From = r.To+m.offset(c.To), r.From+m.offset(c.From)
			d.copies = append(d.copies, r)
		}
	}
}

// messages makes those of one direction, in a buffer of which it returns what they take.
func (m Memory) messages(all [][]Box, buffer memory.Span, incoming bool) (made []message, within memory.Span) {
	taken := 0
	for _, boxes := range all {
		msg := message{peer: boxes[0].Peer, span: buffer.Slice(taken, taken+m.bytes(boxes))}
		packed := int64(taken)
		for i, b := range boxes {
			to, from, start, first := m.dense(b.Shape), m.Strides, packed, m.offset(b.At)
			if incoming {
				to, from, start, first = from, to, first, start
			}
			for _, r := range backend.BoxRuns(b.Shape, to, from, m.Item) {
				r.To, r.From = r.To+start, r.From+first
				msg.runs = append(msg.runs, r)
			}
			packed += int64(m.bytes(boxes[i : i+1]))
		}
		taken += aligned(msg.span.Count)
		made = append(made, msg)
	}
	return made, buffer.Slice(0, taken)
}

// linked has the devices of all ranks exchange the messages that are packed; call is what all ranks agree on. It says whether they know
// of an error.
func (e *Exchange) linked(call comm.Call) (known bool, err error) {
	d, size := &e.device, e.over.Size()
	send, recv := make([]memory.Span, size), make([]memory.Span, size)
	for i := range e.sends {
		send[e.sends[i].peer] = e.sends[i].span
	}
	var arrived []backend.Run
	for i := range e.recvs {
		recv[e.recvs[i].peer] = e.recvs[i].span
		arrived = append(arrived, e.recvs[i].runs...)
	}
	failed := d.failed
	d.failed = nil
	if err := d.link.Exchange(call, failed, []uintptr{d.queue.Stream()}, send, recv); err != nil {
		return true, err
	}
	return false, e.unpack(arrived)
}

// offset returns how many bytes from the part's first element on the one of an index lies.
func (m Memory) offset(at []int64) (bytes int64) {
	for d, i := range at {
		bytes += i * m.Strides[d]
	}
	return bytes
}

// pack fills the messages that are sent.
func (e *Exchange) pack() error {
	var all []backend.Run
	for i := range e.sends {
		all = append(all, e.sends[i].runs...)
	}
	if e.device.queue == nil || len(all) == 0 {
		return nil
	}
	return e.device.queue.Runs(e.device.sent, e.device.part, all)
}

// unpack writes the ghosts of messages that have arrived.
func (e *Exchange) unpack(arrived []backend.Run) error {
	if len(arrived) == 0 {
		return nil
	}
	return e.device.queue.Runs(e.device.part, e.device.received, arrived)
}

// copyOwn writes the ghosts that are this rank's own elements.
func (e *Exchange) copyOwn() error {
	for i := range e.copies {
		e.copies[i].run()
	}
	if len(e.device.copies) == 0 {
		return nil
	}
	return e.device.queue.Runs(e.device.part, e.device.part, e.device.copies)
}
