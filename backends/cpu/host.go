package cpu

import (
	"sync"
	"unsafe"

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
	mu            sync.Mutex
	arena         arena
	blocks        map[unsafe.Pointer]place
	current, peak int64
	spares        spares
}

var _ backend.MeteredSpace = (*Host)(nil)

// place says where a block lies: in a chunk, or in a mapping of its own if chunk is nil.
type place struct {
	chunk     *chunk
	off, size int // bytes taken, not those asked for
	asked     int
	again     bool // keep the mapping for the next user
}

// NewHost returns an empty memory space.
func NewHost() *Host { return &Host{blocks: map[unsafe.Pointer]place{}} }

// Name returns "host".
func (h *Host) Name() string { return "host" }

// Properties returns those of ordinary memory.
func (h *Host) Properties() backend.Properties {
	return backend.Properties{HostAccessible: true, SupportsAtomics: true, Pageable: true, Alignment: cacheLine}
}

// InUse returns the bytes asked for and not given back, and the most that ever were.
func (h *Host) InUse() (current, peak int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.current, h.peak
}

// Allocate returns zeroed memory that starts at a multiple of alignment, a power of two, and of 64. A block
// of no bytes has an address of its own, too.
func (h *Host) Allocate(size, alignment int) (memory.Block, error) {
	if err := memory.CheckRequest(size, alignment); err != nil {
		return memory.Block{}, err
	}
	alignment = max(alignment, cacheLine)
	if size > limit() || alignment > limit() {
		return memory.Block{}, exhausted(size, alignment, "this machine has %d bytes for the process", limit())
	}
	p, used, err := h.take(size, alignment)
	if err != nil {
		return memory.Block{}, err
	}
	if used {
		clean(p, size)
	}
	return memory.Block{Addr: p, Size: size}, nil
}

// exhausted returns an error that names what was asked for.
func exhausted(size, alignment int, why string, args ...any) error {
	return status.New(status.OutOfMemory, "%d bytes at a multiple of %d cannot be allocated: %w", size, alignment,
		status.New(status.OutOfMemory, why, args...))
}

// take finds room, and says whether the memory has been used before.
func (h *Host) take(size, alignment int) (p unsafe.Pointer, used bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.current+int64(size)+int64(h.spares.bytes) > int64(limit()) {
		h.trim(0)
	}
	if h.current+int64(size) > int64(limit()) {
		return nil, false, exhausted(size, alignment, "%d of %d bytes are in use", h.current, limit())
	}
	at := place{asked: size}
	if size >= ownMapping || alignment > hugePage {
		at.size = roundUp(max(size, 1), hugePage)
		p, err = reserve(at.size, max(alignment, hugePage))
	} else {
		at.size = roundUp(max(size, 1), cacheLine)
		at.chunk, at.off, used, err = h.arena.take(at.size, alignment)
		if err == nil {
			p = unsafe.Add(at.chunk.base, at.off)
		}
	}
	if err != nil {
		return nil, false, exhausted(size, alignment, "%w", err)
	}
	h.blocks[p] = at
	h.current += int64(size)
	h.peak = max(h.peak, h.current)
	return p, used, nil
}

// Deallocate takes a block back. It panics if the block is not out.
func (h *Host) Deallocate(b memory.Block) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at, ok := h.blocks[b.Addr]
	if !ok {
		panic("cpu: Deallocate of a block that is not out")
	}
	delete(h.blocks, b.Addr)
	h.current -= int64(at.asked)
	switch {
	case at.again:
		h.keep(b.Addr, at.size)
	case at.chunk == nil:
		unmap(b.Addr, at.size)
	default:
		h.arena.put(at.chunk, at.off, at.size)
	}
}
