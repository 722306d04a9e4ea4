package container

import (
	"cmp"
	"unsafe"

	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/kernel/move"
	"dtl/core/memory"
)

// store is a round of Set: the values follow their indices.
func (r *request) store(k int) error {
	if r.part.layout.Replicated() && r.c.Size() > 1 {
		return r.storeAll(k)
	}
	q, err := r.ask(k)
	if err != nil {
		return err
	}
	send := q.work.take(len(q.places)+1, r.part.typ).Slice(0, len(q.places))
	recv := q.work.take(len(q.offsets), r.part.typ)
	if len(q.own) > 0 {
		values := r.value(k, len(q.own))
		move.Take(send.Addr, values, q.places, r.part.typ.Size())
		r.failed = cmp.Or(r.failed, r.part.put(q.own, values))
	}
	if err := r.c.Exchange(streams(send, q.asked), streams(recv, q.asking)); err != nil {
		return err
	}
	r.failed = cmp.Or(r.failed, r.part.put(q.offsets, recv.Addr))
	return nil
}

// value returns where the values of a batch lie; one value is repeated.
func (r *request) value(k, n int) unsafe.Pointer {
	size := r.part.typ.Size()
	if r.values.Count > 1 {
		return unsafe.Add(r.values.Addr, k*batch*size)
	}
	repeated := make([]byte, (n+1)*size)
	for i := range n {
		copy(repeated[i*size:], unsafe.Slice((*byte)(r.values.Addr), size))
	}
	return unsafe.Pointer(&repeated[0])
}

// storeAll is store where every rank has every element: all get all lists, in rank order.
func (r *request) storeAll(k int) error {
	part, size := r.x.part(k, r.globals), r.part.typ.Size()
	work, err := newWorkspace(r.c.Memory(), (8+size)*len(part)+2*memory.Alignment)
	if err != nil {
		return err
	}
	defer work.release()
	own, values := work.take(len(part), dtype.Int64), work.take(len(part), r.part.typ)
	if len(part) > 0 {
		copy(memory.As[int64](own), part)
		memory.Move(values.Addr, r.value(k, len(part)), values.Bytes())
	}
	indices, err := r.c.Allgatherv(comm.Array{Span: own, Shape: []int64{int64(len(part))}}, nil)
	if err != nil {
		return err
	}
	defer indices.Storage.Release()
	all, err := r.c.Allgatherv(comm.Array{Span: values.Raw(), Shape: []int64{int64(values.Bytes())}}, nil)
	if err != nil {
		return err
	}
	defer all.Storage.Release()
	offsets := make([]int64, indices.Count)
	r.at.offsets(memory.As[int64](indices.Span), offsets)
	r.failed = cmp.Or(r.failed, r.part.put(offsets, all.Addr))
	return nil
}
