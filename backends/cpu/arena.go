package cpu

import "unsafe"

// chunkSize is how much address space small blocks share. It costs nothing until it is touched.
const chunkSize = 64 << 20

// chunk is a mapping that is divided into blocks. Memory at fresh and beyond has never been handed out, so
// it is zero and not committed.
type chunk struct {
	base      unsafe.Pointer
	fresh     int
	live      int // blocks
	freeStart map[int]*extent
	freeEnd   map[int]*extent
}

// align returns the least offset from off on whose address is a multiple of alignment.
func (c *chunk) align(off, alignment int) int {
	return off + int(-(uintptr(c.base)+uintptr(off))&uintptr(alignment-1))
}

// arena hands out small blocks: used memory again where it fits, else fresh memory. The caller holds a lock.
type arena struct {
	newest *chunk // the only one whose fresh memory is handed out
	free   bins
}

// take returns room for a block and whether the memory has been used before. Size is a multiple of the
// least alignment, and at most half of chunkSize together with alignment.
func (a *arena) take(size, alignment int) (c *chunk, off int, used bool, err error) {
	if c, off, ok := a.free.take(size, alignment); ok {
		c.live++
		return c, off, true, nil
	}
	if a.newest == nil || a.newest.align(a.newest.fresh, alignment)+size > chunkSize {
		base, err := reserve(chunkSize, hugePage)
		if err != nil {
			return nil, 0, false, err
		}
		a.retire()
		a.newest = &chunk{base: base, freeStart: map[int]*extent{}, freeEnd: map[int]*extent{}}
	}
	c = a.newest
	off = c.align(c.fresh, alignment)
	a.free.add(c, c.fresh, off-c.fresh)
	c.fresh = off + size
	c.live++
	return c, off, false, nil
}

// put takes a block back.
func (a *arena) put(c *chunk, off, size int) {
	a.free.add(c, off, size)
	c.live--
	if c != a.newest {
		a.release(c)
	}
}

// retire lets the newest chunk go when its last block does.
func (a *arena) retire() {
	if c := a.newest; c != nil {
		a.newest = nil
		a.release(c)
	}
}

// release unmaps a chunk without blocks: its free memory is one extent.
func (a *arena) release(c *chunk) {
	if c.live > 0 {
		return
	}
	if e := c.freeStart[0]; e != nil {
		a.free.remove(e)
	}
	unmap(c.base, chunkSize)
}
