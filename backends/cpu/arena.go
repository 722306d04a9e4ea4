package cpu

import (
	"unsafe"

	"dtl/backends/internal/alloc"
)

// chunkSize is how much address space small blocks share. It costs nothing until it is touched.
const chunkSize = 64 << 20

// arena hands out small blocks: used memory again where it fits, else fresh memory. The caller holds a lock.
type arena struct {
	newest *alloc.Chunk // the only one whose fresh memory is handed out
	free   alloc.Free
	recent [8]room // given back last, and not yet free: the next block is often as large as one of them
	oldest int     // of recent
}

// room is a range of a chunk; none has no chunk.
type room struct {
	chunk     *alloc.Chunk
	off, size int
}

// searched is how many free extents of about one size are looked at.
const searched = 32

// A chunk is a mapping. Its fresh memory is zero and not committed.
func newArena() arena { return arena{free: alloc.Free{Searched: searched}} }

// take returns room for a block and whether the memory has been used before. Size is a multiple of the
// least alignment, and at most half of chunkSize together with alignment.
func (a *arena) take(size, alignment int) (c *alloc.Chunk, off int, used bool, err error) {
	for i, b := range a.recent {
		if b.size == size && b.chunk != nil && uintptr(unsafe.Add(b.chunk.Base, b.off))%uintptr(alignment) == 0 {
			a.recent[i] = room{}
			b.chunk.Live++
			return b.chunk, b.off, true, nil
		}
	}
	if c, off, ok := a.free.Take(size, alignment); ok {
		c.Live++
		return c, off, true, nil
	}
	if a.newest == nil || !a.newest.Fits(size, alignment) {
		base, err := reserve(chunkSize, hugePage)
		if err != nil {
			return nil, 0, false, err
		}
		a.retire()
		a.newest = alloc.NewChunk(base, chunkSize)
	}
	c = a.newest
	c.Live++
	return c, a.free.TakeFresh(c, size, alignment), false, nil
}

// put takes a block back.
func (a *arena) put(c *alloc.Chunk, off, size int) {
	a.settle(a.oldest)
	a.recent[a.oldest] = room{c, off, size}
	a.oldest = (a.oldest + 1) % len(a.recent)
	c.Live--
	if c != a.newest {
		a.release(c)
	}
}

// settle makes a recent block free.
func (a *arena) settle(i int) {
	if b := a.recent[i]; b.chunk != nil {
		a.free.Put(b.chunk, b.off, b.size)
		a.recent[i] = room{}
	}
}

// retire lets the newest chunk go when its last block does.
func (a *arena) retire() {
	if c := a.newest; c != nil {
		a.newest = nil
		a.release(c)
	}
}

// release unmaps a chunk without blocks.
func (a *arena) release(c *alloc.Chunk) {
	if c.Live > 0 {
		return
	}
	for i, b := range a.recent {
		if b.chunk == c {
			a.settle(i)
		}
	}
	a.free.Drop(c)
	unmap(c.Base, chunkSize)
}
