package container

import (
	"cmp"
	"math"
	"unsafe"

	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/kernel/move"
	"dtl/core/memory"
	"dtl/core/status"
)

// Get returns the elements of this rank's own list of indices, as Take does; each rank has another. With out, which has room for as
// many, they are written there, and nothing is returned. Collective, in exchanges of many elements each.
func Get(from Container, index comm.Array, out *comm.Array) (comm.Result, error) {
	r := request{op: "get", index: index, out: out}
	if err := r.run(from, r.fetch); err != nil {
		if r.result != nil {
			r.result.Release()
		}
		return comm.Result{}, err
	}
	if out != nil {
		return comm.Result{}, nil
	}
	return comm.Result{Array: comm.Array{Span: r.into, Shape: index.Shape}, Storage: r.result}, nil
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
	values  *comm.Array     // of Set
	out     *comm.Array     // of Get, if the caller has room for the elements
	into    memory.Span     // of Get: where the elements go
	result  *memory.Storage // of Get without out
	c       *comm.Comm
	part    Part
	x       indices
	at      *locator
	list    *workspace
	globals []int64 // of a batch
	offsets []int64 // of those: where they are in this rank's part, in bytes; negative for what others have
	away    []int64 // the indices that others have
	places  []int64 // where the elements of these are in the batch, in bytes
	owners  []int32
	coming  []int64
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
	defer func() {
		r.work.release()
		r.list.release()
	}()
	if err := c.AgreeSharing(call, mine, share, all); err != nil {
		return err
	}
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
	n, t := r.index.Count, r.part.typ
	switch {
	case r.values != nil:
		err = checkValues(*r.values, t, n)
	case r.out != nil:
		r.into = r.out.Span
		if r.into.Type != t || r.into.Count != n {
			err = status.New(status.InvalidArgument, "room for %d elements of %s for %d of %s", r.into.Count, r.into.Type, n, t)
		}
	default:
		r.result, err = memory.NewScratch(r.c.Memory(), max(n, 1)*t.Size(), memory.Alignment)
		if err == nil {
			r.into = memory.Span{Addr: r.result.Addr(), Count: n, Type: t}
		}
	}
	if err != nil {
		return err
	}
	r.at = newLocator(r.part.state)
	n = min(n, batch) + 1
	if r.list, err = newWorkspace(r.c.Memory(), 4*(8*n+memory.Alignment)); err != nil {
		return err
	}
	take := func() []int64 { return memory.As[int64](r.list.take(n, dtype.Int64)) }
	r.globals, r.offsets, r.away, r.places = take(), take(), take(), take()
	return nil
}

// question is a batch of indices on its way to their owners.
type question struct {
	own           []int64 // where this rank has the elements of the batch, in bytes, or something negative
	places        []int64 // where those that others have are in the batch, in bytes, by their owners
	asked, asking []int   // how many indices this rank sends to each, and gets from each
	offsets       []int64 // where this rank has what the others ask for
	work          *workspace
}

// ask sends the indices of a batch that others have to their owners, and finds the elements that others ask for here. The
// workspace has room for the elements of both, too.
func (r *request) ask(k int) (*question, error) {
	size := r.part.typ.Size()
	n := r.divide(k)
	q := &question{own: r.offsets[:len(r.x.batch(k))], asking: make([]int, r.c.Size())}
	away, err := r.byOwner(q, r.away[:n], r.places[:n])
	if err != nil {
		return nil, err
	}
	counts, err := r.c.Counts(wide(q.asked))
	if err != nil {
		return nil, err
	}
	total := 0
	for rank, n := range counts {
		q.asking[rank] = int(n)
		total += int(n)
	}
	if err = r.room((8+size)*(n+total+2) + 4*memory.Alignment); err != nil {
		return nil, err
	}
	q.work = r.work
	if cap(r.coming) < total {
		r.coming = make([]int64, total+total/4)
	}
	q.offsets = r.coming[:total]
	if err = r.tell(q, away); err != nil {
		return nil, err
	}
	r.at.offsets(q.offsets, q.offsets)
	return q, nil
}

