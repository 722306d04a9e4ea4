package container

import (
	"cmp"
	"fmt"
	"unsafe"

	"dtl/core/comm"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/kernel/move"
	"dtl/core/memory"
	"dtl/core/status"
)

// Take returns on every rank the elements of the given indices, which are the same on every rank: int64, in C order,
// negative ones counted from the end. The result has the shape of the indices. Collective, in exchanges of many
// elements each.
func Take(from Container, index comm.Array) (comm.Result, error) {
	const op = "getitem"
	c, err := from.Context().Comm()
	if err != nil {
		return comm.Result{}, status.In(op, err)
	}
	p, mine := inPlace(from)
	if mine == nil {
		defer p.Done()
	} else {
		p.state = &state{}
	}
	t := taking{c: c, part: p.state}
	if mine == nil {
		mine = t.prepare(index)
	}
	same := []int64{int64(len(index.Shape)), int64(index.Count), wire.Fingerprint(index.Span)}
	call := comm.Call{Op: op, Same: same, Text: describeIndices(index)}
	if mine == nil {
		call = p.Named(call)
	}
	if index.Count == 1 && mine == nil && p.typ.Size() <= int(unsafe.Sizeof(comm.Shared{})) {
		err = t.one(call)
	} else if err = c.Agree(call, mine); err == nil {
		err = status.In(op, t.all())
	}
	t.work.release()
	if err != nil {
		if t.result != nil {
			t.result.Release()
		}
		return comm.Result{}, err
	}
	out := memory.Span{Addr: t.result.Addr(), Count: index.Count, Type: p.typ}
	return comm.Result{Array: comm.Array{Span: out, Shape: index.Shape}, Storage: t.result}, nil
}

func describeIndices(index comm.Array) func() string {
	return func() string {
		if index.Count == 1 && index.Type == dtype.Int64 {
			return fmt.Sprint("index ", memory.As[int64](index.Span)[0])
		}
		return fmt.Sprintf("%d indices, fingerprint %x", index.Count, uint64(wire.Fingerprint(index.Span)))
	}
}

// describeValues tells values from others.
func describeValues(values comm.Array) string {
	return fmt.Sprintf("%d values of %s, fingerprint %x", values.Count, values.Type, uint64(wire.Fingerprint(values.Span)))
}

// taking is one Take.
type taking struct {
	c      *comm.Comm
	part   *state
	index  indices
	result *memory.Storage
	work   *workspace
	failed error // of a device, after which the rank goes on with the others
}

// prepare checks the indices, and allocates what is needed.
func (t *taking) prepare(index comm.Array) (err error) {
	if t.index, err = newIndices(index, t.part.layout.GlobalSize()); err != nil {
		return err
	}
	size := t.part.typ.Size()
	if t.result, err = memory.NewStorage(t.c.Memory(), (index.Count+1)*size, memory.Alignment); err != nil {
		return err
	}
	t.work, err = newWorkspace(t.c.Memory(), 2*(min(index.Count, batch)+1)*size+2*memory.Alignment)
	return err
}

// one takes one element: who has it shows it while the ranks agree.
func (t *taking) one(call comm.Call) error {
	at, size := newLocator(t.part), t.part.typ.Size()
	var globals, offset [1]int64
	var owner [1]int32
	t.index.part(0, globals[:])
	at.owners(globals[:], owner[:])
	if t.part.layout.Replicated() {
		owner[0] = int32(t.c.Rank())
	}
	at.offsets(globals[:], offset[:])
	var share comm.Shared
	mine := t.part.take(unsafe.Pointer(&share), offset[:t.here(offset[0])])
	all := make([]comm.Shared, t.c.Size())
	if err := t.c.AgreeSharing(call, mine, share, all); err != nil {
		return err
	}
	copy(unsafe.Slice((*byte)(t.result.Addr()), size), unsafe.Slice((*byte)(unsafe.Pointer(&all[owner[0]])), size))
	return nil
}

// here returns 1 for an element of this rank, else 0.
func (t *taking) here(offset int64) int {
	if offset < 0 {
		return 0
	}
	return 1
}

