package move

import (
	"unsafe"

	"dtl/core/memory"
)

// The words that elements are moved as.
type (
	word1  = uint8
	word2  = uint16
	word4  = uint32
	word8  = uint64
	word16 = [2]uint64
)

// Take copies the elements of size bytes at base + offsets[i] to dst, side by side, leaving out negative offsets, and
// returns how many it copied. dst has room for one element more than that, and base for one.
func Take(dst, base unsafe.Pointer, offsets []int64, size int) int {
	switch size {
	case 1:
		return take[word1](dst, base, offsets)
	case 2:
		return take[word2](dst, base, offsets)
	case 4:
		return take[word4](dst, base, offsets)
	case 8:
		return take[word8](dst, base, offsets)
	case 16:
		return take[word16](dst, base, offsets)
	default:
		return takeAny(dst, base, offsets, size)
	}
}

// take has no branch that depends on the offsets: where they are random, it would be guessed wrong half of the time.
func take[T any](dst, base unsafe.Pointer, offsets []int64) int {
	out := unsafe.Slice((*T)(dst), len(offsets)+1)
	n := 0
	for _, at := range offsets {
		out[n] = *(*T)(unsafe.Add(base, at&^(at>>63)))
		n += int(^uint64(at) >> 63)
	}
	return n
}

// takeAny does what Take does, with elements that are no words.
func takeAny(dst, base unsafe.Pointer, offsets []int64, size int) int {
	n := 0
	for _, at := range offsets {
		if at >= 0 {
			memory.Move(unsafe.Add(dst, n*size), unsafe.Add(base, at), size)
			n++
		}
	}
	return n
}

// Gather copies the element of size bytes at base + offsets[i] to the i-th place of dst; for a negative offset, the one at base, which has to
// be there.
func Gather(dst, base unsafe.Pointer, offsets []int64, size int) {
	switch size {
	case 1:
		gather[word1](dst, base, offsets)
	case 2:
		gather[word2](dst, base, offsets)
	case 4:
		gather4(dst, base, offsets)
	case 8:
		gather8(dst, base, offsets)
	case 16:
		gather[word16](dst, base, offsets)
	default:
		for i, at := range offsets {
			memory.Move(unsafe.Add(dst, i*size), unsafe.Add(base, max(at, 0)), size)
		}
	}
}

func gather[T any](dst, base unsafe.Pointer, offsets []int64) {
	out := unsafe.Slice((*T)(dst), len(offsets))
	for i, at := range offsets {
		out[i] = *(*T)(unsafe.Add(base, at&^(at>>63)))
	}
}

// Put copies element i of src to base + offsets[i], in order, leaving out negative offsets.
func Put(base unsafe.Pointer, offsets []int64, src unsafe.Pointer, size int) {
	switch size {
	case 1:
		put[word1](base, offsets, src)
	case 2:
		put[word2](base, offsets, src)
	case 4:
		put[word4](base, offsets, src)
	case 8:
		put[word8](base, offsets, src)
	case 16:
		put[word16](base, offsets, src)
	default:
		for i, at := range offsets {
			if at >= 0 {
				memory.Move(unsafe.Add(base, at), unsafe.Add(src, i*size), size)
			}
		}
	}
}

func put[T any](base unsafe.Pointer, offsets []int64, src unsafe.Pointer) {
	for i, v := range unsafe.Slice((*T)(src), len(offsets)) {
		if at := offsets[i]; at >= 0 {
			*(*T)(unsafe.Add(base, at)) = v
		}
	}
}

// Rearrange copies the elements of size bytes, which may be any, at from[i] of one memory to to[i] of another, in order;
// places are counted in elements.
func Rearrange(dst, src unsafe.Pointer, to, from []int, size int) {
	switch size {
	case 1:
		rearrange[word1](dst, src, to, from)
	case 2:
		rearrange[word2](dst, src, to, from)
	case 4:
		rearrange[word4](dst, src, to, from)
	case 8:
		rearrange[word8](dst, src, to, from)
	default:
		for i, at := range from {
			memory.Move(unsafe.Add(dst, to[i]*size), unsafe.Add(src, at*size), size)
		}
	}
}

func rearrange[T any](dst, src unsafe.Pointer, to, from []int) {
	size := int(unsafe.Sizeof(*new(T)))
	to = to[:len(from)]
	for i, at := range from {
		*(*T)(unsafe.Add(dst, to[i]*size)) = *(*T)(unsafe.Add(src, at*size))
	}
}

// UnpackByOwner copies the elements of several streams to dst: element i is the next of stream owners[i], whose elements start
// at next[owner], counted in elements from src on. next moves on.
func UnpackByOwner(dst, src unsafe.Pointer, owners []int32, next []int, size int) {
	switch size {
	case 1:
		unpack[word1](dst, src, owners, next)
	case 2:
		unpack[word2](dst, src, owners, next)
	case 4:
		unpack[word4](dst, src, owners, next)
	case 8:
		unpack[word8](dst, src, owners, next)
	case 16:
		unpack[word16](dst, src, owners, next)
	default:
		for i, owner := range owners {
			memory.Move(unsafe.Add(dst, i*size), unsafe.Add(src, next[owner]*size), size)
			next[owner]++
		}
	}
}

func unpack[T any](dst, src unsafe.Pointer, owners []int32, next []int) {
	out := unsafe.Slice((*T)(dst), len(owners))
	for i, owner := range owners {
		at := next[owner]
		next[owner] = at + 1
		out[i] = *(*T)(unsafe.Add(src, at*int(unsafe.Sizeof(out[0]))))
	}
}

// PackByOwner is the reverse: it copies element i of src to the stream owners[i]. next moves on.
func PackByOwner(dst, src unsafe.Pointer, owners []int32, next []int, size int) {
	switch size {
	case 1:
		pack[word1](dst, src, owners, next)
	case 2:
		pack[word2](dst, src, owners, next)
	case 4:
		pack[word4](dst, src, owners, next)
	case 8:
		pack[word8](dst, src, owners, next)
	case 16:
		pack[word16](dst, src, owners, next)
	default:
		for i, owner := range owners {
			memory.Move(unsafe.Add(dst, next[owner]*size), unsafe.Add(src, i*size), size)
			next[owner]++
		}
	}
}

func pack[T any](dst, src unsafe.Pointer, owners []int32, next []int) {
	in := unsafe.Slice((*T)(src), len(owners))
	for i, owner := range owners {
		at := next[owner]
		next[owner] = at + 1
		*(*T)(unsafe.Add(dst, at*int(unsafe.Sizeof(in[0])))) = in[i]
	}
}
