package move

import "unsafe"

// gather8 is gather of words of eight bytes, and gather4 of four. Both read ahead: where the next elements are, only the offsets say.
//
//go:noescape
func gather8(dst, base unsafe.Pointer, offsets []int64)

//go:noescape
func gather4(dst, base unsafe.Pointer, offsets []int64)
