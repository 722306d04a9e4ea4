package cpu

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"dtl/core/status"
)

// hugePage is the size of a huge page on x86-64, and on arm64 with 4 KiB pages.
const hugePage = 2 << 20

// reserve maps size bytes, a multiple of hugePage, at a multiple of alignment. The memory reads as zero and
// is committed by huge pages, where the system has them, as it is touched.
func reserve(size, alignment int) (unsafe.Pointer, error) {
	all := size + alignment // room to align in
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(all), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, status.New(status.OutOfMemory, "the system gives no %d bytes: %w", size, err)
	}
	head := int(-uintptr(p) & uintptr(alignment-1))
	start := unsafe.Add(p, head)
	unmap(p, head)
	unmap(unsafe.Add(start, size), all-head-size)
	// A kernel without huge pages refuses; small ones serve as well, only slower.
	_ = unix.Madvise(unsafe.Slice((*byte)(start), size), unix.MADV_HUGEPAGE)
	return start, nil
}

// unmap gives pages back to the system.
func unmap(p unsafe.Pointer, size int) {
	if size == 0 {
		return
	}
	if err := unix.MunmapPtr(p, uintptr(size)); err != nil {
		panic("cpu: munmap: " + err.Error()) // only of a range that was never mapped
	}
}

// clean makes used memory read as zero. Whole huge pages are given back instead of written, so that what
// nobody touches again is not committed.
func clean(p unsafe.Pointer, size int) {
	b := unsafe.Slice((*byte)(p), size)
	lo := min(size, int(-uintptr(p)&(hugePage-1)))
	hi := lo + (size-lo)/hugePage*hugePage
	if hi > lo && unix.Madvise(b[lo:hi], unix.MADV_DONTNEED) != nil {
		lo, hi = size, size // locked pages cannot be given back
	}
	clear(b[:lo])
	clear(b[hi:])
}

// roundUp returns the least multiple of unit, a power of two, that is at least n.
func roundUp(n, unit int) int { return (n + unit - 1) &^ (unit - 1) }
