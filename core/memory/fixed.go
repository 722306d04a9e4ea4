package memory

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"dtl/core/status"
)

// Fixed has values that never move, in memory that is never given back, because code that is not Go looks there
// too, and may look late. A T holds no pointers of Go, and fills its cache lines alone. The zero Fixed is empty.
type Fixed[T any] struct {
	mu   sync.Mutex
	free []*T
}

// Get returns one that nobody has. One that was put back is as it was then.
func (f *Fixed[T]) Get() (*T, error) {
	const line = 64
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.free) == 0 {
		step := (int(unsafe.Sizeof(*new(T))) + line - 1) / line * line
		page, err := unix.Mmap(-1, 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return nil, status.New(status.OutOfMemory, "no memory: %w", err)
		}
		for at := 0; at+step <= len(page); at += step {
			f.free = append(f.free, (*T)(unsafe.Pointer(&page[at])))
		}
	}
	last := len(f.free) - 1
	t := f.free[last]
	f.free = f.free[:last]
	return t, nil
}

// Put lets others have one.
func (f *Fixed[T]) Put(t *T) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.free = append(f.free, t)
}
