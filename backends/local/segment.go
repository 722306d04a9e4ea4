package local

import (
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"dtl/backends/internal/symmetric/transport"
	"dtl/core/memory"
	"dtl/core/status"
)

// segment is the memory of a job as one process has it mapped: an entry for each process, and each one's part.
type segment struct {
	rank    int
	size    int
	memory  []byte
	entries []entry
	part    int // bytes of a process's part
}

var _ transport.Fabric = (*segment)(nil)

// entry is what a process says of itself before anything else, on a cache line of its own.
type entry struct {
	process atomic.Int64 // the process that this rank is; 0: none yet
	state   atomic.Int64
	_       [transport.CacheLine - 16]byte
}

// The states of a process.
const (
	absent int64 = iota
	ready
	failed // it has not got the memory for its part
	left   // it has ended in order: see Leave
	told   // it has not, and that has been said
)

// mostRanks is more than any machine has use for.
const mostRanks = 1 << 16

const page = 4096

func roundUp(n int) int { return (n + page - 1) &^ (page - 1) }

// layout returns where the first part starts, and how long each is.
func layout(processes int) (first, part int) {
	return roundUp(processes * int(unsafe.Sizeof(entry{}))), roundUp(transport.Layout(processes).Bytes())
}

// private returns the segment of a process alone.
func private() (*segment, error) {
	first, part := layout(1)
	mapped, err := unix.Mmap(-1, 0, first+part, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, status.New(status.OutOfMemory, "no memory of %d bytes for messages: %w", first+part, err)
	}
	return segmentIn(mapped, 0, 1), nil
}

func segmentIn(mapped []byte, rank, size int) *segment {
	_, part := layout(size)
	entries := unsafe.Slice((*entry)(unsafe.Pointer(unsafe.SliceData(mapped))), size)
	return &segment{rank: rank, size: size, memory: mapped, entries: entries, part: part}
}

// join maps the job's memory and waits until all its processes have. The pages of this process's part are there from then
// on: where there is no memory for them, that is an error on every rank, and not a signal later.
func (j job) join() (*segment, error) {
	file, err := j.open()
	if err != nil {
		return nil, err
	}
	return j.joinIn(file)
}

// joinIn does what join does, in a file that is open, and closes it.
func (j job) joinIn(file *os.File) (*segment, error) {
	defer file.Close()
	var err error
	first, part := layout(j.size)
	total := first + j.size*part
	if err = reserve(file, total, 0, first); err != nil {
		return nil, noMemory(j.rank, j.size, part, err)
	}
	mapped, err := unix.Mmap(int(file.Fd()), 0, total, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, noMemory(j.rank, j.size, part, err)
	}
	s := segmentIn(mapped, j.rank, j.size)
	if err := s.claim(); err != nil {
		return nil, err
	}
	if err := reserve(file, total, first+j.rank*part, part); err != nil {
		s.entries[j.rank].state.Store(failed)
		return nil, noMemory(j.rank, j.size, part, err)
	}
	s.entries[j.rank].state.Store(ready)
	return s, s.meet()
}

// reserve makes the file as long as it is to be, and gives it its pages from an offset on.
func reserve(file *os.File, total, from, n int) error {
	if err := file.Truncate(int64(total)); err != nil {
		return err
	}
	for {
		if err := unix.Fallocate(int(file.Fd()), 0, int64(from), int64(n)); err != unix.EINTR {
			return err
		}
	}
}

func noMemory(rank, size, part int, why error) error {
	return status.New(status.OutOfMemory, "rank %d of %d got no shared memory of %d bytes for messages: %w", rank, size, part, why)
}

// claim makes this process the rank that it was started as, unless another is.
func (s *segment) claim() error {
	mine := int64(os.Getpid())
	if e := &s.entries[s.rank]; !e.process.CompareAndSwap(0, mine) {
		return status.New(status.BackendUnavailable, "process %d is rank %d of this job already, and process %d cannot be it, too; "+
			"of the processes that a rank starts, one may open a context", e.process.Load(), s.rank, mine)
	}
	return nil
}

// meet waits until all processes have their memory. One that ends before is reported to the launcher, which ends the job.
func (s *segment) meet() error {
	const pause = 200 * time.Microsecond
	for rank := range s.entries {
		for s.entries[rank].state.Load() == absent {
			time.Sleep(pause)
		}
		if s.entries[rank].state.Load() == failed {
			return noMemory(rank, s.size, s.part, unix.ENOMEM)
		}
	}
	return nil
}

// Me returns this process.
func (s *segment) Me() int { return s.rank }

// Processes returns how many there are.
func (s *segment) Processes() int { return s.size }

// Memory returns this process's part.
func (s *segment) Memory() (unsafe.Pointer, int) { return s.at(s.rank, 0), s.part }

// at returns where an offset in a process's part is mapped here.
func (s *segment) at(there, offset int) unsafe.Pointer {
	first := len(s.memory) - s.size*s.part
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(s.memory)), first+there*s.part+offset)
}

// Put copies to a process's part.
func (s *segment) Put(there, at int, from unsafe.Pointer, n int) {
	memory.Move(s.at(there, at), from, n)
}

// Get copies from a process's part.
func (s *segment) Get(there, at int, into unsafe.Pointer, n int) {
	memory.Move(into, s.at(there, at), n)
}

// BeginPut is Put.
func (s *segment) BeginPut(there, at int, from unsafe.Pointer, n int) { s.Put(there, at, from, n) }

// BeginGet is Get.
func (s *segment) BeginGet(there, at int, into unsafe.Pointer, n int) { s.Get(there, at, into, n) }

// Quiet has nothing to wait for, but for this processor.
func (s *segment) Quiet() {
	var barrier int32
	atomic.AddInt32(&barrier, 1)
}

func (s *segment) word(there, at int) *uint64 { return (*uint64)(s.at(there, at)) }

// Fetch reads a word.
func (s *segment) Fetch(there, at int) uint64 { return atomic.LoadUint64(s.word(there, at)) }

// Swap writes a word, and returns the one that was there.
func (s *segment) Swap(there, at int, value uint64) uint64 {
	return atomic.SwapUint64(s.word(there, at), value)
}

// Add adds to a word, and returns the one that was there.
func (s *segment) Add(there, at int, value uint64) uint64 {
	return atomic.AddUint64(s.word(there, at), value) - value
}

// CompareSwap writes a word where there is cond, and returns what was there.
func (s *segment) CompareSwap(there, at int, cond, value uint64) uint64 {
	for {
		if atomic.CompareAndSwapUint64(s.word(there, at), cond, value) {
			return cond
		}
		if was := atomic.LoadUint64(s.word(there, at)); was != cond {
			return was
		}
	}
}

// Advance has nothing to do: what others have put is there.
func (s *segment) Advance() {}

// Native says where the parts are mapped, and which processes they are of.
func (s *segment) Native() transport.Native {
	var n transport.Native
	for there := range s.entries {
		n.Parts = append(n.Parts, s.at(there, 0))
		n.IDs = append(n.IDs, s.entries[there].process.Load())
	}
	return n
}
