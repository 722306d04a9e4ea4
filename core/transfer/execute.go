package transfer

import (
	"errors"
	"unsafe"

	"dtl/core/comm"
	"dtl/core/memory"
	"dtl/core/phase"
	"dtl/core/status"
)

// Transfer is a plan with the memory to execute it on one rank, once.
type Transfer struct {
	comm    *comm.Comm
	plan    *Plan
	limit   int64
	memory  [2]Memory
	own     *pair       // what stays on this rank
	others  []*Transfer // of which what stays on this rank is moved, too
	out, in []*flow     // by how far the other rank is ahead or behind; nil where nothing goes
	storage *memory.Storage
	middle  unsafe.Pointer // of what stays on this rank, on its way between a device and the host
	send    sender
	recv    receiver
	bytes   int64 // of this rank's part that arrive
	known   bool
}

// Execute moves the elements. src and dst are this rank's parts, which do not overlap; limit, the same on all ranks,
// is the most bytes of temporary memory on this rank, or 0 for DefaultLimit. It is never less than four elements, one
// for each buffer. If a rank cannot have its buffers, every rank gets an error and nothing is moved. Collective, also
// for the ranks of c that have no part in it.
func (p *Plan) Execute(c *comm.Comm, src, dst Memory, limit int64) error {
	t, err := p.Prepare(c, src, dst, limit)
	if err := c.Agree(comm.Call{Op: "transfer", Same: []int64{limit}}, err); err != nil {
		if t != nil {
			t.Release()
		}
		return err
	}
	return t.Run()
}

// Prepare does what of Execute can fail on one rank alone, and allocates the buffers. A caller that agrees with the
// other ranks about more than this does it between Prepare and Run. It calls Run or Release. Local.
func (p *Plan) Prepare(c *comm.Comm, src, dst Memory, limit int64) (*Transfer, error) {
	t, err := p.prepare(c, src, dst, limit)
	if err == nil && p.link == nil { // else only Run knows whether buffers are needed
		err = t.allocate()
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// prepare is Prepare without buffers.
func (p *Plan) prepare(c *comm.Comm, src, dst Memory, limit int64) (*Transfer, error) {
	if limit < 0 {
		return nil, status.New(status.InvalidArgument, "limit of %d bytes is negative", limit)
	}
	if n := p.ranks(); n > c.Size() {
		return nil, status.New(status.InvalidArgument, "plan for %d ranks executed on %d", n, c.Size())
	}
	src.waits, dst.waits = dst.Place < memory.Host, src.Place < memory.Host
	t := &Transfer{comm: c, plan: p, limit: limit, memory: [2]Memory{src, dst}}
	size, me, chunk := c.Size(), c.Rank(), p.chunkOf(limit)
	t.own, _ = p.pair(me, me)
	t.out, t.in = make([]*flow, size-1), make([]*flow, size-1)
	if err := p.check(me, t.memory); err != nil {
		return nil, err
	}
	for k := range size - 1 {
		to, from := (me+k+1)%size, (me-k-1+size)%size
		if q, ok := p.pair(me, to); ok {
			t.out[k] = q.newFlow(0, to, src, chunk)
		}
		if q, ok := p.pair(from, me); ok {
			t.in[k] = q.newFlow(1, from, dst, chunk)
			t.bytes += q.bytes
		}
	}
	return t, nil
}

// check refuses memory of another number of dimensions where the rank has elements.
func (p *Plan) check(me int, memory [2]Memory) error {
	for s, name := range sideNames {
		rank, l := p.part(s, me), p.sides[s].Layout
		if n := len(memory[s].Strides); rank >= 0 && n != len(p.dims) && l.LocalSize(rank) > 0 {
			return status.New(status.InvalidArgument, "%s memory has %d strides for %d dimensions", name, n, len(p.dims))
		}
	}
	return nil
}

// allocate gets all buffers at once.
func (t *Transfer) allocate() error {
	chunk := t.plan.chunkOf(t.limit)
	send, recv := buffersOf(t.out, chunk), buffersOf(t.in, chunk)
	t.send = sender{queue: queue{comm: t.comm, flows: t.out, slot: send.slot, slots: send.slots()}}
	t.recv = receiver{queue: queue{comm: t.comm, flows: t.in, slot: recv.slot, slots: recv.slots()}}
	ahead := t.send.slot * t.send.slots
	within := ahead + t.recv.slot*t.recv.slots
	bytes := within + t.between()
	if bytes == 0 {
		return nil
	}
	storage, err := memory.NewStorage(t.comm.Memory(), int(bytes), 64)
	if err != nil {
		return err
	}
	t.storage = storage
	t.send.buffer, t.recv.buffer, t.middle = at(storage, 0), at(storage, ahead), at(storage, within)
	return nil
}

// Leave has Run leave what stays on this rank to the caller. Local.
func (t *Transfer) Leave() { t.own = nil }

// Release gives the buffers back, and moves nothing.
func (t *Transfer) Release() {
	if t.storage != nil {
		t.storage.Release()
		t.storage = nil
	}
}

// Run moves the elements and releases the transfer. A rank where a message fails goes on with the others, so that
// nobody waits for what would never come; it then returns the failures, and what its part holds is not defined.
// Collective.
//
// The order is what keeps ranks from waiting for each other in a circle. Message n of step k, to the rank k ahead and
// from the rank k behind, is received only after the rank has sent its own message n of step k. So all that a message
// waits for comes earlier in the order of steps and numbers.
func (t *Transfer) Run() error {
	defer t.Release()
	t.recv.phase = phase.Begin("redistribution", "exchange", t.bytes)
	defer t.recv.phase.End()
	if t.plan.link != nil {
		ready, err := t.plan.link.Ready()
		if err == nil && ready {
			return t.runLinked()
		}
		if err == nil {
			err = t.comm.Agree(comm.Call{Op: "buffers of a transfer"}, t.allocate())
		}
		if t.known = err != nil; t.known {
			return err
		}
	}
	t.recv.fill()
	t.send.ahead()
	kept := t.keep()
	for _, other := range t.others {
		kept = errors.Join(kept, other.keep())
	}
	for k := range t.in {
		for n := 0; ; n++ {
			t.send.reach(k, n)
			if !t.recv.take(k) && t.send.step > k {
				break
			}
			t.recv.fill()
			t.send.ahead()
		}
	}
	t.send.finish()
	return errors.Join(kept, t.send.failed, t.recv.failed)
}
