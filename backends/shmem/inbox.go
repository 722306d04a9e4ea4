package shmem

import (
	"slices"
	"unsafe"

	"dtl/core/backend"
)

// inbox matches what came on a channel with what is received there, both in order. The world's lock covers it.
type inbox struct {
	arrived []arrival  // not received yet
	posted  []*request // receives that wait; none matches what is in arrived
}

// arrival is a short message, or the announcement of a long one, which has a number.
type arrival struct {
	source, tag, bytes int
	id                 uint64
	data               []byte
}

func (a *arrival) matches(source, tag int) bool {
	return (source == backend.AnySource || source == a.source) && (tag == backend.AnyTag || tag == a.tag)
}

// deliver gives what came to the first receive that waits for it, or keeps it, with a copy of its data.
func (in *inbox) deliver(w *world, a arrival, data unsafe.Pointer) {
	if i := slices.IndexFunc(in.posted, func(r *request) bool { return a.matches(r.source, r.tag) }); i >= 0 {
		r := in.posted[i]
		in.posted = slices.Delete(in.posted, i, i+1)
		w.match(r, &a, data)
		return
	}
	if a.id == 0 {
		a.data = slices.Clone(unsafe.Slice((*byte)(data), a.bytes))
	}
	in.arrived = append(in.arrived, a)
}

// take gives a receive the first message that matches, and reports whether there is one.
func (in *inbox) take(w *world, r *request) bool {
	i := slices.IndexFunc(in.arrived, func(a arrival) bool { return a.matches(r.source, r.tag) })
	if i < 0 {
		return false
	}
	a := in.arrived[i]
	in.arrived = slices.Delete(in.arrived, i, i+1)
	w.match(r, &a, unsafe.Pointer(unsafe.SliceData(a.data)))
	return true
}

// withdraw takes a receive back, and reports whether it still waited.
func (in *inbox) withdraw(r *request) bool {
	i := slices.Index(in.posted, r)
	if i < 0 {
		return false
	}
	in.posted = slices.Delete(in.posted, i, i+1)
	return true
}

// match has a receive filled with a message: at once, or by its sender, who is told that there is room.
func (w *world) match(r *request, a *arrival, data unsafe.Pointer) {
	r.status = backend.Status{Source: r.comm.rankOf(a.source), Tag: a.tag, Bytes: a.bytes}
	if a.id == 0 {
		r.append(data, a.bytes)
		return
	}
	id := w.number()
	w.receives[id] = r
	w.send(a.source, &outgoing{header: header{kind: invite, id: a.id, bytes: id}})
}
