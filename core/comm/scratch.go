package comm

import (
	"sync"
	"sync/atomic"

	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/memory"
)

// eager is the longest message, header and elements together, that travels as one. Every buffer for a
// header is this long, so a receiver can take whatever comes first without asking for its length.
const eager = Eager

// Eager is eager for code outside Go.
const Eager = 4096

const _ = uint(eager - wire.LongestHeader) // which every such buffer has room for

// scratch keeps buffers of eager bytes outside the Go heap, where a non-blocking call may hold their address.
type scratch struct {
	from memory.Allocator
	one  atomic.Pointer[memory.Storage] // of free, the one that takes no lock
	mu   sync.Mutex
	free []*memory.Storage
}

func (s *scratch) get() (*memory.Storage, error) {
	if b := s.one.Swap(nil); b != nil {
		return b, nil
	}
	s.mu.Lock()
	if n := len(s.free); n > 0 {
		b := s.free[n-1]
		s.free = s.free[:n-1]
		s.mu.Unlock()
		return b, nil
	}
	s.mu.Unlock()
	return memory.NewStorage(s.from, eager, memory.Alignment)
}

func (s *scratch) put(b *memory.Storage) {
	if s.one.CompareAndSwap(nil, b) {
		return
	}
	s.mu.Lock()
	s.free = append(s.free, b)
	s.mu.Unlock()
}

func (s *scratch) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.one.Swap(nil); b != nil {
		b.Release()
	}
	for _, b := range s.free {
		b.Release()
	}
	s.free = nil
}

// span returns the first n bytes of a buffer.
func span(b *memory.Storage, n int) memory.Span {
	return memory.Span{Addr: b.Addr(), Count: n, Type: dtype.Uint8}
}
