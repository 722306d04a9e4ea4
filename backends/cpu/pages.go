package cpu

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"dtl/core/memory"
)

// pages is the resident memory of mapped files. What is read and written stays resident until the system needs room, which counts as this
// process's memory. So while there is a limit, somebody looks how much is resident, and gives the pages of files back before it is
// reached: to the page cache, from which a later use has them again.
var pages resident

var _ memory.Pager = (*resident)(nil)

type resident struct {
	mu     sync.Mutex
	all    map[unsafe.Pointer]mapping
	total  int64 // of their bytes
	most   int64 // that it ever was
	looks  bool  // somebody looks
	left   int64 // the least that has been resident since pages were given back
	statm  *os.File
	buffer [128]byte
}

// mapping is a range of addresses, and how its pages are given back.
type mapping struct{ size, advice int }

const (
	// fault is how fast a process makes pages of files resident at most, in bytes a second.
	fault = 8 << 30
	// fewest is how many bytes more are to be resident before private pages are looked through again: those that were written stay, and
	// to look takes long.
	fewest = 4 << 20
	// headroom is how much more than what is resident a limit has to be.
	headroom = 32 << 20
	// shortest and longest are between two looks.
	shortest, longest = 500 * time.Microsecond, 20 * time.Millisecond
)

func (r *resident) add(p unsafe.Pointer, size int) {
	r.put(p, mapping{size, unix.MADV_DONTNEED}) // of a shared mapping nothing is lost
}

// addPrivate is add of a mapping whose pages that were written are this process's alone, and stay.
func (r *resident) addPrivate(p unsafe.Pointer, size int) { r.put(p, mapping{size, unix.MADV_PAGEOUT}) }

func (r *resident) put(p unsafe.Pointer, m mapping) {
	r.hold()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[unsafe.Pointer]mapping{}
	}
	r.all[p] = m
	r.total += int64(m.size)
	r.most = max(r.most, r.total)
	r.look()
}

// hold has the share of the control group be the limit from now on, with room for the blocks of loops beside what is resident.
func (r *resident) hold() {
	if memory.Share() == 0 {
		return
	}
	r.mu.Lock()
	now := r.bytes()
	r.mu.Unlock()
	memory.HoldShare(now + headroom)
}

func (r *resident) remove(p unsafe.Pointer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total -= int64(r.all[p].size)
	delete(r.all, p)
}

// InFiles returns the most bytes that were ever mapped at once.
func (r *resident) InFiles() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.most
}

// Limited begins to look, where there is a limit now.
func (r *resident) Limited() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.look()
}

// look has somebody look as long as there are mappings and a limit. The caller holds the lock.
func (r *resident) look() {
	if !r.looks && len(r.all) > 0 && memory.Limit() > 0 {
		r.looks = true
		go func() {
			for r.looked() {
				time.Sleep(r.pause())
			}
		}()
	}
}

// pause returns how long the limit cannot be reached.
func (r *resident) pause() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := threshold() - r.bytes()
	return min(max(time.Duration(left)*time.Second/fault, shortest), longest)
}

// threshold is from how many resident bytes on pages are given back: below the limit by what the blocks of some loops take.
func threshold() int64 { return memory.Limit() - max(memory.Limit()/8, 16<<20) }

// looked gives pages back if there are too many, and says whether to go on looking.
func (r *resident) looked() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) == 0 || memory.Limit() == 0 {
		r.looks = false
		return false
	}
	r.ease()
	return true
}

// Ease gives pages back if there are too many.
func (r *resident) Ease() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ease()
}

// ease is Ease for who holds the lock.
func (r *resident) ease() {
	if len(r.all) == 0 {
		return
	}
	now := r.bytes()
	if r.left = min(r.left, now); now < threshold() {
		return
	}
	again := now >= r.left+fewest
	for p, m := range r.all {
		if again || m.advice == unix.MADV_DONTNEED {
			_ = unix.Madvise(unsafe.Slice((*byte)(p), m.size), m.advice)
		}
	}
	if again {
		r.left = r.bytes()
	}
}

// bytes returns how much of this process is resident, as the kernel counts it; 0 if it does not say.
func (r *resident) bytes() int64 {
	if r.statm == nil {
		file, err := os.Open("/proc/self/statm")
		if err != nil {
			return 0
		}
		r.statm = file
	}
	n, _ := r.statm.ReadAt(r.buffer[:], 0)
	fields := strings.Fields(string(r.buffer[:n]))
	if len(fields) < 2 {
		return 0
	}
	resident, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}
