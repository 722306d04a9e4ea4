package backendtest

import (
	"bytes"
	"math/rand/v2"
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/memory"
)

// sizes are element counts: none, one, few, many, and more than any library sends eagerly.
var sizes = []int{0, 1, 3, 1000, large}

const large = 100_000

const (
	guard     = 64 // bytes on either side that nobody may write
	guardByte = 0xA5
)

// buffer is a span between guards.
type buffer struct {
	memory.Span
	all []byte
}

// noise is what patterns are cut from.
var noise = func() []byte {
	random := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 1<<16)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}()

// room returns a buffer of n elements whose bytes are all guardByte. It is pinned until the test's rank
// ends, so that C code may hold it.
func (r *rank) room(t dtype.Type, n int) buffer {
	size := n * t.Size()
	all := r.bytes(size + 2*guard)
	for filled := copy(all, []byte{guardByte}); filled < len(all); {
		filled += copy(all[filled:], all[:filled])
	}
	return buffer{memory.Span{Addr: unsafe.Pointer(&all[guard]), Count: n, Type: t}, all}
}

// bytes returns memory that is aligned for every type, of the allocator if the test has one.
func (r *rank) bytes(n int) []byte {
	if r.from != nil {
		block, err := r.from.Allocate(n, 16)
		if err != nil {
			r.Fatal(err)
		}
		r.blocks = append(r.blocks, block)
		return unsafe.Slice((*byte)(block.Addr), n)
	}
	words := make([]complex128, (n+15)/16)
	r.pins.Pin(&words[0])
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)
}

// free gives back what bytes took.
func (r *rank) free() {
	r.pins.Unpin()
	for _, block := range r.blocks {
		r.from.Deallocate(block)
	}
}

// filled returns a buffer of the n elements that seed gives.
func (r *rank) filled(t dtype.Type, n int, seed uint64) buffer {
	b := r.room(t, n)
	pattern(b.elements(), t, seed)
	return b
}

// pattern writes bytes that depend on seed; bools are 0 or 1.
func pattern(to []byte, t dtype.Type, seed uint64) {
	at := int(seed * 7919 % uint64(len(noise)))
	for done := 0; done < len(to); at = 0 {
		done += copy(to[done:], noise[at:])
	}
	if t == dtype.Bool {
		for i := range to {
			to[i] &= 1
		}
	}
}

// elements returns the bytes between the guards.
func (b buffer) elements() []byte { return b.all[guard : len(b.all)-guard] }

// holds reports unless the buffer is the concatenation of what the seeds give, in equal parts, and its
// guards are whole.
func (b buffer) holds(r *rank, what string, seeds ...uint64) {
	r.Helper()
	part := make([]byte, len(b.elements())/len(seeds))
	for i, seed := range seeds {
		pattern(part, b.Type, seed)
		if !bytes.Equal(b.elements()[i*len(part):(i+1)*len(part)], part) {
			r.Errorf("rank %d of %d: %s: part %d of %d elements of %s differs", r.c.Rank(), r.c.Size(), what, i, b.Count, b.Type)
		}
	}
	b.guarded(r, what)
}

// untouched reports unless the buffer is as room made it.
func (b buffer) untouched(r *rank, what string) {
	r.Helper()
	for _, v := range b.elements() {
		if v != guardByte {
			r.Errorf("rank %d of %d: %s: a buffer was written that is ignored on this rank", r.c.Rank(), r.c.Size(), what)
			return
		}
	}
	b.guarded(r, what)
}

func (b buffer) guarded(r *rank, what string) {
	r.Helper()
	for i := range guard {
		if b.all[i] != guardByte || b.all[len(b.all)-1-i] != guardByte {
			r.Errorf("rank %d of %d: %s: written outside %d elements of %s", r.c.Rank(), r.c.Size(), what, b.Count, b.Type)
			return
		}
	}
}
