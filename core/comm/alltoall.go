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

// Alltoall sends the r-th entry of value along its first dimension, which has one a rank, to rank r, and puts in recv what
// comes, in rank order. recv may be the value's own memory. Every rank passes the same type and shape. Collective
// (MPI_Alltoall).
func (c *Comm) Alltoall(value Array, recv memory.Span) error {
	return c.inTurn("alltoall", func() error { return c.alltoall(value.Span, recv, c.checkAlltoall(&value, recv)) })
}

func (c *Comm) checkAlltoall(value *Array, recv memory.Span) error {
	if err := checkArray("values", value); err != nil {
		return err
	}
	if len(value.Shape) == 0 || value.Shape[0] != int64(c.Size()) {
		return status.New(status.InvalidArgument, "values of shape %v must have one entry along the first dimension for each of %d ranks",
			value.Shape, c.Size())
	}
	return checkOutput(recv, value.Span, value.Count)
}

// alltoall sends the r-th equal part of send to rank r, and concatenates what arrives in rank order.
func (c *Comm) alltoall(send, recv memory.Span, mine error) error {
	short, err := c.start(wire.Signature{Op: "alltoall", Type: send.Type, Count: send.Count}, mine, send)
	if err != nil {
		return err
	}
	if !short {
		return c.apart(send, recv, func(send memory.Span) error { return c.main.Alltoall(known(send), known(recv)) })
	}
	n := recv.Count / c.size
	for rank := range c.size {
		memory.Copy(recv.Slice(rank*n, (rank+1)*n), c.part(rank, recv.Type, c.rank*n, n))
	}
	return nil
}

// Counts tells rank r the r-th of send, and returns what each rank told this one. Collective.
func (c *Comm) Counts(send []int64) ([]int64, error) {
	n := c.Size()
	storage, err := memory.NewStorage(c.memory, 16*n, memory.Alignment)
	if err != nil {
		return nil, err
	}
	defer storage.Release()
	both := memory.Span{Addr: storage.Addr(), Count: 2 * n, Type: dtype.Int64}
	copy(memory.As[int64](both), send)
	if err := c.inTurn("alltoall", func() error {
		return c.alltoall(both.Slice(0, n), both.Slice(n, 2*n), nil)
	}); err != nil {
		return nil, err
	}
	recv := make([]int64, n)
	copy(recv, memory.As[int64](both)[n:])
	return recv, nil
}

// Alltoallv sends each rank r the next sendCounts[r] rows of value, and puts what comes, in rank order, one after the
// other. recvCounts is how many rows must come from each; nil takes what comes. Collective (MPI_Alltoallv).
//
// Where every rank passes recvCounts, one agreement shows whether they are right; else the ranks tell each other.
func (c *Comm) Alltoallv(value Array, sendCounts, recvCounts []int64, out *Array) (Result, error) {
	const op = "alltoallv"
	share := shares(&value, out)
	share[sharedKnow], share[sharedChecksum] = c.countChecksum(sendCounts, recvCounts)
	mine := checkRows(&value, out)
	if mine == nil {
		mine = c.checkAlltoallv(&value, sendCounts, recvCounts, out)
	}
	p := exchangeBuffers{}
	if mine == nil && recvCounts != nil {
		p, mine = c.newExchangeBuffers(&value, sum(recvCounts), out)
	}
	all := make([]Shared, c.Size())
	if err := c.AgreeSharing(value.describe(op, -1), mine, share, all); err != nil {
		p.release()
		p.end()
		return Result{}, err
	}
	if !countsAgree(all) {
		var err error
		if recvCounts, err = c.exchangeCounts(op, &p, &value, sendCounts, recvCounts, out, all); err != nil {
			return Result{}, err
		}
	}
	row := value.rowCount()
	return c.exchangeRows(op, &p, splitRows(p.send, sendCounts, row), splitRows(p.Span, recvCounts, row))
}

// checkAlltoallv checks one rank's counts, and its output where they say how long it must be.
func (c *Comm) checkAlltoallv(value *Array, sendCounts, recvCounts []int64, out *Array) error {
	if err := c.checkRowCounts(value, sendCounts, recvCounts); err != nil || recvCounts == nil || out == nil {
		return err
	}
	return checkOutput(out.Span, value.Span, int(sum(recvCounts)*value.rowCount()))
}

