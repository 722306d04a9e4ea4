package hashmap

import (
	"unsafe"

	"dtl/core/comm"
	"dtl/core/kernel/move"
	"dtl/core/memory"
)

const (
	// passesOfLimit is how many passes' keys and values would be as much as the limit of memory: those of one are in memory.
	passesOfLimit = 32
	// chunksOfLimit is how many chunks of a list would be as much as the limit of memory.
	chunksOfLimit = 64
)

// room returns where so many bytes that a call needs are: in memory, or under a limit in files if they are worth some.
func (m *Map) room(c *comm.Comm, bytes int) (memory.Allocator, error) {
	limit := memory.Limit()
	if limit == 0 || !memory.WorthAFile(int64(bytes), limit) {
		return c.Memory(), nil
	}
	return m.context.Files()
}

// newRoom is memory.NewScratch of such a place.
func (m *Map) newRoom(c *comm.Comm, bytes int) (*memory.Storage, error) {
	from, err := m.room(c, bytes)
	if err != nil {
		return nil, err
	}
	return memory.NewScratch(from, bytes, memory.Alignment)
}

// passesUnder returns in how many passes n entries go whose keys and values are to be in memory pass by pass; 0: the limit has room for them in
// fewer than mostPasses.
func passesUnder(limit int64, n, entry int) int {
	one := int(limit) / passesOfLimit // bytes
	if limit == 0 || n*entry <= mostPasses*one {
		return 0
	}
	return n*entry/one + 1
}

// divided is a list of keys in files, where those of each pass lie together, in the list's order: a pass over the list would read all of its pages.
type divided struct {
	storage *memory.Storage
	chunk   *memory.Storage // for one column of a part of the list
	keys    int             // how many are in a chunk
	columns []column        // the buckets, the keys, and the values, unless they are one for all
}

// column is one thing of each key: where the list has it, and where it is divided.
type column struct {
	from, to unsafe.Pointer
	width    int
}

// newDivided gets the files for a list.
func (x *exchange) newDivided() (d divided, err error) {
	n := x.plan.n
	d.columns = []column{{from: unsafe.Pointer(unsafe.SliceData(x.plan.buckets)), width: 4}, {from: x.keys.Addr, width: x.m.table.key}}
	if !x.alike() {
		d.columns = append(d.columns, column{from: x.values.Addr, width: x.m.value.Size()})
	}
	total, width := 0, 0
	for _, col := range d.columns {
		total += lines(n * col.width)
		width = max(width, col.width)
	}
	const ofPlaces = 16 // bytes of a position and a place
	d.keys = max(someKeys, int(memory.Limit())/chunksOfLimit/(width+ofPlaces))
	if d.chunk, err = memory.NewScratch(x.c.Memory(), d.keys*width, memory.Alignment); err != nil {
		return d, err
	}
	files, err := x.m.context.Files()
	if err != nil {
		return d, err
	}
	if d.storage, err = memory.NewScratch(files, total, memory.Alignment); err != nil {
		return d, err
	}
	at := d.storage.Addr()
	for i := range d.columns {
		d.columns[i].to = at
		at = unsafe.Add(at, lines(n*d.columns[i].width))
	}
	return d, nil
}

// divide copies the list there. Each chunk of it is put in the order of the passes in memory, and then copied pass by pass.
func (x *exchange) divide() {
	d := x.parted
	passOf := x.plan.passOf()
	positions, places := make([]int, d.keys), make([]int, d.keys)
	for i := range positions {
		positions[i] = i
	}
	next := make([]int, len(x.plan.passes)) // where each pass goes on, as a place
	for i, s := range x.plan.passes {
		next[i] = s.from
	}
	for first := 0; first < x.plan.n; first += d.keys {
		n := min(d.keys, x.plan.n-first)
		ends := x.plan.byPass(first, places[:n], passOf)
		for _, col := range d.columns {
			move.Rearrange(d.chunk.Addr(), unsafe.Add(col.from, first*col.width), places[:n], positions[:n], col.width)
			for i, at := range next {
				from, bytes := unsafe.Add(d.chunk.Addr(), ends[i]*col.width), (ends[i+1]-ends[i])*col.width
				copyToFile(unsafe.Add(col.to, at*col.width), from, bytes)
			}
			memory.Ease()
		}
		for i := range next {
			next[i] += ends[i+1] - ends[i]
		}
	}
	x.plan.buckets, x.plan.parted = unsafe.Slice((*uint32)(d.columns[0].to), x.plan.n), true
	x.keys.Addr = d.columns[1].to
	if !x.alike() {
		x.values.Addr = d.columns[2].to
	}
}

// copyToFile copies n bytes by calls of the system where it can, which make no page resident.
func copyToFile(dst, src unsafe.Pointer, n int) {
	if n == 0 {
		return
	}
	done := memory.ByCalls(dst, src, n)
	memory.Move(unsafe.Add(dst, done), unsafe.Add(src, done), n-done)
}

// passOf returns the pass of each range.
func (p *plan) passOf() []int {
	of := make([]int, p.ranges)
	for i, s := range p.passes {
		for r := s.first; r < s.last; r++ {
			of[r] = i
		}
	}
	return of
}

// byPass sets where keys of the list, from the first on, go that are put in the order of the passes, and returns where each pass ends.
func (p *plan) byPass(first int, places []int, passOf []int) (ends []int) {
	ends = make([]int, len(p.passes)+1)
	some := p.buckets[first : first+len(places)]
	for _, b := range some {
		ends[passOf[int(b)/p.ranks]+1]++
	}
	for i := range p.passes {
		ends[i+1] += ends[i]
	}
	next := append([]int(nil), ends...)
	for i, b := range some {
		of := passOf[int(b)/p.ranks]
		places[i] = next[of]
		next[of]++
	}
	return ends
}
