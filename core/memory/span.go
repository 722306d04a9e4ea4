// Package memory describes element memory: Span borrows it, Storage owns it and counts its users.
//
// Element memory is never in the Go heap, so foreign code may keep its address as long as the Storage exists.
package memory

import (
	"unsafe"

	"dtl/core/dtype"
)

// Span is Count elements of one type at an address. It borrows: whoever made it keeps the memory valid.
// The zero Span has no elements and no address. Of a place that the host does not reach, nothing but a device's queue
// follows the address.
type Span struct {
	Addr  unsafe.Pointer
	Count int
	Type  dtype.Type
	Place Place
}

// Bytes returns the length of the span in bytes.
func (s Span) Bytes() int { return s.Count * s.Type.Size() }

// Slice returns elements [lo, hi) of the span.
func (s Span) Slice(lo, hi int) Span {
	if lo < 0 || hi < lo || hi > s.Count {
		panic("memory: slice outside the span")
	}
	if lo == hi {
		return Span{Addr: s.Addr, Type: s.Type, Place: s.Place}
	}
	return Span{Addr: unsafe.Add(s.Addr, lo*s.Type.Size()), Count: hi - lo, Type: s.Type, Place: s.Place}
}

// Raw returns the same memory as bytes.
func (s Span) Raw() Span {
	return Span{Addr: s.Addr, Count: s.Bytes(), Type: dtype.Uint8, Place: s.Place}
}

// As returns the span's memory, which the host reaches, as a slice of T. T must be of the element's size.
func As[T any](s Span) []T {
	var zero T
	if int(unsafe.Sizeof(zero)) != s.Type.Size() || s.Place > Host {
		refuse(s)
	}
	return unsafe.Slice((*T)(s.Addr), s.Count)
}

// refuse panics with why a span is no slice: apart from As, which stays small enough to be compiled into its callers.
func refuse(s Span) {
	if s.Place > Host {
		panic("memory: span " + s.Place.String() + " viewed by the host")
	}
	panic("memory: span of " + s.Type.String() + " viewed as another size")
}

// Pair returns two spans of one count as slices that the compiler knows to be of one length, so that it checks no index.
func Pair[T any](dst, src Span) (d, s []T) {
	d, s = As[T](dst), As[T](src)
	return d[:len(s)], s
}

// Of returns a span over a Go slice, for tests and for calls that end before the slice moves on.
func Of[T any](t dtype.Type, elements []T) Span {
	return Span{Addr: unsafe.Pointer(unsafe.SliceData(elements)), Count: len(elements), Type: t}
}

// Scratch returns new Go memory for as many elements as s has, aligned for every type.
func Scratch(s Span) Span {
	m := Of(s.Type, make([]complex128, (s.Bytes()+15)/16))
	m.Count = s.Count
	return m
}

// Copy copies min(dst, src) bytes of memory that the host reaches, and returns how many; the spans may overlap.
func Copy(dst, src Span) int {
	if dst.Place > Host || src.Place > Host {
		refuse(Span{Place: max(dst.Place, src.Place)})
	}
	n := min(dst.Bytes(), src.Bytes())
	Move(dst.Addr, src.Addr, n)
	return n
}