// checkRowCounts checks one rank's counts of an exchange of rows.
func (c *Comm) checkRowCounts(value *Array, sendCounts, recvCounts []int64) error {
	if sendCounts == nil {
		return status.New(status.InvalidArgument, "there are no send_counts")
	}
	if err := c.checkCounts("send_counts", value, sendCounts); err != nil || recvCounts == nil {
		return err
	}
	return c.checkLengths("recv_counts", recvCounts)
}

// countChecksum returns whether this rank says what must come, and the sum of the hashes of what it sends less the sum of
// those of what it expects: over all ranks that is zero where each sends what is expected, and else, in all likelihood, is not.
func (c *Comm) countChecksum(sendCounts, recvCounts []int64) (know, checksum int64) {
	if recvCounts == nil {
		return 0, 0
	}
	for rank, n := range sendCounts {
		checksum += countHash(c.Rank(), rank, n)
	}
	for rank, n := range recvCounts {
		checksum -= countHash(rank, c.Rank(), n)
	}
	return 1, checksum
}

// countsAgree reports whether every rank knows what comes, and is right.
func countsAgree(all []Shared) bool {
	checksum := int64(0)
	for _, s := range all {
		if s[sharedKnow] == 0 {
			return false
		}
		checksum += s[sharedChecksum]
	}
	return checksum == 0
}

// exchangeCounts has the ranks tell each other what they send, and makes room for it where recvCounts did not say.
// Collective.
func (c *Comm) exchangeCounts(op string, p *exchangeBuffers, value *Array, sendCounts, recvCounts []int64, out *Array, all []Shared) ([]int64, error) {
	got, err := c.Counts(sendCounts)
	switch {
	case err != nil:
	case recvCounts == nil:
		if out != nil {
			err = checkOutput(out.Span, value.Span, int(sum(got)*value.rowCount()))
		}
		if err == nil {
			*p, err = c.newExchangeBuffers(value, sum(got), out)
		}
	case !slices.Equal(recvCounts, got):
		err = status.New(status.InvalidArgument, "recv_counts %v, but the ranks send %v rows", recvCounts, got)
	}
	bytes := sum(rowsOf(all)) * value.rowCount() * int64(value.Type.Size())
	if slices.ContainsFunc(all, func(s Shared) bool { return s[sharedKnow] != 0 || s[sharedOut] != 0 }) {
		bytes = checkRoomFrom // what a rank stated may be wrong
	}
	return got, p.ready(c, op, bytes, err)
}

// notesLane is the lane on which ranks tell each other what comes in exchanges that do not block. Every rank begins these in
// the same order, and to send and to receive a note is the first that an exchange does, so the n-th note from a rank is that of
// its n-th exchange.
const notesLane = 14

// Ialltoallv starts what Alltoallv does. value's elements, and out, belong to the operation until the request is over.
// Collective.
func (c *Comm) Ialltoallv(value Array, sendCounts, recvCounts []int64, out *Array) (*Request, error) {
	const op = "ialltoallv"
	mine := checkArray("value", &value)
	if mine == nil {
		mine = c.checkRowCounts(&value, sendCounts, recvCounts)
	}
	var duplicate *memory.Storage
	if mine == nil && out != nil {
		value.Span, duplicate, mine = c.withoutOverlap(value.Span, out.Span)
	}
	p, err := c.starts.Begin(wire.Signature{Op: op, Type: value.Type, Extra: value.rowCount()}, mine)
	if err != nil {
		if duplicate != nil {
			duplicate.Release()
		}
		return nil, status.In(op, err)
	}
	value.Shape = slices.Clone(value.Shape)
	t := &rowExchange{comm: c, value: value, row: value.rowCount(), sends: slices.Clone(sendCounts),
		expected: slices.Clone(recvCounts), duplicate: duplicate}
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
	size int64 // bytes of one element
	// number pairs the rows with the note: receives of the rows are started as notes arrive and requests are tested, so in no
	// order that the sender knows.
	number uint32
	_      uint32
}

const noteBytes = int(unsafe.Sizeof(note{}))

func (n note) bytes() int { return int(n.rows * n.row * n.size) }

func (n *note) raw() memory.Span {
	return memory.Span{Addr: unsafe.Pointer(n), Count: noteBytes, Type: dtype.Uint8}
}

