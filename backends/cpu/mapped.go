package cpu

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/status"
)

// ranges is the memory of ranges of users' files: what is written to it stays in this process.
var ranges = &fileRanges{all: map[unsafe.Pointer]fileRange{}}

type fileRanges struct {
	mu  sync.Mutex
	all map[unsafe.Pointer]fileRange
}

// fileRange is a mapping from a page on, in which a block begins somewhere.
type fileRange struct {
	file   *os.File
	start  unsafe.Pointer
	size   int
	end    int64 // the least size of the file
	number int   // of the guard
}

var _ backend.CheckedAllocator = (*fileRanges)(nil)

// MapRange returns memory with the bytes of a file from an offset on. The descriptor stays the caller's.
func (local) MapRange(descriptor int, offset int64, size int) (memory.Block, backend.CheckedAllocator, error) {
	own, err := unix.FcntlInt(uintptr(descriptor), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return memory.Block{}, nil, status.New(status.File, "its descriptor: %w", err)
	}
	file := os.NewFile(uintptr(own), "")
	skip := int(offset & int64(os.Getpagesize()-1))
	r := fileRange{file: file, size: max(skip+size, 1), end: offset + int64(size), number: -1}
	r.start, err = unix.MmapPtr(own, offset-int64(skip), nil, uintptr(r.size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		defer file.Close()
		return memory.Block{}, nil, status.New(status.File, "the file is on %s, which does not map it: %w", fileSystem(own), err)
	}
	if g := memory.Guarded(); g != nil {
		r.number = g.Watch(uintptr(r.start), uintptr(r.size))
	}
	at := unsafe.Add(r.start, skip)
	ranges.mu.Lock()
	ranges.all[at] = r
	ranges.mu.Unlock()
	pages.add(mapping{start: r.start, size: r.size, file: own, offset: offset - int64(skip), private: true})
	return memory.Block{Addr: at, Size: size}, ranges, nil
}

// fileSystem returns which file system an open file is on, in words.
func fileSystem(descriptor int) string {
	var at unix.Stat_t
	if unix.Fstat(descriptor, &at) != nil {
		return "a file system"
	}
	device := fmt.Sprintf("%d:%d", unix.Major(at.Dev), unix.Minor(at.Dev))
	for line := range strings.Lines(readFile("/proc/self/mountinfo")) {
		mount, about, _ := strings.Cut(line, " - ") // id, parent, device, root, folder and more; then the type and more
		f, kind := strings.Fields(mount), strings.Fields(about)
		if len(f) > 4 && len(kind) > 0 && f[2] == device {
			return fmt.Sprintf("%s at %s", kind[0], f[4])
		}
	}
	return "a file system of number " + device
}

// Check says whether the file still has all bytes of a block.
func (f *fileRanges) Check(b memory.Block) error {
	f.mu.Lock()
	r := f.all[b.Addr]
	f.mu.Unlock()
	if g := memory.Guarded(); g != nil && r.number >= 0 {
		g.Renew()
		if g.Broken(r.number) {
			_ = memory.CheckFiles() // which would say it once more
			return status.New(status.File, "the mapped file has become shorter, or cannot be read any more")
		}
	}
	var now unix.Stat_t
	if err := unix.Fstat(int(r.file.Fd()), &now); err != nil || now.Size < r.end {
		if g := memory.Guarded(); g != nil && r.number >= 0 {
			g.Break(r.number)
		}
		return status.New(status.File, "the mapped file has become shorter: it has %d bytes of %d", now.Size, r.end)
	}
	return nil
}

// Allocate is an error: what is mapped is there.
func (f *fileRanges) Allocate(size, _ int) (memory.Block, error) {
	return memory.Block{}, status.New(status.Internal, "%d bytes of no file", size)
}

// Deallocate unmaps a block, of which nothing was written to the file.
func (f *fileRanges) Deallocate(b memory.Block) {
	f.mu.Lock()
	r := f.all[b.Addr]
	delete(f.all, b.Addr)
	f.mu.Unlock()
	pages.remove(r.start)
	if g := memory.Guarded(); g != nil && r.number >= 0 {
		g.Unwatch(r.number)
	}
	unmap(r.start, r.size)
	_ = r.file.Close()
}
