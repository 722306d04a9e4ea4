package hashmap

import (
	"unsafe"

	"dtl/core/memory"
)

// layout says where the parts of a group lie.
type layout struct {
	key, value int // bytes of each
	values     int // where a group's values start
	stride     int // bytes of a group
}

// controls is how long the control word is.
const controls = slots

func newLayout(key, value int) layout {
	return layout{key: key, value: value, values: controls + slots*key, stride: controls + slots*(key+value)}
}

// keyAt returns where slot i of a group keeps its key.
func (l *layout) keyAt(group unsafe.Pointer, i int) unsafe.Pointer {
	return unsafe.Add(group, controls+i*l.key)
}

// valueAt returns where slot i of a group keeps its value.
func (l *layout) valueAt(group unsafe.Pointer, i int) unsafe.Pointer {
	return unsafe.Add(group, l.values+i*l.value)
}

// segment is some of a table's groups: 2ⁿ of them. The keys whose hashes start with the same depth bits are in one.
type segment struct {
	base    unsafe.Pointer
	mask    uint64 // groups - 1
	room    int    // entries that may still be put into empty slots: seven of eight slots are used at most
	size    int    // entries
	depth   uint
	storage *memory.Storage
}

const (
	// segmentBytes is the most that a segment has. A small part of a cache is enough to move one.
	segmentBytes = 512 << 10
	// leastGroups is how many a segment starts with.
	leastGroups = 8
)

// mostGroups returns how many groups a segment has at most.
func (l *layout) mostGroups() uint64 {
	n := uint64(leastGroups)
	for 2*int(n)*l.stride <= segmentBytes {
		n *= 2
	}
	return n
}

func newSegment(from memory.Allocator, l *layout, groups uint64, depth uint) (*segment, error) {
	storage, err := memory.NewStorage(from, int(groups)*l.stride, memory.Alignment)
	if err != nil {
		return nil, err
	}
	s := &segment{base: storage.Addr(), mask: groups - 1, depth: depth, storage: storage}
	s.room = s.usable()
	return s, nil
}

// usable returns how many slots may be in use.
func (s *segment) usable() int { return int(s.mask+1) * (slots - 1) }

// home returns the first group where a key of a hash may be.
func (s *segment) home(l *layout, hash uint64) unsafe.Pointer {
	return unsafe.Add(s.base, int(hash>>32&s.mask)*l.stride)
}

// probe rounds the groups where a key may be, in order: 1, 2, 3, … further on. As their number is a power of two, it
// comes to all of them.
type probe struct {
	at, step uint64
}

func (s *segment) probe(hash uint64) probe { return probe{at: hash >> 32 & s.mask} }

// next returns the group after the last one.
func (w *probe) next(s *segment, l *layout) unsafe.Pointer {
	w.step++
	w.at = (w.at + w.step) & s.mask
	return unsafe.Add(s.base, int(w.at)*l.stride)
}

// claim takes a free slot for a new entry, whose tag it sets. There is one: the caller has seen to it.
func (s *segment) claim(l *layout, hash uint64) (group unsafe.Pointer, slot int) {
	group = s.home(l, hash)
	free := (*(*control)(group)).free()
	for w := s.probe(hash); free == 0; free = (*(*control)(group)).free() {
		group = w.next(s, l)
	}
	slot = free.first()
	tag := (*uint8)(unsafe.Add(group, slot))
	if *tag != erased {
		s.room--
	}
	*tag = tagOf(hash)
	s.size++
	return group, slot
}

// erase makes a slot free. A search goes past a group that has no empty slot, so where there is none, this one only
// counts as erased.
func (s *segment) erase(group unsafe.Pointer, slot int) {
	tag := (*uint8)(unsafe.Add(group, slot))
	s.size--
	if (*(*control)(group)).empty() == 0 {
		*tag = erased
		return
	}
	*tag = 0
	s.room++
}
