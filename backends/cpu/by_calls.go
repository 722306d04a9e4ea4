package cpu

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"dtl/core/memory"
)

// Crowded reports whether the files that are mapped have more than half of the limit, or more than other memory leaves of it.
func (r *resident) Crowded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.total == 0 || r.total > memory.Limit()/2 {
		return r.total > 0
	}
	all, ofFiles := r.pages()
	return all-ofFiles+r.total > threshold()
}

// Fits reports whether the files that some addresses are in can be resident as a whole, beside what is not given back for them: memory of no file
// and users' files. Where pages of other files may be in their way, it gives these back.
func (r *resident) Fits(places ...unsafe.Pointer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	var asked []int
	for _, p := range places {
		asked = append(asked, r.holding(p))
	}
	stays := func(at int) bool { return r.all[at].private || slices.Contains(asked, at) }
	size := int64(0)
	for at := range r.all {
		if stays(at) {
			size += int64(r.all[at].size)
		}
	}
	all, ofFiles := r.pages()
	if all-ofFiles+size > threshold() {
		return false
	}
	if all+size > threshold() {
		for at := range r.all {
			if !stays(at) {
				r.all[at].giveBack()
			}
		}
	}
	return true
}

// Copy copies bytes by calls of the system, and returns how many of the first it has copied.
func (r *resident) Copy(dst, src unsafe.Pointer, n int) int {
	from, to := r.placeOf(src, n), r.placeOf(dst, n)
	if from.file >= 0 && from.private && !written.none(src, n) {
		from.file = -1
	}
	if to.private {
		to.file = -1
	}
	switch read, write := unsafe.Slice((*byte)(src), n), unsafe.Slice((*byte)(dst), n); {
	case from.file >= 0 && to.file >= 0:
		return between(to, from, n)
	case from.file >= 0:
		return whole(write, from.offset, func(b []byte, at int64) (int, error) { return unix.Pread(from.file, b, at) })
	case to.file >= 0:
		return whole(read, to.offset, func(b []byte, at int64) (int, error) { return unix.Pwrite(to.file, b, at) })
	}
	return 0
}

// placeOf returns the file that has n bytes from an address on, with the offset of the first; of descriptor -1: none has them.
func (r *resident) placeOf(p unsafe.Pointer, n int) mapping {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.holding(p); at >= 0 {
		m := r.all[at]
		if skip := uintptr(p) - uintptr(m.start); skip+uintptr(n) <= uintptr(m.size) {
			m.offset += int64(skip)
			return m
		}
	}
	return mapping{file: -1}
}

// whole calls a call of the system until it has moved all bytes, or some cannot be moved, and returns how many were.
func whole(b []byte, offset int64, call func([]byte, int64) (int, error)) (done int) {
	for done < len(b) {
		n, err := call(b[done:], offset+int64(done))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 { // whoever touches the pages is told why
			break
		}
		done += n
	}
	return done
}

var pieces = sync.Pool{New: func() any { return new([1 << 20]byte) }}

// between copies bytes from file to file. The system's own call may let both share their blocks, of which the next write may find no room.
func between(to, from mapping, n int) (done int) {
	buffer := pieces.Get().(*[1 << 20]byte)
	defer pieces.Put(buffer)
	for done < n {
		some := buffer[:min(len(buffer), n-done)]
		read := whole(some, from.offset+int64(done), func(b []byte, at int64) (int, error) { return unix.Pread(from.file, b, at) })
		wrote := whole(some[:read], to.offset+int64(done), func(b []byte, at int64) (int, error) { return unix.Pwrite(to.file, b, at) })
		if done += wrote; wrote < len(some) {
			break
		}
	}
	return done
}

// written knows which pages of private mappings are not the file's any more.
var written pageMap

type pageMap struct {
	mu   sync.Mutex
	file *os.File
	pid  int // of the process whose pages it has
}

const (
	// present, swapped and ofFile are bits of an entry of /proc/self/pagemap: ofFile is not set of a page that was written.
	present, swapped, ofFile = 1 << 63, 1 << 62, 1 << 61
)

// none reports whether no page from an address on has been written.
func (m *pageMap) none(p unsafe.Pointer, n int) bool {
	file := m.open()
	if file == nil {
		return false
	}
	var entries [4096]byte
	size := os.Getpagesize()
	first, last := int64(uintptr(p))/int64(size), (int64(uintptr(p))+int64(n)-1)/int64(size)
	for at := 8 * first; at <= 8*last; at += int64(len(entries)) {
		some := entries[:min(int64(len(entries)), 8*(last+1)-at)]
		if _, err := io.ReadFull(io.NewSectionReader(file, at, int64(len(some))), some); err != nil {
			return false
		}
		for i := 0; i < len(some); i += 8 {
			if e := binary.NativeEndian.Uint64(some[i:]); e&swapped != 0 || e&present != 0 && e&ofFile == 0 {
				return false
			}
		}
	}
	return true
}

// open returns the map of this process; nil: there is none. That of a process that this one was forked of is another.
func (m *pageMap) open() *os.File {
	m.mu.Lock()
	defer m.mu.Unlock()
	if pid := os.Getpid(); m.file == nil || m.pid != pid {
		file, err := os.Open("/proc/self/pagemap")
		if err != nil {
			return nil
		}
		m.file, m.pid = file, pid
	}
	return m.file
}

// Room returns memory for so many bytes, and what gives it back to the system.
func (r *resident) Room(bytes int) (room unsafe.Pointer, done func(), err error) {
	size := roundUp(bytes, hugePage)
	if room, err = reserve(size, hugePage); err != nil {
		return nil, nil, err
	}
	return room, func() { unmap(room, size) }, nil
}
