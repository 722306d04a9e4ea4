package hashmap

import (
	"slices"
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
)

// deviceAreas are the areas of a round whose values go to a device, with room for each key that comes.
type deviceAreas struct {
	places  unsafe.Pointer // the cells that values go to or come from, as int64
	former  unsafe.Pointer // those that the same keys had
	which   unsafe.Pointer // of each key, which of the places is its own, as uint32
	results unsafe.Pointer // the values of the places
}

func bytesOf(at unsafe.Pointer, n int) memory.Span {
	return memory.Span{Addr: at, Count: n, Type: dtype.Uint8}
}

func int64sOf(at unsafe.Pointer, n int) memory.Span {
	return memory.Span{Addr: at, Count: n, Type: dtype.Int64}
}

// putOnDevice gives each key of a round a cell of its own, and puts there what its values come to.
func (x *exchange) putOnDevice(b batch) error {
	if b.n == 0 {
		return nil
	}
	c := x.m.cells
	if err := c.reserve(b.n); err != nil {
		return err
	}
	first := x.log.n
	n, err := x.assign(b)
	if err != nil {
		return err
	}
	states := x.log.state[first:x.log.n]
	if x.combines && slices.Contains(states, entryReplaced) {
		if err := c.read(bytesOf(x.results, n*c.size), x.former, n); err != nil {
			return err
		}
	}
	if err := x.merge(b, states); err != nil {
		return err
	}
	return c.write(x.places, x.results, n)
}

// assign gives the entries of keys cells, one for each key, however often it occurs, and returns how many that are.
func (x *exchange) assign(b batch) (count int, err error) {
	t, j, c := x.m.table, x.log, x.m.cells
	places, before := unsafe.Slice((*int64)(x.places), b.n), unsafe.Slice((*int64)(x.former), b.n)
	which := unsafe.Slice((*uint32)(x.which), b.n)
	return count, blocks(b.n, func(first, n int) error {
		if err := t.place(unsafe.Add(b.keys, first*t.key), n); err != nil {
			return err
		}
		j.record(t, n)
		for i := range n {
			e, state := (*cell)(t.valueOf(i)), &j.state[j.n-n+i]
			// The entry may be of a former round. Then the place is another cell: those of this round were free.
			if *state == entryReplaced && int(e.entry) < count && places[e.entry] == int64(e.at) {
				*state = entryKept
				which[first+i] = e.entry
				continue
			}
			before[count] = 0
			if *state == entryReplaced {
				before[count] = int64(e.at)
			}
			*e = cell{at: c.take(), entry: uint32(count)}
			places[count], which[first+i] = int64(e.at), e.entry
			count++
		}
		return nil
	})
}

// merge makes the values of a round's places: of a key that occurs more than once the last, or what its values come to with the one
// of before, which is there already. The states say which key is the first of a place.
func (x *exchange) merge(b batch, states []uint8) error {
	size, which := x.m.cells.size, unsafe.Slice((*uint32)(x.which), b.n)
	t := &x.m.table.at
	return blocks(b.n, func(first, n int) error {
		old := 0
		for i := range n {
			dst, src := unsafe.Add(x.results, int(which[first+i])*size), unsafe.Add(b.values, (first+i)*size)
			if !x.combines || states[first+i] == entryMade {
				copyBytes(dst, src, size)
			} else {
				t.dst[old], t.src[old] = dst, src
				old++
			}
		}
		if !x.combines {
			return nil
		}
		return reduce.CombineAt(t.dst[:old], t.src[:old], x.m.value, kernel.Op(x.combine))
	})
}

// getFromDevice copies the values of keys from the device, and says which keys are there. The values of others are anything.
func (x *exchange) getFromDevice(b batch) error {
	if b.n == 0 {
		return nil
	}
	x.m.table.Get(b.keys, x.places, b.n, b.found)
	onlyPlaces(x.places, b.n, func(i int) bool { return b.found[i] != 0 })
	return x.m.cells.read(bytesOf(b.values, b.n*x.m.cells.size), x.places, b.n)
}

// onlyPlaces turns n cells into the numbers of those, and of the others into a number that there is.
func onlyPlaces(at unsafe.Pointer, n int, is func(i int) bool) {
	for i := range n {
		place := unsafe.Add(at, i*cellBytes)
		if is(i) {
			*(*int64)(place) = int64((*cell)(place).at)
		} else {
			*(*int64)(place) = 0
		}
	}
}

// copyEntries writes all keys and all values side by side, in the table's order: the keys to the host, where there is room for them, the
// values to the host or the device.
func (m *Map) copyEntries(keys unsafe.Pointer, values memory.Span) error {
	if m.cells == nil {
		m.table.Copy(keys, values.Addr)
		return nil
	}
	n := m.table.Len()
	places, err := memory.NewScratch(m.context.Memory(), n*cellBytes, memory.Alignment)
	if err != nil {
		return err
	}
	defer places.Release()
	m.table.Copy(keys, places.Addr())
	onlyPlaces(places.Addr(), n, func(int) bool { return true })
	return m.cells.read(values, places.Addr(), n)
}
