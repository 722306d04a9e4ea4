package shmem

import (
	"slices"
	"sync"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/status"
)

// Space hands out this process's part of the symmetric heap. What a process takes, it takes alone: shmem_malloc, in which
// all processes take part, has been called once for all of it. So blocks of different processes lie at different offsets,
// which a window tells the others.
type Space struct {
	start  unsafe.Pointer
	size   int
	offset int // of start in the symmetric memory

	mu            sync.Mutex
	free          []extent // in order, none next to another
	blocks        map[unsafe.Pointer]taken
	current, peak int64
}

var _ backend.MeteredSpace = (*Space)(nil)

// extent is memory from an offset in the space on.
type extent struct{ at, size int }

// taken is what a block takes, and how much of it was asked for.
type taken struct {
	extent
	asked int
}

func newSpace(start unsafe.Pointer, size, offset int) *Space {
	return &Space{
		start: start, size: size, offset: offset,
		free: []extent{{0, size}}, blocks: map[unsafe.Pointer]taken{},
	}
}

// Name returns "symmetric".
func (s *Space) Name() string { return "symmetric" }

// Properties returns those of memory that other processes may map.
func (s *Space) Properties() backend.Properties {
	return backend.Properties{HostAccessible: true, SupportsAtomics: true, Alignment: line}
}

// InUse returns the bytes asked for and not given back, and the most that ever were.
func (s *Space) InUse() (current, peak int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current, s.peak
}

// AvailableMemory returns what nobody has taken of the heap, in one piece or more.
func (s *Space) AvailableMemory() (n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.free {
		n += int64(e.size)
	}
	return n
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

// take finds the first place where the block fits.
func (s *Space) take(size, alignment int) (unsafe.Pointer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if size <= s.size && alignment <= s.size {
		need := roundUp(max(size, 1), line)
		for i, e := range s.free {
			address := uintptr(unsafe.Add(s.start, e.at))
			before := int(-address & uintptr(alignment-1))
			if before+need > e.size {
				continue
			}
			rest := []extent{{e.at, before}, {e.at + before + need, e.size - before - need}}
			rest = slices.DeleteFunc(rest, func(e extent) bool { return e.size == 0 })
			s.free = slices.Replace(s.free, i, i+1, rest...)
			p := unsafe.Add(s.start, e.at+before)
			s.blocks[p] = taken{extent{e.at + before, need}, size}
			s.current += int64(size)
			s.peak = max(s.peak, s.current)
			return p, nil
		}
	}
	return nil, status.New(status.OutOfMemory, "%d bytes at a multiple of %d cannot be allocated: of the %d bytes of the "+
		"symmetric heap, %d are in use; %s says how large it is", size, alignment, s.size, s.current, sizeVariable)
}

// Deallocate takes a block back. It panics if the block is not out.
func (s *Space) Deallocate(b memory.Block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.blocks[b.Addr]
	if !ok {
		panic("shmem: Deallocate of a block that is not out")
	}
	delete(s.blocks, b.Addr)
	s.current -= int64(t.asked)
	i, _ := slices.BinarySearchFunc(s.free, t.at, func(e extent, at int) int { return e.at - at })
	s.free = slices.Insert(s.free, i, t.extent)
	if i+1 < len(s.free) && s.free[i].at+s.free[i].size == s.free[i+1].at {
		s.free[i].size += s.free[i+1].size
		s.free = slices.Delete(s.free, i+1, i+2)
	}
	if i > 0 && s.free[i-1].at+s.free[i-1].size == s.free[i].at {
		s.free[i-1].size += s.free[i].size
		s.free = slices.Delete(s.free, i, i+1)
	}
}

// place returns the offset in the symmetric memory of n bytes, and whether they lie in this space.
func (s *Space) place(p unsafe.Pointer, n int) (offset int, inside bool) {
	from, start := uintptr(p), uintptr(s.start)
	if from < start || from+uintptr(n) > start+uintptr(s.size) {
		return 0, false
	}
	return s.offset + int(from-start), true
}
