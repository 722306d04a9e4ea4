// Package hashmap has the distributed map: a hash of the key says which rank owns it, and a table on that rank finds
// it.
//
// A Table belongs to one rank; a Map consists of the tables of all ranks. Keys are byte strings of one length, and
// values elements of one type. Both are outside the Go heap, and no entry is a Go object.
package hashmap

import (
	"unsafe"

	"dtl/core/memory"
)

// Table is a hash table with open addressing: segments of groups of eight slots. The highest bits of the hash choose
// the segment, by way of a directory (extendible hashing: Fagin et al., TODS 1979). So a table grows by splitting one
// small segment at a time: it never needs room for a second copy of itself, and no single insertion waits for long.
//
// Its methods work on batches. They handle a block of keys in three steps, hashes, first looks, and work, so that the
// memory's answers to the looks arrive together. One goroutine at a time uses a table.
type Table struct {
	layout
	keys      keyType
	from      memory.Allocator
	most      uint64 // groups of a segment
	directory []*segment
	shift     uint // the hash's bits beside those that index the directory
	size      int
	gone      func(value unsafe.Pointer) // what Erase calls with the value of each entry that it removes; may be nil
	at        block
}

// block is how many keys are handled at once, and what is known of them.
const blockKeys = 32

type block struct {
	hash  [blockKeys]uint64
	group [blockKeys]unsafe.Pointer // nil: the key is not there
	slot  [blockKeys]uint8
	fresh [blockKeys]bool // the entry has been made for this key
	warm  control         // keeps the first looks from being left out
	dst   [blockKeys]unsafe.Pointer
	src   [blockKeys]unsafe.Pointer
}

// NewTable returns an empty table for keys and values of so many bytes each, both at least 1. The caller closes it.
func NewTable(from memory.Allocator, key, value int) (*Table, error) {
	t := &Table{layout: newLayout(key, value), keys: keysOf(key), from: from, shift: 64}
	t.most = t.mostGroups()
	first, err := newSegment(from, &t.layout, leastGroups, 0)
	if err != nil {
		return nil, err
	}
	t.directory = []*segment{first}
	return t, nil
}

// Len returns the number of entries.
func (t *Table) Len() int { return t.size }

// Close gives the memory back. The table is not used after.
func (t *Table) Close() {
	t.each(func(s *segment) { s.storage.Release() })
	t.directory, t.size = nil, 0
}

// each calls f with every segment in the directory's order.
func (t *Table) each(f func(*segment)) { t.between(0, len(t.directory), f) }

// Copy writes all keys and all values side by side, in the table's order, which depends on nothing but the calls that
// made it what it is. There is room for Len() of each.
func (t *Table) Copy(keys, values unsafe.Pointer) {
	n := 0
	t.entries(func(key, value unsafe.Pointer) {
		copyBytes(unsafe.Add(keys, n*t.key), key, t.key)
		copyBytes(unsafe.Add(values, n*t.value), value, t.value)
		n++
	})
}

func (t *Table) entries(f func(key, value unsafe.Pointer)) {
	t.each(func(s *segment) {
		for g := uint64(0); g <= s.mask; g++ {
			group := unsafe.Add(s.base, int(g)*t.stride)
			for in := (*(*control)(group)).full(); in != 0; in = in.rest() {
				f(t.keyAt(group, in.first()), t.valueAt(group, in.first()))
			}
		}
	})
}

// copyBytes copies n bytes.
func copyBytes(dst, src unsafe.Pointer, n int) {
	switch n {
	case 8:
		*(*uint64)(dst) = *(*uint64)(src)
	case 4:
		*(*uint32)(dst) = *(*uint32)(src)
	case 1:
		*(*uint8)(dst) = *(*uint8)(src)
	default:
		copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
	}
}
