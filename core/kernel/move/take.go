package move

import "unsafe"

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
	default:
		return take[word16](dst, base, offsets)
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
	default:
		put[word16](base, offsets, src)
	}
}

func put[T any](base unsafe.Pointer, offsets []int64, src unsafe.Pointer) {
	for i, v := range unsafe.Slice((*T)(src), len(offsets)) {
		if at := offsets[i]; at >= 0 {
			*(*T)(unsafe.Add(base, at)) = v
		}
	}
}

// Deal copies the elements of several streams to dst: element i is the next of stream owners[i], whose elements start
// at next[owner], counted in elements from src on. next moves on.
func Deal(dst, src unsafe.Pointer, owners []int32, next []int, size int) {
	switch size {
	case 1:
		deal[word1](dst, src, owners, next)
	case 2:
		deal[word2](dst, src, owners, next)
	case 4:
		deal[word4](dst, src, owners, next)
	case 8:
		deal[word8](dst, src, owners, next)
	default:
		deal[word16](dst, src, owners, next)
	}
}

func deal[T any](dst, src unsafe.Pointer, owners []int32, next []int) {
	out := unsafe.Slice((*T)(dst), len(owners))
	for i, owner := range owners {
		at := next[owner]
		next[owner] = at + 1
		out[i] = *(*T)(unsafe.Add(src, at*int(unsafe.Sizeof(out[0]))))
	}
}

// Bucket is Deal backwards: it copies element i of src to the stream owners[i]. next moves on.
func Bucket(dst, src unsafe.Pointer, owners []int32, next []int, size int) {
	switch size {
	case 1:
		bucket[word1](dst, src, owners, next)
	case 2:
		bucket[word2](dst, src, owners, next)
	case 4:
		bucket[word4](dst, src, owners, next)
	case 8:
		bucket[word8](dst, src, owners, next)
	default:
		bucket[word16](dst, src, owners, next)
	}
}

func bucket[T any](dst, src unsafe.Pointer, owners []int32, next []int) {
	in := unsafe.Slice((*T)(src), len(owners))
	for i, owner := range owners {
		at := next[owner]
		next[owner] = at + 1
		*(*T)(unsafe.Add(dst, at*int(unsafe.Sizeof(in[0])))) = in[i]
	}
}
