package hashmap

import (
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/reduce"
)

// blocks calls f with the first key and the number of each block of a batch.
func blocks(n int, f func(first, n int) error) error {
	for first := 0; first < n; first += blockKeys {
		if err := f(first, min(n-first, blockKeys)); err != nil {
			return err
		}
	}
	return nil
}

// valueOf returns where key i of the block has its value.
func (t *Table) valueOf(i int) unsafe.Pointer { return t.valueAt(t.at.group[i], int(t.at.slot[i])) }

// Put sets the values of n keys, in order: of a key that occurs more than once, the last value stays. The undo log, which
// may be nil, gets what undoes it, as far as it came: an error is that there was no memory for more.
func (t *Table) Put(keys, values unsafe.Pointer, n int, j *UndoLog) error {
	return blocks(n, func(first, n int) error {
		if err := t.place(unsafe.Add(keys, first*t.key), n); err != nil {
			return err
		}
		j.record(t, n)
		for i := range n {
			copyBytes(t.valueOf(i), unsafe.Add(values, (first+i)*t.value), t.value)
		}
		return nil
	})
}

// Update combines n values, of type v, with those of their keys, in order; a key that is not there gets the value. The
// undo log is Put's.
func (t *Table) Update(keys, values unsafe.Pointer, n int, v dtype.Type, op kernel.Op, j *UndoLog) error {
	b := &t.at
	return blocks(n, func(first, n int) error {
		if err := t.place(unsafe.Add(keys, first*t.key), n); err != nil {
			return err
		}
		j.record(t, n)
		old := 0
		for i := range n {
			src := unsafe.Add(values, (first+i)*t.value)
			if b.fresh[i] {
				copyBytes(t.valueOf(i), src, t.value)
			} else {
				b.dst[old], b.src[old] = t.valueOf(i), src
				old++
			}
		}
		return reduce.CombineAt(b.dst[:old], b.src[:old], v, op)
	})
}

// Get copies the values of the keys that are there, and sets found to 1 for those and 0 for the others, whose values
// stay as they are. values may be nil where nobody wants them.
func (t *Table) Get(keys, values unsafe.Pointer, n int, found []uint8) {
	_ = blocks(n, func(first, n int) error {
		t.find(unsafe.Add(keys, first*t.key), n)
		for i := range n {
			found[first+i] = 0
			if t.at.group[i] != nil {
				found[first+i] = 1
				if values != nil {
					copyBytes(unsafe.Add(values, (first+i)*t.value), t.valueOf(i), t.value)
				}
			}
		}
		return nil
	})
}

// Erase removes the keys that are there.
func (t *Table) Erase(keys unsafe.Pointer, n int) {
	b := &t.at
	_ = blocks(n, func(first, n int) error {
		t.find(unsafe.Add(keys, first*t.key), n)
		for i := range n {
			// The entry of a key that occurs twice has gone by then, and no other has taken its slot.
			if b.group[i] != nil && *(*uint8)(unsafe.Add(b.group[i], b.slot[i])) >= tops>>56 {
				if t.gone != nil {
					t.gone(t.valueOf(i))
				}
				t.remove(i)
			}
		}
		return nil
	})
}

// remove erases the entry of key i of the block.
func (t *Table) remove(i int) {
	t.segmentOf(t.at.hash[i]).erase(t.at.group[i], int(t.at.slot[i]))
	t.size--
}
