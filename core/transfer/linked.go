package transfer

import (
	"errors"
	"unsafe"

	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/memory"
)

// linkedLimit is the most bytes of a device's memory that a transfer takes where the devices of all ranks are connected: each round waits
// for all ranks, so there are to be few.
const linkedLimit = 64 << 20

// even is how many elements a message of a round is a multiple of, if it has as many: then all messages begin where a device reads
// and writes fast.
const even = 256

// widest says of a rank what all must know to cut their streams alike: how many others it sends to or receives from, whichever are
// more, and the most bytes of them.
func widest(out, in []*flow) (share comm.Shared) {
	for _, flows := range [2][]*flow{out, in} {
		peers := int64(0)
		for _, f := range flows {
			if f != nil {
				peers++
				share[1] = max(share[1], f.bytes)
			}
		}
		share[0] = max(share[0], peers)
	}
	return share
}

// chunkOfRound returns the most bytes that a rank sends to another in one round, of what all ranks share: half of the limit is for
// what is sent.
func (p *Plan) chunkOfRound(limit int64, all []comm.Shared) (chunk, longest int64) {
	peers := int64(1)
	for _, share := range all {
		peers, longest = max(peers, share[0]), max(longest, share[1])
	}
	chunk = p.pieces(limit, linkedLimit, 2*peers)
	return max(chunk-chunk%(even*p.item), min(chunk, even*p.item)), longest
}

// runLinked is Run where the devices of all ranks are connected: in each round, every rank sends the next piece of each of its streams,
// and receives one. A rank that cannot go on ends the transfer on all.
func (t *Transfer) runLinked() error {
	failed := t.keep()
	all := make([]comm.Shared, t.comm.Size())
	if err := t.comm.AgreeSharing(comm.Call{Op: "rounds of a transfer"}, failed, widest(t.out, t.in), all); err != nil {
		t.known = true
		return err
	}
	chunk, longest := t.plan.chunkOfRound(t.limit, all)
	at, failed := t.inRounds(chunk)
	for done := int64(0); done < longest; done += chunk {
		send, packed := t.cut(t.out, at)
		recv, arrived := t.cut(t.in, unsafe.Add(at, t.send.slot))
		for _, it := range packed {
			if failed == nil {
				failed = it.flow.move(it.addr, it.n)
			}
		}
		streams := []uintptr{t.memory[0].Queue.Stream(), t.memory[1].Queue.Stream()}
		if err := t.plan.link.Exchange(comm.Call{Op: "round of a transfer"}, failed, streams, send, recv); err != nil {
			t.known = true
			return err
		}
		for _, it := range arrived {
			failed = errors.Join(failed, it.flow.move(it.addr, it.n))
		}
	}
	return failed
}

// inRounds has all streams go in pieces, and returns the scratch memory for what of a round is packed: first for what is sent.
func (t *Transfer) inRounds(chunk int64) (unsafe.Pointer, error) {
	from := t.memory[0].Queue
	for way, flows := range [2][]*flow{t.out, t.in} {
		bytes := int64(0)
		for _, f := range flows {
			if f == nil {
				continue
			}
			f.chunk, f.apart, f.packed, f.buffer = chunk, false, f.own.kept > 0, memory.OnDevice(from.Device().Number())
			if f.packed {
				bytes += min(chunk, f.bytes)
			}
		}
		if way == 0 {
			t.send.slot = bytes
		} else {
			t.recv.slot = bytes
		}
	}
	if t.send.slot+t.recv.slot == 0 {
		return nil, nil
	}
	space := from.Memory()
	if from.Stream() != t.memory[1].Queue.Stream() {
		space = from.Device().Memory()
	}
	storage, err := memory.NewScratch(space, int(t.send.slot+t.recv.slot), memory.Alignment)
	if err != nil {
		return nil, err
	}
	t.storage = storage
	return storage.Addr(), nil
}

// cut takes the next message of each stream, by rank. Those that are packed have memory one after the other, and are in a list, too.
func (t *Transfer) cut(flows []*flow, at unsafe.Pointer) (all []memory.Span, packed []item) {
	all = make([]memory.Span, t.comm.Size())
	for _, f := range flows {
		if f == nil || f.left == 0 {
			continue
		}
		it := item{message: f.next(), flow: f}
		if f.packed {
			it.addr, at = at, unsafe.Add(at, it.n)
			packed = append(packed, it)
		}
		all[f.peer] = memory.Span{Addr: it.addr, Count: int(it.n), Type: dtype.Uint8, Place: f.memory.Place}
	}
	return all, packed
}

// extraLinked is Extra where the devices of all ranks are connected.
func (p *Plan) extraLinked(limit int64) int64 {
	n := p.ranks()
	out, in, all := make([][]*flow, n), make([][]*flow, n), make([]comm.Shared, n)
	for from := range n {
		for to := range n {
			if q, ok := p.pair(from, to); ok && from != to {
				out[from] = append(out[from], q.newFlow(0, to, Memory{Strides: q.dense(0)}, 0))
				in[to] = append(in[to], q.newFlow(1, from, Memory{Strides: q.dense(1)}, 0))
			}
		}
	}
	for rank := range all {
		all[rank] = widest(out[rank], in[rank])
	}
	chunk, _ := p.chunkOfRound(limit, all)
	most := int64(0)
	for rank := range n {
		bytes := int64(0)
		for _, f := range append(out[rank], in[rank]...) {
			if f.own.kept > 0 || len(p.dims) > 1 {
				bytes += min(chunk, f.bytes)
			}
		}
		most = max(most, bytes)
	}
	return most
}
