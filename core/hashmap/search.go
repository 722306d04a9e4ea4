package hashmap

import "unsafe"

// keyType holds the loops that depend on the width of keys.
type keyType struct {
	hash  func(keys unsafe.Pointer, width int, into []uint64)
	find  func(t *Table, keys unsafe.Pointer, n int)
	place func(t *Table, keys unsafe.Pointer, n int)
}

// keysOf returns the loops for keys of a width.
func keysOf(width int) keyType {
	switch width {
	case 1:
		return wordKeys[uint8]()
	case 2:
		return wordKeys[uint16]()
	case 4:
		return wordKeys[uint32]()
	case 8:
		return wordKeys[uint64]()
	}
	return keyType{hash: hashWide, find: findWide, place: placeWide}
}

func wordKeys[K word]() keyType {
	return keyType{hash: hashWords[K], find: findWords[K], place: placeWords[K]}
}

// look hashes a block of keys, and looks at the group where each would be. No look waits for the one before.
func (t *Table) look(keys unsafe.Pointer, n int) {
	b := &t.at
	t.keys.hash(keys, t.key, b.hash[:n])
	for i, hash := range b.hash[:n] {
		group := t.segmentOf(hash).home(&t.layout, hash)
		b.group[i] = group
		b.warm |= *(*control)(group)
	}
}

// find sets the group and slot of each key of a block, the group to nil where a key is not there.
func (t *Table) find(keys unsafe.Pointer, n int) {
	t.look(keys, n)
	t.keys.find(t, keys, n)
}

// place does the same, and makes the entries that are not there, whose values are then to be set. On an error nothing
// is changed.
func (t *Table) place(keys unsafe.Pointer, n int) error {
	t.look(keys, n)
	for grown := true; grown; {
		grown = false
		for _, hash := range t.at.hash[:n] {
			for t.segmentOf(hash).room < n {
				if err := t.grow(hash); err != nil {
					return err
				}
				grown = true
			}
		}
		if grown {
			t.look(keys, n)
		}
	}
	t.keys.place(t, keys, n)
	return nil
}

func findWords[K word](t *Table, keys unsafe.Pointer, n int) {
	b := &t.at
	for i, key := range unsafe.Slice((*K)(keys), n) {
		hash := b.hash[i]
		group, slot := seekWord(t, b.group[i], hash, key)
		b.group[i], b.slot[i] = group, uint8(slot)
	}
}

func placeWords[K word](t *Table, keys unsafe.Pointer, n int) {
	b := &t.at
	for i, key := range unsafe.Slice((*K)(keys), n) {
		hash := b.hash[i]
		group, slot := seekWord(t, b.group[i], hash, key)
		b.fresh[i] = group == nil
		if group == nil {
			group, slot = t.segmentOf(hash).claim(&t.layout, hash)
			t.size++
			*(*K)(t.keyAt(group, slot)) = key
		}
		b.group[i], b.slot[i] = group, uint8(slot)
	}
}

// seekWord returns where a key is, from its first group on; a nil group where it is not.
func seekWord[K word](t *Table, group unsafe.Pointer, hash uint64, key K) (unsafe.Pointer, int) {
	var w probe
	var s *segment
	for {
		c := *(*control)(group)
		for like := c.with(tagOf(hash)); like != 0; like = like.rest() {
			i := like.first()
			if *(*K)(unsafe.Add(group, controls+i*int(unsafe.Sizeof(key)))) == key {
				return group, i
			}
		}
		if c.empty() != 0 {
			return nil, 0
		}
		if s == nil {
			s = t.segmentOf(hash)
			w = s.probe(hash)
		}
		group = w.next(s, &t.layout)
	}
}

func findWide(t *Table, keys unsafe.Pointer, n int) {
	b := &t.at
	for i := range n {
		group, slot := t.seekWide(b.group[i], b.hash[i], unsafe.Add(keys, i*t.key))
		b.group[i], b.slot[i] = group, uint8(slot)
	}
}

func placeWide(t *Table, keys unsafe.Pointer, n int) {
	b := &t.at
	for i := range n {
		hash, key := b.hash[i], unsafe.Add(keys, i*t.key)
		group, slot := t.seekWide(b.group[i], hash, key)
		b.fresh[i] = group == nil
		if group == nil {
			group, slot = t.segmentOf(hash).claim(&t.layout, hash)
			t.size++
			copyBytes(t.keyAt(group, slot), key, t.key)
		}
		b.group[i], b.slot[i] = group, uint8(slot)
	}
}

// seekWide is seekWord for keys of any width.
func (t *Table) seekWide(group unsafe.Pointer, hash uint64, key unsafe.Pointer) (unsafe.Pointer, int) {
	want := unsafe.String((*byte)(key), t.key)
	s := t.segmentOf(hash)
	for w := s.probe(hash); ; group = w.next(s, &t.layout) {
		c := *(*control)(group)
		for like := c.with(tagOf(hash)); like != 0; like = like.rest() {
			if unsafe.String((*byte)(t.keyAt(group, like.first())), t.key) == want {
				return group, like.first()
			}
		}
		if c.empty() != 0 {
			return nil, 0
		}
	}
}
