package hashmap

import (
	"unsafe"

	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/memory"
)

// exchange sends one call's keys to their owners, and the answers back.
type exchange struct {
	*task
	m        *Map
	c        *comm.Comm
	plan     *plan
	round    int       // the most keys that a rank sends at once
	arriving [][]int64 // by range and rank: how many keys come from it
	storage  *memory.Storage
	undoes   *memory.Storage // the log's memory
	parts    bool            // the list is divided by passes first, in files
	parted   divided
	at       pass // whose keys are out
	areas
	deviceAreas
	failed error       // why values could not be got from the device
	log    *UndoLog    // of what is put
	rounds []completed // the rounds so far, where something is put
	before int64       // entries on all ranks when the call began
	skewed bool        // a rank has more keys in one range than a round takes
	few    bool        // all ranks together have so few keys that the map's own small memory is enough
}

// smallBytes is how much memory a map keeps for calls with a few keys, so that nothing about them need be agreed on.
const smallBytes = 16 << 10

// areas are the memory of an exchange. On one rank, what goes out is what comes in.
type areas struct {
	keysOut, valuesOut, foundOut unsafe.Pointer // a pass's keys in order; its values, or those that it is answered
	keysIn, valuesIn, foundIn    unsafe.Pointer // a round's keys; its values, or the answers
}

// prepare tells all ranks how many keys come, and gets the memory for them: all ranks do, or none goes on.
func (x *exchange) prepare() error {
	if err := x.announce(); err != nil {
		return err
	}
	mine := x.allocate()
	if x.few {
		return nil // it cannot fail, nor are there many of one key
	}
	chunks := int64(0)
	for r := range x.plan.ranges {
		chunks = max(chunks, int64(x.chunks(x.plan.length(r))))
	}
	all := make([]comm.Shared, x.c.Size())
	if err := x.c.AgreeSharing(x.m.call(x.op), mine, comm.Shared{chunks}, all); err != nil {
		x.release()
		return err
	}
	for _, share := range all {
		x.skewed = x.skewed || share[0] > 1
	}
	return nil
}

// chunks returns in how many rounds a rank's n keys of one range go.
func (x *exchange) chunks(n int) int { return (n + x.round - 1) / x.round }

// agreed is from how many bytes on ranks make sure that all have got them before they go on.
const agreed = 1 << 16

// announce exchanges how many keys go from each rank to each in every range.
func (x *exchange) announce() error {
	ranges, ranks := x.plan.ranges, x.plan.ranks
	x.arriving = make([][]int64, ranges)
	if ranges == 1 {
		n, err := x.c.Counts(x.plan.whole(0).counts())
		x.arriving[0] = n
		return err
	}
	// A rank that gets not even this little, beside what it has got, has no way on; a longer list is agreed on.
	storage, err := memory.NewStorage(x.c.Memory(), 16*ranges*ranks, memory.Alignment)
	if err == nil {
		defer storage.Release()
	}
	if 16*ranges*ranks > agreed {
		err = x.c.Agree(x.m.call(x.op), err)
	}
	if err != nil {
		return err
	}
	return x.exchangeCounts(memory.Span{Addr: storage.Addr(), Count: 2 * ranges * ranks, Type: dtype.Int64})
}

// exchangeCounts does so in memory for two numbers a range and rank.
func (x *exchange) exchangeCounts(both memory.Span) error {
	ranges, ranks := x.plan.ranges, x.plan.ranks
	send, recv := make([]memory.Span, ranks), make([]memory.Span, ranks)
	for rank := range ranks {
		send[rank] = both.Slice(rank*ranges, (rank+1)*ranges)
		recv[rank] = both.Slice((ranks+rank)*ranges, (ranks+rank+1)*ranges)
	}
	for r := range ranges {
		for owner, n := range x.plan.whole(r).counts() {
			memory.As[int64](send[owner])[r] = n
		}
	}
	if err := x.c.Exchange(send, recv); err != nil {
		return err
	}
	for r := range ranges {
		x.arriving[r] = make([]int64, ranks)
		for rank := range ranks {
			x.arriving[r][rank] = memory.As[int64](recv[rank])[r]
		}
	}
	return nil
}

// fullest returns how many keys there are in the fullest pass, in the fullest round, and in all rounds together.
func (x *exchange) fullest() (out, in, all int) {
	for _, s := range x.plan.passes {
		out = max(out, s.to-s.from)
	}
	for _, from := range x.arriving {
		n := 0
		for _, count := range from {
			n += min(int(count), x.round)
			all += int(count)
		}
		in = max(in, n)
	}
	return out, in, all
}

// allocate gets the memory for those, and for what undoes them.
func (x *exchange) allocate() (err error) {
	out, in, all := x.fullest()
	key, value, found, placed := x.m.table.key, 0, 1, 0
	if x.puts || x.gets {
		value = x.m.value.Size()
		if x.m.cells != nil {
			placed = in
		}
	}
	if x.c.Size() == 1 {
		in = 0
	}
	if x.puts {
		found = 0
	}
	bytes := [...]int{out * key, out * value, out * found, in * key, in * value, in * found,
		placed * cellBytes, placed * cellBytes, placed * 4, placed * value}
	total := 0
	for _, n := range bytes {
		total += lines(n)
	}
	from := x.m.small
	if !x.few {
		if x.storage, err = x.m.newRoom(x.c, total); err != nil {
			return err
		}
		from = x.storage
	}
	at := from.Addr()
	for i, area := range append(x.areas.list(), x.deviceAreas.list()...) {
		if bytes[i] > 0 { // no address is behind the last byte
			*area = at
			at = unsafe.Add(at, lines(bytes[i]))
		}
	}
	if !x.puts {
		return nil
	}
	return x.allocateForPuts(at, all)
}

// allocateForPuts gets the memory for what undoes the puts of all keys, at an address if they are few, and for a divided list.
func (x *exchange) allocateForPuts(at unsafe.Pointer, all int) (err error) {
	value := x.m.table.value
	if !x.few {
		if x.undoes, err = x.m.newRoom(x.c, all*(value+1)); err != nil {
			return err
		}
		at = x.undoes.Addr()
	}
	x.log = NewUndoLog(at, all, value)
	if x.parts {
		x.parted, err = x.newDivided()
	}
	return err
}

// release gives the memory back.
func (x *exchange) release() {
	for _, storage := range []*memory.Storage{x.storage, x.undoes, x.parted.storage, x.parted.chunk} {
		if storage != nil {
			storage.Release()
		}
	}
}

// areaCount is how many areas there are.
const areaCount = 11

// list returns the areas in the order of their declaration.
func (a *areas) list() []*unsafe.Pointer {
	return []*unsafe.Pointer{&a.keysOut, &a.valuesOut, &a.foundOut, &a.keysIn, &a.valuesIn, &a.foundIn}
}

func (a *deviceAreas) list() []*unsafe.Pointer {
	return []*unsafe.Pointer{&a.places, &a.former, &a.which, &a.results}
}
