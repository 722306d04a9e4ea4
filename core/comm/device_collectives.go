package comm

import (
	"fmt"

	"dtl/core/backend"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// Placed is elements of a call among devices: on this rank's device, with the stream of the driver's that works on them, or on the
// host. Without a type there are none.
type Placed struct {
	memory.Span
	Stream uintptr
}

// deviceCall is one call among devices.
type deviceCall struct {
	name       string
	send, recv Placed
	combines   bool
	op         kernel.Op
	root       int64 // -1: there is none
	queue      func(send, recv memory.Span) error
	scratch    []*memory.Storage // which stays until the call is done
}

// Allreduce combines the elements of all ranks, as Comm.Allreduce does, on their devices.
func (d *Devices) Allreduce(send, recv Placed, op kernel.Op) error {
	call := &deviceCall{name: "allreduce", send: send, recv: recv, combines: true, op: op, root: -1}
	call.queue = func(send, recv memory.Span) error {
		if d.Combining(send.Type, op) == ByLink {
			return d.link.AllReduce(send, recv, op)
		}
		mine, err := d.fold(call, d.divided(send), op)
		if err != nil {
			return err
		}
		parts := make([]memory.Span, d.on.size)
		for rank := range parts {
			parts[rank] = mine
		}
		return d.link.Exchange(parts, d.divided(recv))
	}
	return d.run(call, checkOutput(recv.Span, send.Span, send.Count))
}

// Reduce combines the elements of all ranks on root, as Comm.Reduce does, on their devices.
func (d *Devices) Reduce(send, recv Placed, op kernel.Op, root int64) error {
	call := &deviceCall{name: "reduce", send: send, recv: recv, combines: true, op: op, root: root}
	call.queue = func(send, recv memory.Span) error {
		if d.Combining(send.Type, op) == ByLink {
			return d.link.Reduce(send, recv, op, int(root))
		}
		mine, err := d.fold(call, d.divided(send), op)
		if err != nil {
			return err
		}
		parts, into := make([]memory.Span, d.on.size), make([]memory.Span, d.on.size)
		parts[root] = mine
		if int64(d.on.rank) == root {
			into = d.divided(recv)
		}
		return d.link.Exchange(parts, into)
	}
	return d.run(call, d.atRoot(call, send.Count))
}

// ReduceScatter combines the elements of all ranks and leaves each a part, as Comm.ReduceScatter does, on their devices. All parts have one length.
func (d *Devices) ReduceScatter(send, recv Placed, op kernel.Op) error {
	call := &deviceCall{name: "reduce_scatter", send: send, recv: recv, combines: true, op: op, root: -1}
	call.queue = func(send, recv memory.Span) error {
		if d.Combining(send.Type, op) == ByLink {
			return d.link.ReduceScatter(send, recv, op)
		}
		mine, err := d.fold(call, d.divided(send), op)
		if err != nil {
			return err
		}
		return d.queue.Copy(recv, mine)
	}
	return d.run(call, d.parts(send.Span, recv.Span))
}

// Broadcast copies root's send to every rank's recv, of which root may have none.
func (d *Devices) Broadcast(send, recv Placed, root int64) error {
	call := &deviceCall{name: "broadcast", send: send, recv: recv, root: root}
	if int64(d.on.rank) != root {
		call.send = recv // what all ranks pass alike is told by it
	}
	call.queue = func(send, recv memory.Span) error {
		if recv.Type == 0 {
			return d.link.Broadcast(send, int(root))
		}
		if recv.Addr != send.Addr {
			if err := d.queue.Copy(recv, send); err != nil {
				return err
			}
		}
		return d.link.Broadcast(recv, int(root))
	}
	if call.recv.Type == 0 {
		return d.run(call, nil)
	}
	return d.run(call, checkOutput(call.recv.Span, call.send.Span, call.send.Count))
}

// Allgather gives every rank every rank's send.
func (d *Devices) Allgather(send, recv Placed) error {
	call := &deviceCall{name: "allgather", send: send, recv: recv, root: -1, queue: d.link.AllGather}
	return d.run(call, checkOutput(recv.Span, send.Span, send.Count*d.on.size))
}

// Gather gives root every rank's send.
func (d *Devices) Gather(send, recv Placed, root int64) error {
	call := &deviceCall{name: "gather", send: send, recv: recv, root: root}
	call.queue = func(send, recv memory.Span) error {
		parts, into := make([]memory.Span, d.on.size), make([]memory.Span, d.on.size)
		parts[root] = send
		if int64(d.on.rank) == root {
			into = d.divided(recv)
		}
		return d.link.Exchange(parts, into)
	}
	return d.run(call, d.atRoot(call, send.Count*d.on.size))
}

// Scatter gives each rank its part of root's send.
func (d *Devices) Scatter(send, recv Placed, root int64) error {
	here := int64(d.on.rank) == root
	call := &deviceCall{name: "scatter", send: send, recv: recv, root: root}
	mine := error(nil)
	if here {
		mine = d.parts(send.Span, recv.Span)
	}
	call.queue = func(send, recv memory.Span) error {
		parts, into := make([]memory.Span, d.on.size), make([]memory.Span, d.on.size)
		into[root] = recv
		if here {
			parts = d.divided(send)
		}
		return d.link.Exchange(parts, into)
	}
	return d.run(call, mine)
}

// Alltoall gives rank r the r-th part of every rank's send.
func (d *Devices) Alltoall(send, recv Placed) error {
	call := &deviceCall{name: "alltoall", send: send, recv: recv, root: -1}
	call.queue = func(send, recv memory.Span) error { return d.link.Exchange(d.divided(send), d.divided(recv)) }
	mine := checkOutput(recv.Span, send.Span, send.Count)
	if mine == nil && send.Count%d.on.size != 0 {
		mine = status.New(status.InvalidArgument, "%d elements do not have one entry for each of %d ranks", send.Count, d.on.size)
	}
	return d.run(call, mine)
}

// atRoot checks what root passes of a call whose result it alone gets.
func (d *Devices) atRoot(call *deviceCall, count int) error {
	if err := d.on.checkRank("root", call.root); err != nil {
		return err
	}
	if int64(d.on.rank) != call.root {
		call.recv = Placed{}
		return nil
	}
	return checkOutput(call.recv.Span, call.send.Span, count)
}

// parts checks that there is a part of send for each rank, of recv's length.
func (d *Devices) parts(send, recv memory.Span) error {
	if send.Type != recv.Type || send.Count != recv.Count*d.on.size {
		return status.New(status.InvalidArgument, "%d elements of %s for %d ranks, of which each gets %d of %s", send.Count, send.Type,
			d.on.size, recv.Count, recv.Type)
	}
	return nil
}

// divided returns a part for each rank, of about one length.
func (d *Devices) divided(s memory.Span) []memory.Span {
	parts := make([]memory.Span, d.on.size)
	for rank := range parts {
		parts[rank] = s.Slice(rank*s.Count/d.on.size, (rank+1)*s.Count/d.on.size)
	}
	return parts
}

// run makes a call, of which mine is what is wrong with it on this rank.
func (d *Devices) run(call *deviceCall, mine error) error {
	return d.on.inTurn(call.name, func() error {
		defer call.release()
		send, recv, mine := d.prepare(call, mine)
		if err := d.on.agree(call.described(d.on.size), mine, Shared{}, nil); err != nil {
			return err
		}
		if send.Count == 0 && recv.Count == 0 {
			return nil
		}
		if err := d.through(call.name, func() error { return call.queue(send, recv) }); err != nil {
			return err
		}
		if call.recv.Place == memory.Host && recv.Count > 0 {
			return d.queue.Copy(call.recv.Span, recv)
		}
		return nil
	})
}

// through has all ranks queue what they have agreed on, and returns when it is done on this rank's device.
func (d *Devices) through(name string, queue func() error) error {
	err := queue()
	if err == nil {
		err = d.settle(name)
	}
	if err = d.on.agree(Call{Op: name + " is queued"}, err, Shared{}, nil); err != nil {
		return d.broke(err)
	}
	if err = d.wait(name); err != nil {
		d.giveUp(name, err)
	}
	return err
}

// described returns the part of a call that must be the same on all ranks: where the lengths of parts differ, the length of one.
func (call *deviceCall) described(size int) Call {
	of := call.send.Span
	if call.name == "scatter" {
		of = call.recv.Span
	}
	operator := ""
	if call.combines {
		operator = fmt.Sprintf(", %s", call.op)
	}
	root := ""
	if call.root >= 0 {
		root = fmt.Sprintf(", root %d", call.root)
	}
	return Call{
		Op: call.name, On: onGPUs{}, Same: []int64{int64(of.Type), int64(of.Count), int64(call.op), call.root},
		Text: func() string { return fmt.Sprintf("%d × %s%s%s", of.Count, of.Type, operator, root) },
	}
}

type onGPUs struct{}

// String says it for the error of ranks that do not make the same call.
func (onGPUs) String() string { return "GPUs" }

// prepare returns where the device finds the elements: those of the host in memory that stays until the call is done.
func (d *Devices) prepare(call *deviceCall, mine error) (send, recv memory.Span, err error) {
	if err = mine; err == nil {
		err = d.failed
	}
	if err == nil && call.root >= 0 {
		err = d.on.checkRank("root", call.root)
	}
	if err == nil && call.combines {
		if err = checkElements(call.send.Span, call.op); err == nil && d.Combining(call.send.Type, call.op) == ByHost {
			err = status.New(status.Unsupported, "NCCL does not combine elements of %s by %s", call.send.Type, call.op)
		}
	}
	if err == nil {
		send, err = d.there(call, call.send, true)
	}
	if err == nil && call.send.Addr == call.recv.Addr && call.send.Place == call.recv.Place && call.send.Count == call.recv.Count &&
		call.name != "alltoall" {
		return send, send, nil
	}
	if err == nil {
		recv, err = d.there(call, call.recv, false)
	}
	if err == nil && overlap(send, recv) && !call.inPlace(d.on.rank, send, recv) {
		var room memory.Span
		if room, err = d.room(call, send); err == nil {
			err = d.queue.Copy(room, send)
		}
		send = room
	}
	return send, recv, err
}

// inPlace reports whether a call takes its elements from where the result goes.
func (call *deviceCall) inPlace(rank int, send, recv memory.Span) bool {
	return call.name == "allgather" && send.Addr == recv.Slice(rank*send.Count, (rank+1)*send.Count).Addr
}

// there returns elements on the link's device, after what is queued on them.
func (d *Devices) there(call *deviceCall, p Placed, filled bool) (memory.Span, error) {
	if p.Type == 0 || p.Count == 0 {
		return p.Span, nil
	}
	if p.Place != memory.Host {
		on := d.queue.Device()
		if p.Place.Device() != on.Number() {
			return p.Span, status.New(status.InvalidArgument, "the elements are %s, and NCCL connects GPU %d of this rank", p.Place, on.Number())
		}
		return p.Span, on.Order(p.Stream, d.queue.Stream())
	}
	room, err := d.room(call, p.Span)
	if err == nil && filled {
		err = d.queue.Copy(room, p.Span)
	}
	return room, err
}

// room returns memory of the device for as many elements.
func (d *Devices) room(call *deviceCall, like memory.Span) (memory.Span, error) {
	storage, err := memory.NewScratch(d.queue.Memory(), like.Bytes(), memory.Alignment)
	if err != nil {
		return memory.Span{}, err
	}
	call.scratch = append(call.scratch, storage)
	return memory.Span{Addr: storage.Addr(), Count: like.Count, Type: like.Type, Place: storage.Place()}, nil
}

func (call *deviceCall) release() {
	for _, storage := range call.scratch {
		storage.Release()
	}
}

// fold gives each rank its part of all ranks' elements, and combines these in rank order by a kernel, so that all results have the
// same bits.
func (d *Devices) fold(call *deviceCall, parts []memory.Span, op kernel.Op) (memory.Span, error) {
	mine := parts[d.on.rank]
	room, err := d.room(call, memory.Span{Count: mine.Count * d.on.size, Type: mine.Type})
	if err != nil {
		return room, err
	}
	came := make([]memory.Span, d.on.size)
	for rank := range came {
		came[rank] = room.Slice(rank*mine.Count, (rank+1)*mine.Count)
	}
	if err = d.link.Exchange(parts, came); err == nil {
		err = d.settle(call.name)
	}
	for _, next := range came[1:] {
		if err == nil && mine.Count > 0 {
			err = d.queue.Elementwise(folds[op], came[0], mine.Type, nil, [3]backend.Operand{{Span: came[0]}, {Span: next}})
		}
	}
	return came[0], err
}
