package comm

import (
	"errors"
	"slices"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// The lanes of exchanges that do not block: what comes, and the rows themselves.
const (
	notesLane = 14
	rowsLane  = 15
)

// Ialltoallv starts what Alltoallv does. value's elements, and out, belong to the operation until the request is over.
// Collective.
func (c *Comm) Ialltoallv(value Array, sendCounts, recvCounts []int64, out *Array) (*Request, error) {
	const op = "ialltoallv"
	mine := checkArray("value", &value)
	if mine == nil {
		mine = c.checkTrade(&value, sendCounts, recvCounts)
	}
	var twin *memory.Storage
	if mine == nil && out != nil {
		value.Span, twin, mine = c.separate(value.Span, out.Span)
	}
	p, err := c.post(wire.Signature{Op: op, Type: value.Type, Extra: value.rowCount()}, mine)
	if err != nil {
		if twin != nil {
			twin.Release()
		}
		return nil, status.In(op, err)
	}
	value.Shape = slices.Clone(value.Shape)
	t := &trade{comm: c, value: value, row: value.rowCount(), sends: slices.Clone(sendCounts),
		expected: slices.Clone(recvCounts), twin: twin}
	if out != nil {
		t.out = &Array{Span: out.Span}
	}
	return c.begin(op, t, p)
}

// note is what a rank tells another of the rows that it sends there.
type note struct {
	typ  int64
	rows int64
	row  int64 // elements of one
}

const noteBytes = int(unsafe.Sizeof(note{}))

func (n note) bytes() int { return int(n.rows*n.row) * dtype.Type(n.typ).Size() }

func (n *note) raw() memory.Span {
	return memory.Span{Addr: unsafe.Pointer(n), Count: noteBytes, Type: dtype.Uint8}
}

// trade is an exchange of rows as a task. The notes come first; then it is known how much the rows are.
type trade struct {
	comm            *Comm
	value           Array
	row             int64 // elements of one
	sends, expected []int64
	out             *Array
	notes           *memory.Storage // this rank's, then those of the others
	twin            *memory.Storage // of value's elements, where the output lies over them
	waits           []backend.Request
	at              int // in waits
	opened          bool
	astray          *memory.Storage // of rows that are not what this rank exchanges
	got             Result
	failed          error
}

func (t *trade) more() bool      { return !t.opened }
func (t *trade) awaits() awaited { return named("ialltoallv") }

func (t *trade) result() Result {
	r := t.got
	t.got = Result{}
	return r
}

// note returns where the note to a rank stands, or with theirs the one from it.
func (t *trade) note(rank int, theirs bool) *note {
	if theirs {
		rank += t.comm.size
	}
	return (*note)(unsafe.Add(t.notes.Addr(), rank*noteBytes))
}

// add records what was started.
func (t *trade) add(r backend.Request, err error) {
	if err != nil {
		t.failed = errors.Join(t.failed, err)
		return
	}
	t.waits = append(t.waits, r)
}

func (t *trade) drop() {
	if t.twin != nil {
		t.twin.Release()
	}
}

func (t *trade) begin() (backend.Request, error) {
	c := t.comm
	var err error
	if t.notes, err = memory.NewStorage(c.memory, 2*c.size*noteBytes, alignment); err != nil {
		return nil, err
	}
	for rank := range c.size {
		*t.note(rank, false) = note{int64(t.value.Type), t.sends[rank], t.row}
		*t.note(rank, true) = *t.note(c.rank, false)
	}
	for step := 1; step < c.size; step++ {
		from := (c.rank - step + c.size) % c.size
		t.add(c.StartRecv(t.note(from, true).raw(), from, notesLane))
	}
	parts := cut(t.value.Span, t.sends, t.row)
	for step := 1; step < c.size; step++ {
		to := (c.rank + step) % c.size
		t.add(c.StartSend(t.note(to, false).raw(), to, notesLane))
		if parts[to].Bytes() > 0 {
			t.add(c.StartSend(parts[to], to, rowsLane))
		}
	}
	return t.onward()
}

func (t *trade) next(_ backend.Status, err error) (backend.Request, error) {
	t.failed = errors.Join(t.failed, err)
	return t.onward()
}

// onward returns what is to be waited for next.
func (t *trade) onward() (backend.Request, error) {
	if t.at == t.comm.size-1 && !t.opened {
		t.opened = true
		t.failed = errors.Join(t.failed, t.open())
	}
	if t.at < len(t.waits) {
		t.at++
		return t.waits[t.at-1], nil
	}
	for _, s := range []*memory.Storage{t.notes, t.twin, t.astray} {
		if s != nil {
			s.Release()
		}
	}
	if t.failed != nil {
		t.got.release()
	}
	return nil, t.failed
}

// open makes room for the rows, now that it is known what comes, and starts receiving them. They are received also
// where they are not what this rank states, for they are on their way.
func (t *trade) open() error {
	c := t.comm
	counts, bytes := make([]int64, c.size), 0
	var wrong error
	for rank := range c.size {
		n := *t.note(rank, true)
		counts[rank] = n.rows
		bytes += n.bytes()
		if n.row != t.row || n.typ != int64(t.value.Type) {
			wrong = status.New(status.Mismatch, "rank %d sends rows of %s of %s, but this rank of %s of %s", rank,
				plural(int(n.row), "element"), dtype.Type(n.typ), plural(int(t.row), "element"), t.value.Type)
		}
	}
	if wrong == nil && t.expected != nil && !slices.Equal(t.expected, counts) {
		wrong = status.New(status.InvalidArgument, "recv_counts %v, but the ranks send %v rows", t.expected, counts)
	}
	p, err := c.newPassage(&t.value, sum(counts), t.out)
	if t.got = p.Result; err == nil && t.out != nil {
		err = checkOutput(t.out.Span, t.value.Span, int(sum(counts)*t.row))
	}
	if wrong == nil {
		wrong = err
	}
	var parts []memory.Span
	if wrong == nil {
		parts = cut(t.got.Span, counts, t.row)
	} else if parts, err = t.stray(bytes); err != nil {
		return err
	}
	for step := 1; step < c.size; step++ {
		if from := (c.rank - step + c.size) % c.size; parts[from].Bytes() > 0 {
			t.add(c.StartRecv(parts[from], from, rowsLane))
		}
	}
	memory.Copy(parts[c.rank], cut(t.value.Span, t.sends, t.row)[c.rank])
	return wrong
}

// stray returns memory for rows that nobody wants.
func (t *trade) stray(bytes int) ([]memory.Span, error) {
	var err error
	if t.astray, err = memory.NewStorage(t.comm.memory, bytes, alignment); err != nil {
		return nil, err
	}
	parts, at := make([]memory.Span, t.comm.size), 0
	for rank := range parts {
		n := t.note(rank, true).bytes()
		parts[rank] = span(t.astray, bytes).Slice(at, at+n)
		at += n
	}
	return parts, nil
}
