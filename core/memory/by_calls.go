package memory

import (
	"sync"
	"unsafe"
)

// crowded returns who copies elements of files by calls of the system; nil: they can stay resident, so their pages are used.
func crowded() Pager {
	if Limit() == 0 {
		return nil
	}
	if p := pager.Load(); p != nil && (*p).Crowded() {
		return *p
	}
	return nil
}

// Fits reports whether a call that touches all that there is at some addresses may have the pages of their files resident, all at once.
func Fits(places ...unsafe.Pointer) bool {
	p := crowded()
	return p == nil || p.Fits(places...)
}

// ByCalls copies bytes of memory by calls of the system, as Pager.Copy does, where elements in files are more than can stay resident, and
// returns how many it has copied. Pages that a program touches are mapped one after the other, and taken back; such calls take less time.
// What is read and what is written do not overlap, or the destination comes first.
func ByCalls(dst, src unsafe.Pointer, n int) int {
	if p := crowded(); p != nil {
		return p.Copy(dst, src, n)
	}
	return 0
}

// buffered is up to how many bytes Read copies: they stay in the cache.
const buffered = 1 << 20

var buffers = sync.Pool{New: func() any { return new([buffered / 16]complex128) }}

// Read calls f with elements that it only reads: where they are in a file more of which is mapped than can stay resident, with a copy.
func (s Span) Read(f func(Span)) {
	p := crowded()
	if p == nil || s.Bytes() > buffered {
		f(s)
		return
	}
	buffer := buffers.Get().(*[buffered / 16]complex128)
	defer buffers.Put(buffer)
	copied := Span{Addr: unsafe.Pointer(buffer), Count: s.Count, Type: s.Type}
	if p.Copy(copied.Addr, s.Addr, s.Bytes()) < s.Bytes() {
		copied = s
	}
	f(copied)
}

// Room returns memory for so many bytes, and what gives it back, where there is a limit of memory; nil: there is none, or no room.
func Room(bytes int) (room unsafe.Pointer, done func()) {
	p := pager.Load()
	if Limit() == 0 || p == nil {
		return nil, nil
	}
	room, done, err := (*p).Room(bytes)
	if err != nil {
		return nil, nil
	}
	return room, done
}
