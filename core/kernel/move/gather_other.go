//go:build !amd64

package move

import "unsafe"

func gather8(dst, base unsafe.Pointer, offsets []int64) { gather[word8](dst, base, offsets) }

func gather4(dst, base unsafe.Pointer, offsets []int64) { gather[word4](dst, base, offsets) }
