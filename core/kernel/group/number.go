package group

import (
	"math/bits"
	"unsafe"

	"dtl/core/kernel/radix"
)

// Number writes to codes the number of each row's value, by the order in which values are met first, and -1 for null. It returns
// the rows in which they are met first. Values are of so many bytes, 4 or 8, and equal if their bits are; of 0 bytes, they are texts.
// Rows from known on get the numbers of equal values before them, and -1 where there are none.
func Number(codes []int64, c Column, size, known int, workers radix.Workers) []int64 {
	parts := max(1, min(workers.Size, known/chunk))
	tables := make([]*table, parts)
	each(workers, known, parts, func(part, lo, hi int) {
		tables[part] = newTable()
		tables[part].column(codes, c, size, lo, hi)
	})
	whole := tables[0]
	translated := make([][]int64, parts)
	for part, t := range tables[1:] {
		translated[part+1] = whole.merge(t)
	}
	each(workers, known, parts, func(part, lo, hi int) {
		if part > 0 {
			renumber(codes[lo:hi], translated[part])
		}
	})
	rows := whole.rows
	whole.whole = true
	others := len(codes) - known
	each(workers, others, max(1, min(4*workers.Size, others/chunk)), func(_, lo, hi int) {
		whole.column(codes, c, size, known+lo, known+hi)
	})
	return rows
}

// Renumber replaces each number by what stands in its place, and -1 by the last of all.
func Renumber(codes, places []int64, workers radix.Workers) {
	parts := max(1, min(4*workers.Size, len(codes)/chunk))
	each(workers, len(codes), parts, func(_, lo, hi int) {
		last := places[len(places)-1]
		for i, code := range codes[lo:hi] {
			if code >= 0 {
				codes[lo+i] = places[code]
			} else {
				codes[lo+i] = last
			}
		}
	})
}

// renumber replaces each number by what stands in its place, and leaves -1.
func renumber(codes, places []int64) {
	for i, code := range codes {
		if code >= 0 {
			codes[i] = places[code]
		}
	}
}

// short is the most bytes of a text of which a key holds all.
const short = 15

// key is what tells values apart. The highest byte of b is the length of a short text; of a long one it is 255, with the address below it,
// and a is a hash.
type key struct{ a, b uint64 }

const (
	top    = 56
	isLong = uint64(255) << top
)

// hash returns a number of a key, all of whose bits depend on all of the key's, but not on an address.
func (k key) hash() uint64 { return mixed(k.a, min(k.b, isLong)) }

// mixed returns a number, all of whose bits depend on all of two others'.
func mixed(a, b uint64) uint64 {
	high, low := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd6e8feb86659fd93)
	return high ^ low
}

// slot is where a table has a key: one more than its number, 0 of none, and the upper half of its hash.
type slot struct{ next, tag uint32 }

// table numbers keys, by open addressing. It has fewer than 2^32.
type table struct {
	slots []slot
	mask  uint64
	keys  []key   // by their numbers
	long  []int   // the bytes of each, where any is long
	rows  []int64 // in which they were met first
	whole bool    // it takes no further keys
}

// smallest is how many slots a table begins with.
const smallest = 1 << 10

func newTable() *table { return &table{slots: make([]slot, smallest), mask: smallest - 1} }

// number returns the number of a key that is met in a row; -1 if the table is whole, and does not have it. A long text has n bytes.
func (t *table) number(k key, hash uint64, n, row int) int64 {
	for at := hash & t.mask; ; at = (at + 1) & t.mask {
		s := t.slots[at]
		if s.next == 0 {
			if t.whole {
				return -1
			}
			return t.add(k, n, row, slot{uint32(len(t.keys) + 1), uint32(hash >> 32)}, at)
		}
		if s.tag == uint32(hash>>32) {
			if other := t.keys[s.next-1]; other == k || k.b >= isLong && t.same(int(s.next-1), k, n) {
				return int64(s.next - 1)
			}
		}
	}
}

// add adds a key in a slot, and returns its number.
func (t *table) add(k key, n, row int, s slot, at uint64) int64 {
	t.slots[at] = s
	t.keys, t.rows = append(t.keys, k), append(t.rows, int64(row))
	if k.b >= isLong {
		t.long = append(t.long, make([]int, len(t.keys)-len(t.long))...)
		t.long[len(t.keys)-1] = n
	}
	if 2*len(t.keys) > len(t.slots) {
		t.grow()
	}
	return int64(len(t.keys)) - 1
}

