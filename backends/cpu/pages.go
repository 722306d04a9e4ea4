package cpu

import (
	"os"
	"slices"
	"sort"
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
	all    []mapping // by their addresses
	total  int64     // of their bytes
	most   int64     // that it ever was
	looks  bool      // somebody looks
	left   int64     // the least that has been resident since pages were given back
	statm  *os.File
	buffer [128]byte
}

// mapping is a range of addresses, and the file whose bytes it has from an offset on.
type mapping struct {
	start   unsafe.Pointer
	size    int
	file    int // its descriptor
	offset  int64
	private bool // what is written to it stays in this process
}

// giveBack gives its pages back.
func (m *mapping) giveBack() {
	advice := unix.MADV_DONTNEED // nothing is lost
	if m.private {               // those that were written are this process's alone, and stay
		advice = unix.MADV_PAGEOUT
	}
	_ = unix.Madvise(unsafe.Slice((*byte)(m.start), m.size), advice)
}

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

// add begins to look after a mapping.
func (r *resident) add(m mapping) {
	r.hold()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = slices.Insert(r.all, r.after(m.start), m)
	r.total += int64(m.size)
	r.most = max(r.most, r.total)
	r.look()
}

// after returns how many mappings begin at an address or before it. The caller holds the lock.
func (r *resident) after(p unsafe.Pointer) int {
	return sort.Search(len(r.all), func(i int) bool { return uintptr(r.all[i].start) > uintptr(p) })
}

// holding returns which mapping has an address; -1: none. The caller holds the lock.
func (r *resident) holding(p unsafe.Pointer) int {
	at := r.after(p) - 1
	if at < 0 || uintptr(p) >= uintptr(r.all[at].start)+uintptr(r.all[at].size) {
		return -1
	}
	return at
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
	if at := r.after(p) - 1; at >= 0 && r.all[at].start == p {
		r.total -= int64(r.all[at].size)
		r.all = slices.Delete(r.all, at, at+1)
	}
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
	for i := range r.all {
		if m := &r.all[i]; again || !m.private {
			m.giveBack()
		}
	}
	if again {
		r.left = r.bytes()
	}
}

// bytes returns how much of this process is resident, as the kernel counts it; 0 if it does not say.
func (r *resident) bytes() int64 {
	all, _ := r.pages()
	return all
}

// pages returns how much is resident, and how much of that is of files or shared.
func (r *resident) pages() (all, ofFiles int64) {
	if r.statm == nil {
		file, err := os.Open("/proc/self/statm")
		if err != nil {
			return 0, 0
		}
		r.statm = file
	}
	n, _ := r.statm.ReadAt(r.buffer[:], 0)
	fields := strings.Fields(string(r.buffer[:n]))
	if len(fields) < 3 {
		return 0, 0
	}
	all, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0, 0
	}
	ofFiles, err = strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return 0, 0
	}
	size := int64(os.Getpagesize())
	return all * size, ofFiles * size
}
