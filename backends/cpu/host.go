package cpu

import (
	"unsafe"

	"dtl/backends/internal/alloc"
	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/status"
)

const (
	// cacheLine is the alignment of every block, and the unit of blocks' sizes.
	cacheLine = 64
	// ownMapping is from what size on a block has a mapping of its own, which goes back to the system with it.
	ownMapping = 4 << 20
)

// Host is memory of this process outside the Go heap, on huge pages where the system has them. Blocks are
// zero; fresh memory is committed as it is touched, not when it is allocated.
type Host struct {
	alloc.Space[place]
	arena  arena
	spares spares
}

var _ backend.MeteredSpace = (*Host)(nil)

// place says where a block lies: in a chunk, or in a mapping of its own if chunk is nil.
type place struct {
	chunk     *alloc.Chunk
	off, size int  // bytes taken, not those asked for
	again     bool // keep the mapping for the next user
}

// pageable is what ordinary memory can do.
var pageable = backend.Properties{HostAccessible: true, SupportsAtomics: true, Pageable: true, Alignment: cacheLine}

// NewHost returns an empty memory space.
func NewHost() *Host {
	h := &Host{arena: newArena(), Space: alloc.NewSpace[place](pageable)}
	h.spares.mu, h.spares.giveUp = &h.Mu, func(x spare) { unmap(x.at, x.size) }
	return h
}

// Name returns "host".
func (h *Host) Name() string { return "host" }

// Allocate returns zeroed memory that starts at a multiple of alignment, a power of two, and of 64. A block
// of no bytes has an address of its own, too.
func (h *Host) Allocate(size, alignment int) (memory.Block, error) {
	return h.allocate(size, alignment, false)
}

// allocate is Allocate, or AllocateUsed if the block may hold anything.
func (h *Host) allocate(size, alignment int, blank bool) (memory.Block, error) {
	if err := memory.CheckRequest(size, alignment); err != nil {
		return memory.Block{}, err
	}
	alignment = max(alignment, cacheLine)
	if size > limit() || alignment > limit() {
		return memory.Block{}, exhausted(size, alignment, "this machine has %d bytes for the process", limit())
	}
	p, used, err := h.take(size, alignment, blank)
	if err != nil {
		return memory.Block{}, err
	}
	if used && !blank {
		clean(p, size)
	}
	return memory.Block{Addr: p, Size: size}, nil
}

// exhausted returns an error that names what was asked for.
func exhausted(size, alignment int, why string, args ...any) error {
	return status.New(status.OutOfMemory, "%d bytes at a multiple of %d cannot be allocated: %w", size, alignment,
		status.New(status.OutOfMemory, why, args...))
}

// take finds room, and says whether the memory has been used before. A mapping of its own is kept for the next user if again says so.
func (h *Host) take(size, alignment int, again bool) (p unsafe.Pointer, used bool, err error) {
	h.Mu.Lock()
	defer h.Mu.Unlock()
	current, _ := h.Blocks.InUse()
	if current+int64(size)+int64(h.spares.bytes) > int64(limit()) {
		h.spares.trim(0)
	}
	if current+int64(size) > int64(limit()) {
		return nil, false, exhausted(size, alignment, "%d of %d bytes are in use", current, limit())
	}
	var at place
	if size >= ownMapping || alignment > hugePage {
		at.size, at.again = roundUp(max(size, 1), hugePage), again
		p, err = reserve(at.size, max(alignment, hugePage))
		if err != nil && h.spares.bytes > 0 { // which may be the address space that lacks
			h.spares.trim(0)
			p, err = reserve(at.size, max(alignment, hugePage))
		}
	} else {
		at.size = roundUp(max(size, 1), cacheLine)
		at.chunk, at.off, used, err = h.arena.take(at.size, alignment)
		if err == nil {
			p = unsafe.Add(at.chunk.Base, at.off)
		}
	}
	if err != nil {
		return nil, false, exhausted(size, alignment, "%w", err)
	}
	h.Blocks.Enter(p, size, at)
	return p, used, nil
}

// Deallocate takes a block back. It panics if the block is not out.
func (h *Host) Deallocate(b memory.Block) {
	h.Mu.Lock()
	defer h.Mu.Unlock()
	at, out := h.Blocks.Leave(b.Addr)
	if !out {
		panic("cpu: Deallocate of a block that is not out")
	}
	switch {
	case at.again:
		h.spares.keep(spare{at: b.Addr, size: at.size})
	case at.chunk == nil:
		unmap(b.Addr, at.size)
	default:
		h.arena.put(at.chunk, at.off, at.size)
	}
}
