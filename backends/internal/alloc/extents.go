package alloc

import (
	"math/bits"
	"unsafe"
)

// Chunk is memory that is divided into blocks. What lies beyond the fresh offset has never been handed out.
type Chunk struct {
	Base  unsafe.Pointer
	Live  int // blocks that are out
	size  int
	fresh int

	starts, ends map[int]*extent // free extents, by where they start and end
}

// NewChunk returns a chunk of size bytes, all of them fresh.
func NewChunk(base unsafe.Pointer, size int) *Chunk {
	return &Chunk{Base: base, size: size, starts: map[int]*extent{}, ends: map[int]*extent{}}
}

// align returns the least offset from off on whose address is a multiple of alignment.
func (c *Chunk) align(off, alignment int) int {
	return off + int(-(uintptr(c.Base)+uintptr(off))&uintptr(alignment-1))
}

// Fresh returns where the memory starts that has never been handed out.
func (c *Chunk) Fresh() int { return c.fresh }

// Fits reports whether there is fresh memory for a block.
func (c *Chunk) Fits(size, alignment int) bool { return c.align(c.fresh, alignment)+size <= c.size }

// extent is free memory of a chunk.
type extent struct {
	chunk     *Chunk
	off, size int
	bin, slot int // where Free lists it
}

// Free is the memory of chunks that is free, apart from what is fresh, listed by the logarithm of the extents' sizes. Neighbours in a
// chunk are always one extent.
type Free struct {
	// Searched is how many extents of a list are looked at, at most: it bounds the time, and costs a little memory.
	Searched int
	bins     [64][]*extent
}

// Count returns how many extents there are.
func (f *Free) Count() (n int) {
	for _, list := range f.bins {
		n += len(list)
	}
	return n
}

// Put frees a range, and joins it with the free ranges on either side.
func (f *Free) Put(c *Chunk, off, size int) {
	if size == 0 {
		return
	}
	if before := c.ends[off]; before != nil {
		f.remove(before)
		off, size = before.off, size+before.size
	}
	if after := c.starts[off+size]; after != nil {
		f.remove(after)
		size += after.size
	}
	bin := bits.Len(uint(size))
	e := &extent{chunk: c, off: off, size: size, bin: bin, slot: len(f.bins[bin])}
	f.bins[bin] = append(f.bins[bin], e)
	c.starts[off], c.ends[off+size] = e, e
}

// remove takes an extent off its list.
func (f *Free) remove(e *extent) {
	list := f.bins[e.bin]
	last := list[len(list)-1]
	list[e.slot], last.slot = last, e.slot
	list[len(list)-1] = nil
	f.bins[e.bin] = list[:len(list)-1]
	delete(e.chunk.starts, e.off)
	delete(e.chunk.ends, e.off+e.size)
}

// Take returns a free range of size bytes at a multiple of alignment, if there is one in the first lists that can have it.
// What is left of the extent stays free.
func (f *Free) Take(size, alignment int) (c *Chunk, off int, ok bool) {
	for bin := bits.Len(uint(size)); bin < len(f.bins); bin++ {
		list := f.bins[bin]
		for i := len(list) - 1; i >= 0 && i >= len(list)-f.Searched; i-- {
			e := list[i]
			off := e.chunk.align(e.off, alignment)
			if off+size > e.off+e.size {
				continue
			}
			f.remove(e)
			f.Put(e.chunk, e.off, off-e.off)
			f.Put(e.chunk, off+size, e.off+e.size-off-size)
			return e.chunk, off, true
		}
	}
	return nil, 0, false
}

// TakeFresh returns fresh memory of a chunk, where it fits. What is left out to align it is free.
func (f *Free) TakeFresh(c *Chunk, size, alignment int) (off int) {
	off = c.align(c.fresh, alignment)
	f.Put(c, c.fresh, off-c.fresh)
	c.fresh = off + size
	return off
}

// Drop forgets a chunk of which no block is out: its free memory is one extent.
func (f *Free) Drop(c *Chunk) {
	if e := c.starts[0]; e != nil {
		f.remove(e)
	}
}
