package hashmap

import (
	"unsafe"

	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/memory"
)

// passage is the way of one call's keys to their owners, and of the answers back.
type passage struct {
	*task
	m        *Map
	c        *comm.Comm
	plan     *plan
	round    int       // the most keys that a rank sends at once
	arriving [][]int64 // by range and rank: how many keys come from it
	storage  *memory.Storage
	at       sweep // whose keys are out
	areas
	journal *Journal  // of what is put
	visits  []visited // the rounds so far, where something is put
	before  int64     // entries on all ranks when the call began
	crowded bool      // a rank has more keys in one range than a round takes
	few     bool      // all ranks together have so few keys that the map's own small memory is enough
}

// smallBytes is how much memory a map keeps for calls with a few keys, so that nothing about them need be agreed on.
const smallBytes = 16 << 10

// areas are the memory of a passage. On one rank, what goes out is what comes in.
type areas struct {
	keysOut, valuesOut, foundOut unsafe.Pointer // a sweep's keys in order; its values, or those that it is answered
	keysIn, valuesIn, foundIn    unsafe.Pointer // a round's keys; its values, or the answers
	undo                         unsafe.Pointer // the journal's
}

// prepare tells all ranks how many keys come, and gets the memory for them: all ranks do, or none goes on.
func (v *passage) prepare() error {
	if err := v.announce(); err != nil {
		return err
	}
	mine := v.allocate()
	if v.few {
		return nil // it cannot fail, nor are there many of one key
	}
	chunks := int64(0)
	for r := range v.plan.ranges {
		chunks = max(chunks, int64(v.chunks(v.plan.length(r))))
	}
	all := make([]comm.Shared, v.c.Size())
	if err := v.c.AgreeSharing(v.m.call(v.op), mine, comm.Shared{chunks}, all); err != nil {
		v.release()
		return err
	}
	for _, share := range all {
		v.crowded = v.crowded || share[0] > 1
	}
	return nil
}

// chunks returns in how many rounds a rank's n keys of one range go.
func (v *passage) chunks(n int) int { return (n + v.round - 1) / v.round }

// agreed is from how many bytes on ranks make sure that all have got them before they go on.
const agreed = 1 << 16

// announce exchanges how many keys go from each rank to each in every range.
func (v *passage) announce() error {
	ranges, ranks := v.plan.ranges, v.plan.ranks
	v.arriving = make([][]int64, ranges)
	if ranges == 1 {
		n, err := v.c.Counts(v.plan.whole(0).counts())
		v.arriving[0] = n
		return err
	}
	// A rank that gets not even this little, beside what it has got, has no way on; a longer list is agreed on.
	storage, err := memory.NewStorage(v.c.Memory(), 16*ranges*ranks, alignment)
	if err == nil {
		defer storage.Release()
	}
	if 16*ranges*ranks > agreed {
		err = v.c.Agree(v.m.call(v.op), err)
	}
	if err != nil {
		return err
	}
	return v.exchangeCounts(memory.Span{Addr: storage.Addr(), Count: 2 * ranges * ranks, Type: dtype.Int64})
}

// exchangeCounts does so in memory for two numbers a range and rank.
func (v *passage) exchangeCounts(both memory.Span) error {
	ranges, ranks := v.plan.ranges, v.plan.ranks
	send, recv := make([]memory.Span, ranks), make([]memory.Span, ranks)
	for rank := range ranks {
		send[rank] = both.Slice(rank*ranges, (rank+1)*ranges)
		recv[rank] = both.Slice((ranks+rank)*ranges, (ranks+rank+1)*ranges)
	}
	for r := range ranges {
		for owner, n := range v.plan.whole(r).counts() {
			memory.As[int64](send[owner])[r] = n
		}
	}
	if err := v.c.Exchange(send, recv); err != nil {
		return err
	}
	for r := range ranges {
		v.arriving[r] = make([]int64, ranks)
		for rank := range ranks {
			v.arriving[r][rank] = memory.As[int64](recv[rank])[r]
		}
	}
	return nil
}

// fullest returns how many keys there are in the fullest sweep, in the fullest round, and in all rounds together.
func (v *passage) fullest() (out, in, all int) {
	for _, s := range v.plan.sweeps {
		out = max(out, s.to-s.from)
	}
	for _, from := range v.arriving {
		n := 0
		for _, count := range from {
			n += min(int(count), v.round)
			all += int(count)
		}
		in = max(in, n)
	}
	return out, in, all
}

// allocate gets the memory for those, and for what undoes them.
func (v *passage) allocate() (err error) {
	out, in, all := v.fullest()
	if v.c.Size() == 1 {
		in = 0
	}
	key, value, found, undo := v.m.table.key, 0, 1, 0
	if v.puts || v.gets {
		value = v.m.table.value
	}
	if v.puts {
		found, undo = 0, v.m.table.value+1
	}
	bytes := [...]int{out * key, out * value, out * found, in * key, in * value, in * found, all * undo}
	total := 0
	for _, n := range bytes {
		total += lines(n)
	}
	from := v.m.small
	if !v.few {
		if v.storage, err = memory.NewStorage(v.c.Memory(), total, alignment); err != nil {
			return err
		}
		from = v.storage
	}
	at := from.Addr()
	for i, area := range v.list() {
		if bytes[i] > 0 { // no address is behind the last byte
			*area = at
			at = unsafe.Add(at, lines(bytes[i]))
		}
	}
	if v.puts {
		v.journal = NewJournal(v.undo, all, v.m.table.value)
	}
	return nil
}

// release gives the memory back.
func (v *passage) release() {
	if v.storage != nil {
		v.storage.Release()
	}
}

// areaCount is how many areas there are.
const areaCount = 7

// list returns the areas in the order of their declaration.
func (a *areas) list() [areaCount]*unsafe.Pointer {
	return [areaCount]*unsafe.Pointer{
		&a.keysOut, &a.valuesOut, &a.foundOut, &a.keysIn, &a.valuesIn, &a.foundIn, &a.undo,
	}
}
