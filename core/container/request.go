package container

import (
	"cmp"
	"unsafe"

	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/kernel/move"
	"dtl/core/memory"
	"dtl/core/status"
)

// Get returns the elements of this rank's own list of indices, as Take does; each rank has another. Collective, in
// exchanges of many elements each.
func Get(from Container, index comm.Array) (comm.Result, error) {
	r := request{op: "get", index: index}
	if err := r.run(from, r.fetch); err != nil {
		if r.result != nil {
			r.result.Release()
		}
		return comm.Result{}, err
	}
	out := memory.Span{Addr: r.result.Addr(), Count: index.Count, Type: r.part.typ}
	return comm.Result{Array: comm.Array{Span: out, Shape: index.Shape}, Storage: r.result}, nil
}

// Set writes values to the elements of this rank's own list of indices: one value, or one an index, of which the last
// stays where an index occurs twice in the list. Where it is in the lists of several ranks, one of theirs stays.
// Collective, in exchanges of many elements each.
func Set(to Container, index, values comm.Array) error {
	r := request{op: "put", index: index, values: &values}
	return r.run(to, r.store)
}

// request is one Get or Set.
type request struct {
	op      string
	index   comm.Array
	values  *comm.Array // of Set
	c       *comm.Comm
	part    Part
	x       indices
	at      *locator
	result  *memory.Storage // of Get
	globals []int64
	offsets []int64
	owners  []int32
	work    *workspace
	failed  error // of a device, after which the rank goes on with the others
}

// run agrees, and calls round as often as the rank with the longest list needs.
func (r *request) run(on Container, round func(k int) error) error {
	c, err := on.Context().Comm()
	if err != nil {
		return status.In(r.op, err)
	}
	r.c = c
	var mine error
	if r.part, mine = inPlace(on); mine == nil {
		defer r.part.Done()
		mine = r.prepare()
	}
	call := comm.Call{Op: r.op}
	if mine == nil {
		call = r.part.Named(call)
	}
	all := make([]comm.Shared, c.Size())
	share := comm.Shared{int64(batches(r.index.Count))}
	if err := c.AgreeSharing(call, mine, share, all); err != nil {
		return err
	}
	defer func() { r.work.release() }()
	rounds := 0
	for _, s := range all {
		rounds = max(rounds, int(s[0]))
	}
	for k := range rounds {
		if err := round(k); err != nil {
			return status.In(r.op, err)
		}
	}
	return status.In(r.op, r.part.settled(c, r.op, r.failed))
}

// prepare checks the arguments, and allocates.
func (r *request) prepare() (err error) {
	if r.x, err = newIndices(r.index, r.part.layout.GlobalSize()); err != nil {
		return err
	}
	if r.values != nil {
		err = checkValues(*r.values, r.part.typ, r.index.Count)
	} else {
		r.result, err = memory.NewScratch(r.c.Memory(), max(r.index.Count, 1)*r.part.typ.Size(), memory.Alignment)
	}
	n := min(r.index.Count, batch)
	r.at = newLocator(r.part.state)
	r.globals, r.owners = make([]int64, n), make([]int32, n)
	return err
}

// question is a batch of indices on its way to their owners.
type question struct {
	asked, asking []int // how many indices this rank sends to each, and gets from each
	offsets       []int64
	work          *workspace
}

// ask sends a batch of indices to their owners, and finds the elements that others ask for here. The workspace has room
// for the elements of both, too.
func (r *request) ask(k int) (*question, error) {
	part := r.x.part(k, r.globals)
	owners := r.owners[:len(part)]
	r.at.owners(part, owners)
	if r.part.layout.Replicated() {
		r.toAll(owners)
	}
	q := &question{asked: tally(owners, r.c.Size()), asking: make([]int, r.c.Size())}
	counts, err := r.c.Counts(wide(q.asked))
	if err != nil {
		return nil, err
	}
	total := 0
	for rank, n := range counts {
		q.asking[rank] = int(n)
		total += int(n)
	}
	size := r.part.typ.Size()
	if err = r.room((8+size)*(len(part)+total+2) + 4*memory.Alignment); err != nil {
		return nil, err
	}
	q.work = r.work
	send, recv := q.work.take(len(part), dtype.Int64), q.work.take(total, dtype.Int64)
	if len(part) > 0 {
		move.PackByOwner(send.Addr, unsafe.Pointer(&part[0]), owners, starts(q.asked), 8)
	}
	if err := r.c.Exchange(streams(send, q.asked), streams(recv, q.asking)); err != nil {
		return nil, err
	}
	if cap(r.offsets) < total {
		r.offsets = make([]int64, total+total/4)
	}
	q.offsets = r.offsets[:total]
	r.at.offsets(memory.As[int64](recv), q.offsets)
	return q, nil
}

// room makes sure that the workspace has so many bytes, none of them used. The rounds share one: the allocator would keep many of
// other sizes.
func (r *request) room(bytes int) (err error) {
	if r.work == nil || r.work.storage.Size() < bytes {
		r.work.release()
		r.work, err = newWorkspace(r.c.Memory(), bytes+bytes/4)
	}
	if err == nil {
		r.work.used = 0
	}
	return err
}

// toAll makes this rank the owner: every rank has every element, and reads its own.
func (r *request) toAll(owners []int32) {
	for i := range owners {
		owners[i] = int32(r.c.Rank())
	}
}

func wide(counts []int) []int64 {
	all := make([]int64, len(counts))
	for i, n := range counts {
		all[i] = int64(n)
	}
	return all
}

// fetch is a round of Get: what the owners found comes back by the way that the indices went.
func (r *request) fetch(k int) error {
	q, err := r.ask(k)
	if err != nil {
		return err
	}
	size, n := r.part.typ.Size(), len(r.x.part(k, r.globals))
	send := q.work.take(len(q.offsets)+1, r.part.typ).Slice(0, len(q.offsets))
	recv := q.work.take(n, r.part.typ)
	if len(q.offsets) > 0 {
		r.failed = cmp.Or(r.failed, r.part.take(send.Addr, q.offsets))
	}
	if err := r.c.Exchange(streams(send, q.asking), streams(recv, q.asked)); err != nil {
		return err
	}
	move.UnpackByOwner(unsafe.Add(r.result.Addr(), k*batch*size), recv.Addr, r.owners[:n], starts(q.asked), size)
	return nil
}
