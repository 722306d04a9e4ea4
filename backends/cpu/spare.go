package cpu

import (
	"os"
	"sync"
	"time"
	"unsafe"

	"dtl/core/memory"
)

const (
	// spareTime is for how long memory that was given back is kept for the next user.
	spareTime = time.Second
	// mostSpare is how much of it there is at most, in bytes.
	mostSpare = 256 << 20
	// largest is how large one block is that is kept alone, if all ranks of a machine together keep a sixteenth of its memory at most.
	largest = 2 << 30
)

// mostOf returns how many bytes that were given back are kept with a block of some bytes: 0 if it is not kept. The machine has so much
// memory, of which other ranks keep some, too.
func mostOf(size int, file bool, memory, ranks int) int {
	few := min(mostSpare, memory/64)
	switch {
	case size <= few:
		return few
	case !file && size <= min(largest, memory/16/ranks):
		return size
	}
	return 0
}

// spare is a mapping that nobody uses.
type spare struct {
	at   unsafe.Pointer
	size int
	file *os.File // that it is of; nil: of none
}

// spares keep what was given back last, committed as it is: the system takes as long to commit pages, and to zero them, as a
// sum takes to read them. Those of files have their room on the disk, too. The lock is that of who has them.
type spares struct {
	mu     *sync.Mutex
	all    []spare // the oldest first
	bytes  int
	timer  *time.Timer
	giveUp func(spare)
}

var (
	_ memory.Reuser = (*Host)(nil)
	_ memory.Reuser = (*Files)(nil)
)

// AllocateUsed is Allocate of memory that holds anything. Where it has a mapping of its own, that is kept for a second when it is given
// back.
func (h *Host) AllocateUsed(size, alignment int) (memory.Block, error) {
	if size < ownMapping || size > limit() || alignment > hugePage || memory.CheckRequest(size, alignment) != nil {
		return h.allocate(size, alignment, true)
	}
	h.Mu.Lock()
	var found spare
	if current, _ := h.Blocks.InUse(); current+int64(size) <= int64(limit()) {
		found = h.spares.take(roundUp(size, hugePage))
	}
	if found.at != nil {
		h.Blocks.Enter(found.at, size, place{size: found.size, again: true})
	}
	h.Mu.Unlock()
	if found.at != nil {
		return memory.Block{Addr: found.at, Size: size}, nil
	}
	return h.allocate(size, alignment, true)
}

// AllocateUsed is Allocate of memory that holds anything, whose file is kept for a second when it is given back.
func (f *Files) AllocateUsed(size, alignment int) (memory.Block, error) {
	if size < ownMapping || alignment > hugePage || memory.CheckRequest(size, alignment) != nil {
		return f.Allocate(size, alignment)
	}
	f.Mu.Lock()
	found := f.spares.take(size)
	if found.at != nil {
		f.Blocks.Enter(found.at, size, mapped{found.file, found.size, true})
	}
	f.Mu.Unlock()
	if found.at != nil {
		return memory.Block{Addr: found.at, Size: size}, nil
	}
	return f.allocate(size, alignment, true)
}

// take returns a mapping of at least size bytes, and not many more; one without an address: there is none.
func (s *spares) take(size int) spare {
	for i := len(s.all) - 1; i >= 0; i-- {
		if x := s.all[i]; x.size >= size && x.size <= size+size/4 {
			s.all = append(s.all[:i], s.all[i+1:]...)
			s.bytes -= x.size
			return x
		}
	}
	return spare{}
}

// keep keeps a block's mapping, and gives older ones back for it. The caller holds the lock.
func (s *spares) keep(x spare) {
	most := mostOf(x.size, x.file != nil, limit(), ranksHere(os.Getenv))
	if n := memory.Limit(); n > 0 && x.file == nil { // pages of files are given back, these are not
		most = min(most, int(n/64))
	}
	if x.size > most {
		s.giveUp(x)
		return
	}
	s.all = append(s.all, x)
	s.bytes += x.size
	s.trim(most)
	if s.timer == nil {
		s.timer = time.AfterFunc(spareTime, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.trim(0)
		})
	} else {
		s.timer.Reset(spareTime)
	}
}

// trim gives the oldest mappings back until there are at most so many bytes. The caller holds the lock.
func (s *spares) trim(most int) {
	for s.bytes > most {
		s.giveUp(s.all[0])
		s.bytes -= s.all[0].size
		s.all = s.all[1:]
	}
}