// all takes one batch after the other.
func (t *taking) all() error {
	size, at := t.part.typ.Size(), newLocator(t.part)
	alone := t.c.Size() == 1 || t.part.layout.Replicated()
	n := min(len(t.index.given), batch)
	globals, offsets, owners := make([]int64, n), make([]int64, n), make([]int32, n)
	for k := range batches(len(t.index.given)) {
		part := t.index.part(k, globals)
		out := unsafe.Add(t.result.Addr(), k*batch*size)
		at.offsets(part, offsets)
		if alone {
			t.failed = cmp.Or(t.failed, t.part.take(out, offsets[:len(part)]))
			continue
		}
		t.owners(at, part, offsets, owners)
		if err := t.exchange(out, offsets[:len(part)], owners[:len(part)]); err != nil {
			return err
		}
	}
	return t.part.settled(t.c, "getitem", t.failed)
}

// owners sets the owner of each index. Of two ranks it is this one or the other.
func (t *taking) owners(at *locator, globals, offsets []int64, owners []int32) {
	if t.c.Size() > 2 {
		at.owners(globals, owners)
		return
	}
	me := int32(t.c.Rank())
	for i := range globals {
		owners[i] = me ^ int32(uint64(offsets[i])>>63)
	}
}

// exchange sends this rank's elements of a batch to all others, and writes everybody's to out.
func (t *taking) exchange(out unsafe.Pointer, offsets []int64, owners []int32) error {
	size, me := t.part.typ.Size(), t.c.Rank()
	counts := tally(owners, t.c.Size())
	t.work.used = 0
	all, own := t.work.take(len(owners)+1, t.part.typ), t.work.take(counts[me]+1, t.part.typ).Slice(0, counts[me])
	if counts[me] > 0 {
		t.failed = cmp.Or(t.failed, t.part.take(own.Addr, offsets))
	}
	send := make([]memory.Span, len(counts))
	for rank := range send {
		send[rank] = own
	}
	if err := t.c.Exchange(send, streams(all, counts)); err != nil {
		return err
	}
	move.UnpackByOwner(out, all.Addr, owners, starts(counts), size)
	return nil
}

// Give writes values to the elements of the given indices. Both are the same on every rank; there is one value, or one
// an index, of which the last stays where an index occurs twice. Nothing but the agreement is communicated. Collective.
func Give(to Container, index, values comm.Array) error {
	const op = "setitem"
	c, err := to.Context().Comm()
	if err != nil {
		return status.In(op, err)
	}
	p, mine := inPlace(to)
	var x indices
	if mine == nil {
		defer p.Done()
		if x, mine = newIndices(index, p.layout.GlobalSize()); mine == nil {
			mine = checkValues(values, p.typ, index.Count)
		}
	}
	print := wire.Fingerprint(values.Span)
	call := comm.Call{Op: op, Same: []int64{int64(index.Count), wire.Fingerprint(index.Span), int64(values.Count), print},
		Text: func() string { return describeIndices(index)() + ", " + describeValues(values) }}
	if mine == nil {
		call = p.Named(call)
	}
	if err := c.Agree(call, mine); err != nil {
		return err
	}
	at, n := newLocator(p.state), min(index.Count, batch)
	globals, offsets := make([]int64, n), make([]int64, n)
	for k := range batches(index.Count) {
		part := x.part(k, globals)
		at.offsets(part, offsets)
		if values.Count == 1 {
			err = cmp.Or(err, p.putOne(offsets[:len(part)], values.Addr))
		} else {
			err = cmp.Or(err, p.put(offsets[:len(part)], unsafe.Add(values.Addr, k*batch*p.typ.Size())))
		}
	}
	return status.In(op, p.settled(c, op, err))
}

// checkValues refuses values of another type, or neither one nor one an index.
func checkValues(values comm.Array, t dtype.Type, n int) error {
	if values.Type != t {
		return status.New(status.InvalidArgument, "values of %s for elements of %s", values.Type, t)
	}
	if values.Count != 1 && values.Count != n {
		return status.New(status.InvalidArgument, "%d values for %d indices", values.Count, n)
	}
	return nil
}
