package shmem

import (
	"bytes"
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
)

// An order asks the owner of memory to combine elements there, and perhaps for those that were. Its header has the window's
// number for a channel, an offset for bytes, and a task for a tag; what follows are the elements that come. A long one is
// several, for operations are atomic by elements. Each gets an answer, so that whoever ordered knows that it has happened.

// task is what an order asks for.
type task struct {
	op       kernel.Op
	typ      dtype.Type
	answered bool // by the elements that were there
	compared bool // of the two elements that come, the first with that which is there
}

func (t task) tag() int32 {
	n := int32(t.op) | int32(t.typ)<<8
	if t.answered {
		n |= 1 << 16
	}
	if t.compared {
		n |= 1 << 17
	}
	return n
}

func taskOf(tag int32) task {
	return task{kernel.Op(tag), dtype.Type(tag >> 8), tag&(1<<16) != 0, tag&(1<<17) != 0}
}

// pending is an order under way.
type pending struct {
	window *window
	target int
	into   memory.Span
	from   memory.Span // which stays until it is answered
}

// ask orders that a target combines its elements with those of from, and puts those that were there into into; either
// may have none. The caller holds the world's lock.
func (w *window) ask(from, into memory.Span, target int, offset int64, op kernel.Op, compared bool) {
	world := w.comm.world
	t := task{op: op, typ: from.Type, answered: into.Count > 0, compared: compared}
	size := from.Type.Size()
	n, each := max(from.Count, into.Count), world.mail.piece()/size
	if compared {
		n, each = 1, 1
	}
	for lo := 0; lo < n; lo += each {
		hi := min(lo+each, n)
		p := &pending{window: w, target: target, from: from, into: into}
		if into.Count > 0 {
			p.into = into.Slice(lo, hi)
		}
		if from.Count > 0 && !compared {
			p.from = from.Slice(lo, hi)
		}
		id := world.number()
		world.orders[id] = p
		w.waiting[target]++
		data := p.from
		if data.Count == 0 { // then what follows says how many are asked for
			data = memory.Of(dtype.Int64, []int64{int64(hi - lo)})
			p.from = data
		}
		world.send(w.comm.members[target], &outgoing{data: data.Addr, header: header{
			kind: order, channel: w.comm.number, tag: t.tag(), size: uint32(data.Bytes()), bytes: uint64(offset) + uint64(lo*size), id: id,
		}})
	}
}

// obey does what an order asks for. The memory is reached by nobody but its owner, so this is atomic.
func (w *world) obey(from int, h header, data unsafe.Pointer) {
	t, part := taskOf(h.tag), w.windows[h.channel].own
	came := memory.Span{Addr: data, Count: int(h.size) / t.typ.Size(), Type: t.typ}
	n := came.Count
	if t.compared {
		n = 1
	}
	if t.op == kernel.NoOp {
		n = int(*(*int64)(data))
	}
	there := memory.Span{Addr: unsafe.Add(part.Addr, int(h.bytes)), Count: n, Type: t.typ}
	var was memory.Span
	if t.answered {
		was = room(there)
		memory.Copy(was, there)
	}
	switch {
	case t.op == kernel.NoOp:
	case !t.compared:
		_ = reduce.Update(there, came, t.op) // whoever ordered it has checked that the type has the operator
	case bytes.Equal(memory.As[byte](there.Raw()), memory.As[byte](came.Slice(0, 1).Raw())):
		memory.Copy(there, came.Slice(1, 2))
	}
	w.send(from, &outgoing{header: header{kind: answer, id: h.id, size: uint32(was.Bytes())}, data: was.Addr})
}

// answered completes an order.
func (w *world) answered(h header, data unsafe.Pointer) {
	p := w.orders[h.id]
	delete(w.orders, h.id)
	if h.size > 0 {
		memory.Move(p.into.Addr, data, int(h.size))
	}
	p.window.waiting[p.target]--
}
