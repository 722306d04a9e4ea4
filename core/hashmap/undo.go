package hashmap

import "unsafe"

// UndoLog says how to undo what was put into a table: for each key of the batches, in order, whether its entry was made
// for it, and if not, the value that it had. It borrows its memory.
type UndoLog struct {
	fresh []uint8
	old   unsafe.Pointer
	n     int // keys so far
}

// NewUndoLog returns a log for so many keys in n × (value + 1) bytes.
func NewUndoLog(at unsafe.Pointer, n, value int) *UndoLog {
	return &UndoLog{fresh: unsafe.Slice((*uint8)(unsafe.Add(at, n*value)), n), old: at}
}

// Len returns how many keys the log has.
func (j *UndoLog) Len() int { return j.n }

// record notes what the n keys of the table's block have before they are changed.
func (j *UndoLog) record(t *Table, n int) {
	if j == nil {
		return
	}
	for i := range n {
		j.fresh[j.n+i] = 0
		if t.at.fresh[i] {
			j.fresh[j.n+i] = 1
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
		t.find(unsafe.Add(keys, i*t.key), 1)
		if j.fresh[j.n] != 0 {
			t.remove(0)
		} else {
			copyBytes(t.valueOf(0), unsafe.Add(j.old, j.n*t.value), t.value)
		}
	}
}
