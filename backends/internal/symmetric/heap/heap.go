// Package heap allocates blocks of this process's part of the symmetric heap.
package heap

import (
	"math"
	"unsafe"

	"dtl/backends/internal/alloc"
	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/status"
)

// Space is this process's part of the symmetric heap. What a process takes, it takes alone: shmem_malloc, in which all
// processes take part, has been called once for all of it. So blocks of different processes lie at different offsets,
// which a window tells the others.
type Space struct {
	start  unsafe.Pointer
	size   int
	offset int    // of start in the symmetric memory
	hint   string // what says how large it is

	alloc.Space[place]
	chunk *alloc.Chunk
	free  alloc.Free
	taken int // bytes, not those asked for
}

var _ backend.MeteredSpace = (*Space)(nil)

// place says where a block lies.
type place struct{ at, size int }

// line is the alignment of every block, and the unit of blocks' sizes.
const line = 64

// shareable is what memory can do that other processes may map.
var shareable = backend.Properties{HostAccessible: true, SupportsAtomics: true, Alignment: line}

// New returns a space of size bytes at start, which is an offset in the symmetric memory; hint is named where it is full.
func New(start unsafe.Pointer, size, offset int, hint string) *Space {
	s := &Space{
		start: start, size: size, offset: offset, hint: hint, chunk: alloc.NewChunk(start, size),
		free:  alloc.Free{Searched: math.MaxInt}, // there is no other memory
		Space: alloc.NewSpace[place](shareable),
	}
	s.free.Put(s.chunk, 0, size)
	return s
}

// Name returns "symmetric".
func (s *Space) Name() string { return "symmetric" }

// AvailableMemory returns what nobody has taken of the heap, in one piece or more.
func (s *Space) AvailableMemory() int64 {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return int64(s.size - s.taken)
}

// Allocate returns zeroed memory that starts at a multiple of alignment, a power of two, and of 64. Not collective.
func (s *Space) Allocate(size, alignment int) (memory.Block, error) {
	if err := memory.CheckRequest(size, alignment); err != nil {
		return memory.Block{}, err
	}
	p, err := s.take(size, max(alignment, line))
	if err != nil {
		return memory.Block{}, err
	}
	clear(unsafe.Slice((*byte)(p), size))
	return memory.Block{Addr: p, Size: size}, nil
}

// take finds a place where the block fits.
func (s *Space) take(size, alignment int) (unsafe.Pointer, error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if size <= s.size && alignment <= s.size {
		need := (max(size, 1) + line - 1) / line * line
		if _, at, ok := s.free.Take(need, alignment); ok {
			p := unsafe.Add(s.start, at)
			s.Blocks.Enter(p, size, place{at, need})
			s.taken += need
			return p, nil
		}
	}
	current, _ := s.Blocks.InUse()
	return nil, status.New(status.OutOfMemory, "%d bytes at a multiple of %d cannot be allocated: of the %d bytes of the "+
		"symmetric heap, %d are in use; %s says how large it is", size, alignment, s.size, current, s.hint)
}

// Deallocate takes a block back. It panics if the block is not out.
func (s *Space) Deallocate(b memory.Block) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	p, out := s.Blocks.Leave(b.Addr)
	if !out {
		panic("shmem: Deallocate of a block that is not out")
	}
	s.taken -= p.size
	s.free.Put(s.chunk, p.at, p.size)
}

// Place returns the offset in the symmetric memory of n bytes, and whether they lie in this space.
func (s *Space) Place(p unsafe.Pointer, n int) (offset int, inside bool) {
	from, start := uintptr(p), uintptr(s.start)
	if from < start || from+uintptr(n) > start+uintptr(s.size) {
		return 0, false
	}
	return s.offset + int(from-start), true
}
