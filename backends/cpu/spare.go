package cpu

import (
	"time"
	"unsafe"

	"dtl/core/memory"
)

const (
	// spareTime is for how long memory that was given back is kept for the next user.
	spareTime = time.Second
	// mostSpare is how much of it there is at most, in bytes.
	mostSpare = 256 << 20
)

// spare is a mapping that nobody uses.
type spare struct {
	at   unsafe.Pointer
	size int
}

// spares keep what was given back last, committed as it is: the system takes as long to commit pages, and to zero them, as a
// sum takes to read them.
type spares struct {
	all   []spare // the oldest first
	bytes int
	timer *time.Timer
}

var _ memory.Reuser = (*Host)(nil)

// AllocateUsed is Allocate of memory that holds anything. Where it has a mapping of its own, that is kept for a second when it is given
// back.
func (h *Host) AllocateUsed(size, alignment int) (memory.Block, error) {
	if size < ownMapping || size > limit() || alignment > hugePage || memory.CheckRequest(size, alignment) != nil {
		return h.allocate(size, alignment, true)
	}
	h.mu.Lock()
	var p unsafe.Pointer
	taken := 0
	if current, _ := h.blocks.InUse(); current+int64(size) <= int64(limit()) {
		p, taken = h.spares.take(roundUp(size, hugePage))
	}
	if p != nil {
		h.blocks.Enter(p, size, place{size: taken, again: true})
	}
	h.mu.Unlock()
	if p != nil {
		return memory.Block{Addr: p, Size: size}, nil
	}
	return h.allocate(size, alignment, true)
}

// take returns a mapping of at least size bytes, and not many more; nil: there is none.
func (s *spares) take(size int) (unsafe.Pointer, int) {
	for i := len(s.all) - 1; i >= 0; i-- {
		if x := s.all[i]; x.size >= size && x.size <= size+size/4 {
			s.all = append(s.all[:i], s.all[i+1:]...)
			s.bytes -= x.size
			return x.at, x.size
		}
	}
	return nil, 0
}

// keep keeps a block's mapping, and gives older ones back for it. The caller holds the lock.
func (h *Host) keep(at unsafe.Pointer, size int) {
	s := &h.spares
	if size > min(mostSpare, limit()/64) {
		unmap(at, size)
		return
	}
	s.all = append(s.all, spare{at, size})
	s.bytes += size
	h.trim(min(mostSpare, limit()/64))
	if s.timer == nil {
		s.timer = time.AfterFunc(spareTime, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.trim(0)
		})
	} else {
		s.timer.Reset(spareTime)
	}
}

// trim gives the oldest mappings back until there are at most so many bytes. The caller holds the lock.
func (h *Host) trim(most int) {
	s := &h.spares
	for s.bytes > most {
		unmap(s.all[0].at, s.all[0].size)
		s.bytes -= s.all[0].size
		s.all = s.all[1:]
	}
}
