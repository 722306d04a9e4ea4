package hashmap

import "unsafe"

// UndoLog says how to undo what was put into a table: for each key of the batches, in order, what was done with its entry, and the
// value that this had. It borrows its memory.
type UndoLog struct {
	state []uint8
	old   unsafe.Pointer
	n     int // keys so far
}

// What was done with a key's entry: its value was replaced, or it was made for the key, or it was kept as an earlier key left it.
const (
	entryReplaced uint8 = iota
	entryMade
	entryKept
)

// NewUndoLog returns a log for so many keys in n × (value + 1) bytes.
func NewUndoLog(at unsafe.Pointer, n, value int) *UndoLog {
	return &UndoLog{state: unsafe.Slice((*uint8)(unsafe.Add(at, n*value)), n), old: at}
}

// Len returns how many keys the log has.
func (j *UndoLog) Len() int { return j.n }

// record notes what the n keys of the table's block have before they are changed.
func (j *UndoLog) record(t *Table, n int) {
	if j == nil {
		return
	}
	for i := range n {
		j.state[j.n+i] = entryReplaced
		if t.at.fresh[i] {
			j.state[j.n+i] = entryMade
		} else {
			copyBytes(unsafe.Add(j.old, (j.n+i)*t.value), t.valueOf(i), t.value)
		}
	}
	j.n += n
}

// Undo takes back what the log has of the n keys of the last batch that was put, and goes on to the one before.
// What was not put, because there was no memory, is not in the log: left says how many of the batch are.
func (j *UndoLog) Undo(t *Table, keys unsafe.Pointer, left int) {
	for i := left - 1; i >= 0; i-- {
		j.n--
		if j.state[j.n] == entryKept {
			continue
		}
		t.find(unsafe.Add(keys, i*t.key), 1)
		if j.state[j.n] == entryMade {
			t.remove(0)
		} else {
			copyBytes(t.valueOf(0), unsafe.Add(j.old, j.n*t.value), t.value)
		}
	}
}
