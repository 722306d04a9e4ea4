package hashmap

import (
	"slices"
	"unsafe"
)

// deepest is the most bits that index the directory. Only keys made to collide come so far; then segments grow instead.
const deepest = 20

// segmentOf returns where a hash belongs.
func (t *Table) segmentOf(hash uint64) *segment { return t.directory[hash>>t.shift] }

// grow gives the segment of a hash more room: without its erased entries where they are many, else twice as large, or,
// where it is as large as segments get, divided in two. On an error nothing is changed.
func (t *Table) grow(hash uint64) error {
	s := t.segmentOf(hash)
	groups := s.mask + 1
	switch {
	case 4*(s.size+blockKeys) <= 3*s.usable():
		return t.rebuild(hash, s, groups)
	case groups < t.most || s.depth == deepest:
		return t.rebuild(hash, s, 2*groups)
	}
	return t.split(hash, s)
}

// rebuild puts another segment of so many groups in a segment's place.
func (t *Table) rebuild(hash uint64, old *segment, groups uint64) error {
	s, err := newSegment(t.from, &t.layout, groups, old.depth)
	if err != nil {
		return err
	}
	t.transfer(old, s, s)
	t.replace(hash, old, s, s)
	return nil
}

// split puts two segments in a segment's place, and each entry where the next bit of its hash says.
func (t *Table) split(hash uint64, old *segment) error {
	low, err := newSegment(t.from, &t.layout, old.mask+1, old.depth+1)
	if err != nil {
		return err
	}
	high, err := newSegment(t.from, &t.layout, old.mask+1, old.depth+1)
	if err != nil {
		low.storage.Release()
		return err
	}
	if len(t.directory) == 1<<old.depth {
		t.directory = doubled(t.directory)
		t.shift--
	}
	t.transfer(old, low, high)
	t.replace(hash, old, low, high)
	return nil
}

// doubled returns each entry twice.
func doubled(directory []*segment) []*segment {
	d := make([]*segment, 0, 2*len(directory))
	for _, s := range directory {
		d = append(d, s, s)
	}
	return slices.Clip(d)
}

// replace sets the directory's entries of a segment: the first half to low, the second to high.
func (t *Table) replace(hash uint64, old, low, high *segment) {
	n := len(t.directory) >> old.depth
	first := int(hash>>t.shift) &^ (n - 1)
	for i := range n {
		if i < n/2 {
			t.directory[first+i] = low
		} else {
			t.directory[first+i] = high
		}
	}
	old.storage.Release()
}

// transfer copies the entries of a segment to low or high, as the bit after its depth says.
func (t *Table) transfer(from, low, high *segment) {
	to := [2]*segment{low, high}
	var hashes [slots]uint64
	for g := uint64(0); g <= from.mask; g++ {
		group := unsafe.Add(from.base, int(g)*t.stride)
		t.keys.hash(t.keyAt(group, 0), t.key, hashes[:])
		for in := (*(*control)(group)).full(); in != 0; in = in.rest() {
			i := in.first()
			hash := hashes[i]
			into, slot := to[hash<<from.depth>>63].claim(&t.layout, hash)
			copyBytes(t.keyAt(into, slot), t.keyAt(group, i), t.key)
			copyBytes(t.valueAt(into, slot), t.valueAt(group, i), t.value)
		}
	}
}