// divide finds the offsets of a batch, and the indices whose elements others have, which have a negative offset. It returns how many these
// are. There is no branch for each, which would be guessed wrong half of the time.
func (r *request) divide(k int) int {
	size, n := int64(r.part.typ.Size()), 0
	given := r.x.batch(k)
	offsets, away, places := r.offsets[:len(given)], r.away[:len(given)+1], r.places[:len(given)+1]
	if r.at.within == nil {
		globals := r.x.part(k, r.globals)
		r.at.offsets(globals, offsets)
		for i, global := range globals {
			away[n], places[n] = global, int64(i)*size
			n += int(uint64(offsets[i]) >> 63)
		}
		return n
	}
	within, x := *r.at.within, r.x
	for i, global := range given {
		global = x.fromStart(global)
		at := within.offset(global)
		offsets[i], away[n], places[n] = at, global, int64(i)*size
		n += int(uint64(at) >> 63)
	}
	return n
}

// byOwner sorts indices that others have, and their places, by the owners, and returns the indices.
func (r *request) byOwner(q *question, away, places []int64) ([]int64, error) {
	ranks := r.c.Size()
	q.places = places
	if ranks <= 2 { // there is one other
		q.asked = make([]int, ranks)
		q.asked[ranks-1-r.c.Rank()] = len(away)
		return away, nil
	}
	if len(r.owners) < len(away) {
		r.owners = make([]int32, len(away))
	}
	owners := r.owners[:len(away)]
	r.at.owners(away, owners)
	q.asked = tally(owners, ranks)
	if len(away) == 0 {
		return away, nil
	}
	sorted := make([]int64, 2*len(away))
	from, to := starts(q.asked), starts(q.asked)
	move.PackByOwner(unsafe.Pointer(&sorted[0]), unsafe.Pointer(&away[0]), owners, from, 8)
	move.PackByOwner(unsafe.Pointer(&sorted[len(away)]), unsafe.Pointer(&places[0]), owners, to, 8)
	q.places = sorted[len(away):]
	return sorted[:len(away)], nil
}

// tell sends indices to their owners, in four bytes each where that is enough, and has the offsets of the question be what comes.
func (r *request) tell(q *question, away []int64) error {
	if r.part.layout.GlobalSize() > math.MaxUint32 {
		send, recv := q.work.take(len(away), dtype.Int64), q.work.take(len(q.offsets), dtype.Int64)
		copy(memory.As[int64](send), away)
		err := r.c.Exchange(streams(send, q.asked), streams(recv, q.asking))
		copy(q.offsets, memory.As[int64](recv))
		return err
	}
	send, recv := q.work.take(len(away), dtype.Uint32), q.work.take(len(q.offsets), dtype.Uint32)
	for i, narrow := 0, memory.As[uint32](send); i < len(narrow); i++ {
		narrow[i] = uint32(away[i])
	}
	err := r.c.Exchange(streams(send, q.asked), streams(recv, q.asking))
	for i, global := range memory.As[uint32](recv) {
		q.offsets[i] = int64(global)
	}
	return err
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
	size := r.part.typ.Size()
	out := unsafe.Add(r.into.Addr, k*batch*size)
	send := q.work.take(len(q.offsets)+1, r.part.typ).Slice(0, len(q.offsets))
	recv := q.work.take(len(q.places), r.part.typ)
	if len(q.offsets) > 0 {
		r.failed = cmp.Or(r.failed, r.part.gather(send.Addr, q.offsets))
	}
	if len(q.places) < len(q.own) {
		r.failed = cmp.Or(r.failed, r.part.gather(out, q.own))
	}
	if err := r.c.Exchange(streams(send, q.asking), streams(recv, q.asked)); err != nil {
		return err
	}
	move.Put(out, q.places, recv.Addr, size)
	return nil
}
