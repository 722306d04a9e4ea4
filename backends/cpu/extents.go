package cpu

import "math/bits"

// extent is free memory of a chunk that has been used.
type extent struct {
	chunk     *chunk
	off, size int
	bin, slot int // where bins lists it
}

// bins lists free extents by the logarithm of their size. Neighbours in a chunk are always one extent.
type bins [64][]*extent

// add frees a range, and joins it with the free ranges on either side.
func (b *bins) add(c *chunk, off, size int) {
	if size == 0 {
		return
	}
	if before := c.freeEnd[off]; before != nil {
		b.remove(before)
		off, size = before.off, size+before.size
	}
	if after := c.freeStart[off+size]; after != nil {
		b.remove(after)
		size += after.size
	}
	bin := bits.Len(uint(size))
	e := &extent{chunk: c, off: off, size: size, bin: bin, slot: len(b[bin])}
	b[bin] = append(b[bin], e)
	c.freeStart[off], c.freeEnd[off+size] = e, e
}

// remove takes an extent off its list.
func (b *bins) remove(e *extent) {
	list := b[e.bin]
	last := list[len(list)-1]
	list[e.slot], last.slot = last, e.slot
	list[len(list)-1] = nil
	b[e.bin] = list[:len(list)-1]
	delete(e.chunk.freeStart, e.off)
	delete(e.chunk.freeEnd, e.off+e.size)
}

// searched is how many extents of a list are looked at: it bounds the time, and costs a little memory.
const searched = 32

// take returns a free range of size bytes at a multiple of alignment, if there is one in the first lists
// that can have it. What is left of the extent stays free.
func (b *bins) take(size, alignment int) (c *chunk, off int, ok bool) {
	for bin := bits.Len(uint(size)); bin < len(b); bin++ {
		list := b[bin]
		for i := len(list) - 1; i >= max(0, len(list)-searched); i-- {
			e := list[i]
			off := e.chunk.align(e.off, alignment)
			if off+size > e.off+e.size {
				continue
			}
			b.remove(e)
			b.add(e.chunk, e.off, off-e.off)
			b.add(e.chunk, off+size, e.off+e.size-off-size)
			return e.chunk, off, true
		}
	}
	return nil, 0, false
}