// grow makes the table four times as large.
func (t *table) grow() {
	t.slots = make([]slot, 4*len(t.slots))
	t.mask = uint64(len(t.slots) - 1)
	for i, k := range t.keys {
		hash := k.hash()
		at := hash & t.mask
		for t.slots[at].next != 0 {
			at = (at + 1) & t.mask
		}
		t.slots[at] = slot{uint32(i + 1), uint32(hash >> 32)}
	}
}

// same reports whether the text of a number is a long one, of n bytes.
func (t *table) same(number int, k key, n int) bool {
	other := t.keys[number]
	return other.a == k.a && other.b >= isLong && t.long[number] == n && text(other, n) == text(k, n)
}

// text returns the text of a long key.
func text(k key, n int) string {
	at := uintptr(k.b &^ isLong)
	return unsafe.String(*(**byte)(unsafe.Pointer(&at)), n)
}

// merge adds the keys of a table of later rows, and returns their numbers here.
func (t *table) merge(later *table) []int64 {
	numbers := make([]int64, len(later.keys))
	for i, k := range later.keys {
		n := 0
		if k.b >= isLong {
			n = later.long[i]
		}
		numbers[i] = t.number(k, k.hash(), n, int(later.rows[i]))
	}
	return numbers
}

// column numbers the values of rows [lo, hi) of a column.
func (t *table) column(codes []int64, c Column, size, lo, hi int) {
	c.between(lo, hi, func(a Array, row int) {
		switch size {
		case 0:
			t.texts(codes[row:row+a.Rows], a, row)
		case 4:
			words[uint32](t, codes[row:row+a.Rows], a, row)
		default:
			words[uint64](t, codes[row:row+a.Rows], a, row)
		}
	})
}

// words numbers the values of an array, the first of which is of a row.
func words[T uint32 | uint64](t *table, codes []int64, a Array, row int) {
	there := a.bits()
	for i, v := range values[T](a) {
		if there != nil && !valid(there, a.Offset+i) {
			codes[i] = -1
			continue
		}
		k := key{a: uint64(v)}
		hash := k.hash()
		if s := t.slots[hash&t.mask]; s.tag == uint32(hash>>32) && s.next != 0 && t.keys[s.next-1].a == k.a {
			codes[i] = int64(s.next - 1)
		} else {
			codes[i] = t.number(k, hash, 0, row+i)
		}
	}
}

// texts numbers the texts of an array, the first of which is of a row.
func (t *table) texts(codes []int64, a Array, row int) {
	there := a.bits()
	ends := unsafe.Slice((*int32)(a.Data), a.Offset+a.Rows+1)[a.Offset:]
	begin := int(ends[0])
	for i, end := range ends[1:] {
		at, n := unsafe.Add(a.Text, begin), int(end)-begin
		if n < 0 || int(end) > a.Bytes || begin < 0 {
			panic("group: texts outside their bytes")
		}
		begin = int(end)
		if there != nil && !valid(there, a.Offset+i) {
			codes[i] = -1
			continue
		}
		k := keyOf(at, n)
		hash := k.hash()
		if s := t.slots[hash&t.mask]; s.tag == uint32(hash>>32) && s.next != 0 && t.keys[s.next-1] == k {
			codes[i] = int64(s.next - 1)
		} else {
			codes[i] = t.number(k, hash, n, row+i)
		}
	}
}

// keyOf returns the key of a text of n bytes at an address.
func keyOf(at unsafe.Pointer, n int) key {
	switch {
	case n > short:
		return longKey(at, n)
	case n >= 8:
		return key{*(*uint64)(at), *(*uint64)(unsafe.Add(at, n-8))>>((16-n)*8) | uint64(n)<<top}
	case n >= 4:
		return key{uint64(*(*uint32)(at)) | uint64(*(*uint32)(unsafe.Add(at, n-4)))<<32, uint64(n) << top}
	case n > 0:
		b := unsafe.Slice((*uint8)(at), n)
		return key{uint64(b[0]) | uint64(b[n/2])<<8 | uint64(b[n-1])<<16, uint64(n) << top}
	}
	return key{}
}

// longKey returns the key of a text that is not short.
func longKey(at unsafe.Pointer, n int) key {
	hash := uint64(n)
	for i := 0; i < n-8; i += 8 {
		hash = mixed(hash, *(*uint64)(unsafe.Add(at, i)))
	}
	hash = mixed(hash, *(*uint64)(unsafe.Add(at, n-8)))
	return key{hash, uint64(uintptr(at)) | isLong} // a program's addresses have 56 bits at most
}
