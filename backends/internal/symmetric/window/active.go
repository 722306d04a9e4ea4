package window

import (
	"bytes"
	"unsafe"

	"dtl/backends/internal/symmetric/transport"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
)

// An active message asks the owner of memory to combine elements there, and perhaps for those that were. Its header has the
// window's number for a channel, an offset for bytes, and an operation for a tag; what follows are the elements that come.
// A long one is several, for operations are atomic by elements. Each gets a reply, so that whoever asked knows that it has
// happened.

// Active is the active messages of a process. The engine's lock covers it.
type Active struct {
	engine  *transport.Engine
	asked   map[uint64]*pending // by the number of the request
	windows map[uint32]*Window  // by their numbers
}

// NewActive has the engine of a process handle active messages.
func NewActive(e *transport.Engine) *Active {
	a := &Active{engine: e, asked: map[uint64]*pending{}, windows: map[uint32]*Window{}}
	e.Handle(transport.ActiveRequest, a.execute)
	e.Handle(transport.ActiveReply, a.complete)
	return a
}

// operation is what an active message asks for.
type operation struct {
	op       kernel.Op
	typ      dtype.Type
	fetching bool // the reply has the elements that were there
	compared bool // of the two elements that come, the first with that which is there
}

func (o operation) tag() int32 {
	n := int32(o.op) | int32(o.typ)<<8
	if o.fetching {
		n |= 1 << 16
	}
	if o.compared {
		n |= 1 << 17
	}
	return n
}

func operationOf(tag int32) operation {
	return operation{kernel.Op(tag), dtype.Type(uint8(tag >> 8)), tag&(1<<16) != 0, tag&(1<<17) != 0}
}

// pending is a request without a reply.
type pending struct {
	window *Window
	target int
	into   memory.Span
	from   memory.Span // which stays until there is a reply
}

// request asks that a target combines its elements with those of from, and puts those that were there into into; either
// may have none. The caller holds the engine's lock.
func (w *Window) request(from, into memory.Span, target int, offset int64, op kernel.Op, compared bool) {
	a, e := w.active, w.active.engine
	o := operation{op: op, typ: from.Type, fetching: into.Count > 0, compared: compared}
	size := from.Type.Size()
	n, each := max(from.Count, into.Count), e.Rings().Piece()/size
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
		id := e.Number()
		a.asked[id] = p
		w.waiting[target]++
		data := p.from
		if data.Count == 0 { // then what follows says how many are asked for
			data = memory.Of(dtype.Int64, []int64{int64(hi - lo)})
			p.from = data
		}
		e.SendRecord(w.group.Process(target), transport.Header{
			Kind: transport.ActiveRequest, Channel: w.group.Number(), Tag: o.tag(), Size: uint32(data.Bytes()),
			Bytes: uint64(offset) + uint64(lo*size), ID: id,
		}, data.Addr)
	}
}

// execute carries out a request of another process. Only the owner reaches the memory, so this is atomic.
func (a *Active) execute(from int, h transport.Header, data unsafe.Pointer) {
	o, own := operationOf(h.Tag), a.windows[h.Channel].own
	came := memory.Span{Addr: data, Count: int(h.Size) / o.typ.Size(), Type: o.typ}
	n := came.Count
	if o.compared {
		n = 1
	}
	if o.op == kernel.NoOp {
		n = int(*(*int64)(data))
	}
	there := memory.Span{Addr: unsafe.Add(own.Addr, int(h.Bytes)), Count: n, Type: o.typ}
	var was memory.Span
	if o.fetching {
		was = memory.Scratch(there)
		memory.Copy(was, there)
	}
	switch {
	case o.op == kernel.NoOp:
	case !o.compared:
		_ = reduce.Update(there, came, o.op) // whoever asked has checked that the type has the operator
	case bytes.Equal(memory.As[byte](there.Raw()), memory.As[byte](came.Slice(0, 1).Raw())):
		memory.Copy(there, came.Slice(1, 2))
	}
	a.engine.SendRecord(from, transport.Header{Kind: transport.ActiveReply, ID: h.ID, Size: uint32(was.Bytes())}, was.Addr)
}

// complete ends a request that has its reply.
func (a *Active) complete(_ int, h transport.Header, data unsafe.Pointer) {
	p := a.asked[h.ID]
	delete(a.asked, h.ID)
	if h.Size > 0 {
		memory.Move(p.into.Addr, data, int(h.Size))
	}
	p.window.waiting[p.target]--
}
