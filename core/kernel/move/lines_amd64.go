package move

import "unsafe"

// lines8 is lines of words of eight bytes, of which there is at least one row.
//
//go:noescape
func lines8(dst unsafe.Pointer, dstStride int, src unsafe.Pointer, srcStride, n int)

// streamLines8 is lines8 that writes past the caches, which saves reading what is written over: for more than they hold. Each row of the
// destination begins with a line of the cache, and the next one is srcNext bytes further in the source.
//
//go:noescape
func streamLines8(dst unsafe.Pointer, dstStride int, src unsafe.Pointer, srcStride, srcNext, n int)