// rowExchange is an exchange of rows as a task. The notes come first; then it is known how much the rows are.
type rowExchange struct {
	comm            *Comm
	value           Array
	row             int64 // elements of one
	sends, expected []int64
	out             *Array
	notes           *memory.Storage // this rank's, then those of the others
	duplicate       *memory.Storage // of value's elements, where the output lies over them
	waits           []backend.Request
	at              int // in waits
	opened          bool
	unwanted        *memory.Storage // of rows that are not what this rank exchanges
	got             Result
	failed          error
}

func (t *rowExchange) more() bool { return !t.opened }

func (t *rowExchange) awaits() awaited { return named("ialltoallv") }

func (t *rowExchange) result() Result {
	r := t.got
	t.got = Result{}
	return r
}

// note returns where the note to a rank stands, or with theirs the one from it.
func (t *rowExchange) note(rank int, theirs bool) *note {
	if theirs {
		rank += t.comm.size
	}
	return (*note)(unsafe.Add(t.notes.Addr(), rank*noteBytes))
}

// add records what was started.
func (t *rowExchange) add(r backend.Request, err error) {
	if err != nil {
		t.failed = errors.Join(t.failed, err)
		return
	}
	t.waits = append(t.waits, r)
}

func (t *rowExchange) drop() {
	if t.duplicate != nil {
		t.duplicate.Release()
	}
}

func (t *rowExchange) begin() (backend.Request, error) {
	c := t.comm
	var err error
	if t.notes, err = memory.NewStorage(c.memory, 2*c.size*noteBytes, memory.Alignment); err != nil {
		return nil, err
	}
	number := c.seq.Add(1)
	for rank := range c.size {
		*t.note(rank, false) = note{typ: int64(t.value.Type), rows: t.sends[rank], row: t.row,
			size: int64(t.value.Type.Size()), number: number}
		*t.note(rank, true) = *t.note(c.rank, false)
	}
	for step := 1; step < c.size; step++ {
		from := (c.rank - step + c.size) % c.size
		t.add(c.StartRecv(t.note(from, true).raw(), from, notesLane))
	}
	parts := splitRows(t.value.Span, t.sends, t.row)
	for step := 1; step < c.size; step++ {
		to := (c.rank + step) % c.size
		t.add(c.StartSend(t.note(to, false).raw(), to, notesLane))
		if parts[to].Bytes() > 0 {
			t.add(c.payload.Isend(parts[to].Raw(), to, c.numberTag(number)))
		}
	}
	return t.proceed()
}

func (t *rowExchange) next(_ backend.Status, err error) (backend.Request, error) {
	t.failed = errors.Join(t.failed, err)
	return t.proceed()
}

// proceed returns what is to be waited for next.
func (t *rowExchange) proceed() (backend.Request, error) {
	if t.at == t.comm.size-1 && !t.opened {
		t.opened = true
		t.failed = errors.Join(t.failed, t.open())
	}
	if t.at < len(t.waits) {
		t.at++
		return t.waits[t.at-1], nil
	}
	for _, s := range []*memory.Storage{t.notes, t.duplicate, t.unwanted} {
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
func (t *rowExchange) open() error {
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
	p, err := c.newExchangeBuffers(&t.value, sum(counts), t.out)
	if t.got = p.Result; err == nil && t.out != nil {
		err = checkOutput(t.out.Span, t.value.Span, int(sum(counts)*t.row))
	}
	if wrong == nil {
		wrong = err
	}
	var parts []memory.Span
	if wrong == nil {
		parts = splitRows(t.got.Span, counts, t.row)
	} else if parts, err = t.unwantedParts(bytes); err != nil {
		return err
	}
	for step := 1; step < c.size; step++ {
		if from := (c.rank - step + c.size) % c.size; parts[from].Bytes() > 0 {
			t.add(c.payload.Irecv(parts[from].Raw(), from, c.numberTag(t.note(from, true).number)))
		}
	}
	memory.Copy(parts[c.rank], splitRows(t.value.Span, t.sends, t.row)[c.rank])
	return wrong
}

// unwantedParts returns memory for rows that nobody wants.
func (t *rowExchange) unwantedParts(bytes int) ([]memory.Span, error) {
	var err error
	if t.unwanted, err = memory.NewStorage(t.comm.memory, bytes, memory.Alignment); err != nil {
		return nil, err
	}
	parts, at := make([]memory.Span, t.comm.size), 0
	for rank := range parts {
		n := t.note(rank, true).bytes()
		parts[rank] = span(t.unwanted, bytes).Slice(at, at+n)
		at += n
	}
	return parts, nil
}
