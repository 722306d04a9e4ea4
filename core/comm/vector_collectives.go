package comm

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"dtl/core/comm/wire"
	"dtl/core/memory"
	"dtl/core/status"
)

// The v-forms move parts of different lengths: rows, entries along the first dimension. A scalar is one row. Each starts
// with an agreement in which every rank tells how many rows it brings and how long its output is. So all of them know
// whether what they pass fits together, and all get an error where it does not.

// rows returns the number of entries along the first dimension, and the shape of one.
func (a *Array) rows() (n int64, row []int64) {
	if len(a.Shape) == 0 {
		return 1, nil
	}
	return a.Shape[0], a.Shape[1:]
}

// rowCount returns the number of elements of a row.
func (a *Array) rowCount() int64 {
	_, row := a.rows()
	n := int64(1)
	for _, d := range row {
		n *= d
	}
	return n
}

// describe is the part of a call that ranks agree on: type and shape of a row, and the root's, unless it is negative.
func (a *Array) describe(op string, root int64) Call {
	_, row := a.rows()
	same := append([]int64{root, int64(a.Type), int64(len(row))}, row...)
	return Call{Op: op, Same: same, Text: func() string {
		text := fmt.Sprintf("rows of shape %v of %s", row, a.Type)
		if root >= 0 {
			text += fmt.Sprint(", root ", root)
		}
		return text
	}}
}

// What a rank tells the others while they agree.
const (
	sharedRows     = iota // how many rows it has
	sharedOut             // one more than the number of elements that its output holds, 0 without one
	sharedKnow            // 1 if it says how many rows must come
	sharedChecksum        // whether that is how many do: see countChecksum
)

// In scatterv, where only root knows the type of the rows, the third is the type of the output, and the fourth the length of the
// header that describes root's rows.
const (
	sharedType   = sharedKnow
	sharedHeader = sharedChecksum
)

// shares is what a rank with this value and output shares.
func shares(value, out *Array) (s Shared) {
	s[sharedRows], _ = value.rows()
	if out != nil {
		s[sharedOut] = int64(out.Count) + 1
	}
	return s
}

// checkRows checks the value and the output of a rank that does not know yet how long the result is.
func checkRows(value, out *Array) error {
	if err := checkArray("value", value); err != nil || out == nil {
		return err
	}
	return checkOutput(out.Span, value.Span, out.Count)
}

// shareError returns mine on a rank that has an error, and another's elsewhere, where all ranks know that one may have.
// Collective.
func (c *Comm) shareError(op string, mine error) error { return c.Agree(Call{Op: op}, mine) }

// checkOuts refuses outputs that are not as long as the results: of count(r) elements on rank r. Collective where one is
// refused.
func (c *Comm) checkOuts(op string, all []Shared, count func(rank int) int64) error {
	var mine error
	agreed := true
	for rank, s := range all {
		want, has := count(rank), s[sharedOut]-1
		if has < 0 || has == want {
			continue
		}
		agreed = false
		if rank == c.Rank() {
			mine = status.New(status.InvalidArgument, "out has %d elements where the result has %d", has, want)
		}
	}
	if agreed {
		return nil
	}
	return c.shareError(op, mine)
}

// countHash is a hash of n rows from one rank to another.
func countHash(from, to int, n int64) int64 {
	const k = 0x9e3779b97f4a7c15
	hi, lo := bits.Mul64(uint64(from)*k^uint64(n)+0xa0761d6478bd642f, uint64(to)*k+0xe7037ed1a0b428db)
	hi, lo = bits.Mul64(hi^lo^uint64(n)*k, 0x8ebc6af09c88c6e3)
	return int64(hi ^ lo)
}

// checkLengths refuses counts that are not one a rank, or negative.
func (c *Comm) checkLengths(name string, counts []int64) error {
	return checkEach(name, counts, c.Size(), "ranks")
}

// checkEach refuses counts that are not one for each of n things, or negative.
func checkEach(name string, counts []int64, n int, things string) error {
	if len(counts) != n {
		return status.New(status.InvalidArgument, "%s has %d entries for %d %s", name, len(counts), n, things)
	}
	for _, n := range counts {
		if n < 0 {
			return status.New(status.InvalidArgument, "%s %v has a negative entry", name, counts)
		}
	}
	return nil
}

// checkCounts refuses counts that are not one a rank, negative, or not value's rows in all.
func (c *Comm) checkCounts(name string, value *Array, counts []int64) error {
	if err := c.checkLengths(name, counts); err != nil {
		return err
	}
	return checkSum(name, value, counts)
}

// checkSum refuses counts that are not value's rows in all.
func checkSum(name string, value *Array, counts []int64) error {
	left, _ := value.rows()
	rows := left
	for _, n := range counts {
		if left -= n; left < 0 {
			break
		}
	}
	if left != 0 {
		return status.New(status.InvalidArgument, "%s %v do not add up to the %d rows", name, counts, rows)
	}
	return nil
}

// sum adds counts up, none of them negative, as far as an int64 goes.
func sum(counts []int64) (total int64) {
	for _, n := range counts {
		if total += n; total < 0 {
			return math.MaxInt64
		}
	}
	return total
}

// exchangeBuffers is one rank's part in moving rows: where they are sent from, and the result.
type exchangeBuffers struct {
	Result
	send      memory.Span
	duplicate *memory.Storage // of send, where the output lies over the value
}

// newExchangeBuffers makes room for a result of n rows like value's, and for a copy of value where out lies over it.
func (c *Comm) newExchangeBuffers(value *Array, n int64, out *Array) (p exchangeBuffers, err error) {
	p.send = value.Span
	_, row := value.rows()
	if bytes := value.rowCount() * int64(value.Type.Size()); n == math.MaxInt64 || n > math.MaxInt64/max(bytes, 1) {
		return p, status.New(status.OutOfMemory, "there is no room for %d rows of %d bytes", n, bytes)
	}
	h := wire.Header{Kind: wire.NDArray, Type: value.Type, Shape: append([]int64{n}, row...)}
	if out == nil {
		p.Result, err = newResult(c.memory, h)
		return p, err
	}
	p.Result = Result{Array: Array{Span: out.Span, Shape: h.Shape}}
	if !overlap(out.Span, value.Span) {
		return p, nil
	}
	if p.duplicate, err = memory.NewStorage(c.memory, value.Bytes(), memory.Alignment); err != nil {
		return p, err
	}
	p.send.Addr = p.duplicate.Addr()
	memory.Copy(p.send, value.Span)
	return p, nil
}

// ready returns nil if every rank is prepared; else it gives the result up. bytes is what all ranks together move: where
// it is little, nobody asks the others, as in agree. Collective.
func (p *exchangeBuffers) ready(c *Comm, op string, bytes int64, err error) error {
	if bytes >= checkRoomFrom {
		err = c.shareError(op, err)
	}
	if err != nil {
		p.release()
		p.end()
	}
	return status.In(op, err)
}

// end lets go of what is needed during the exchange only.
func (p *exchangeBuffers) end() {
	if p.duplicate != nil {
		p.duplicate.Release()
		p.duplicate = nil
	}
}

// exchangeRows exchanges the parts, and returns the result.
func (c *Comm) exchangeRows(op string, p *exchangeBuffers, send, recv []memory.Span) (Result, error) {
	defer p.end()
	if err := c.Exchange(send, recv); err != nil {
		p.release()
		return Result{}, status.In(op, err)
	}
	return p.Result, nil
}

// splitRows divides a span in parts of so many rows, of so many elements each.
func splitRows(s memory.Span, counts []int64, row int64) []memory.Span {
	parts, at := make([]memory.Span, len(counts)), 0
	for rank, n := range counts {
		length := int(n * row)
		parts[rank] = s.Slice(at, at+length)
		at += length
	}
	return parts
}

// noParts is parts without elements.
func (c *Comm) noParts() []memory.Span { return make([]memory.Span, c.Size()) }

// Allgatherv puts every rank's rows, in rank order, one after the other, on every rank. Collective (MPI_Allgatherv).
func (c *Comm) Allgatherv(value Array, out *Array) (Result, error) {
	const op = "allgatherv"
	all := make([]Shared, c.Size())
	if err := c.AgreeSharing(value.describe(op, -1), checkRows(&value, out), shares(&value, out), all); err != nil {
		return Result{}, err
	}
	counts, row := rowsOf(all), value.rowCount()
	total := sum(counts)
	if err := c.checkOuts(op, all, func(int) int64 { return total * row }); err != nil {
		return Result{}, err
	}
	p, err := c.newExchangeBuffers(&value, total, out)
	if err := p.ready(c, op, total*row*int64(value.Type.Size()), err); err != nil {
		return Result{}, err
	}
	return c.exchangeRows(op, &p, slices.Repeat([]memory.Span{p.send}, c.Size()), splitRows(p.Span, counts, row))
}

// rowsOf returns how many rows each rank has.
func rowsOf(all []Shared) []int64 {
	counts := make([]int64, len(all))
	for rank, s := range all {
		counts[rank] = s[sharedRows]
	}
	return counts
}

// Gatherv is Allgatherv with the result on root alone. counts, on root, is how many rows each rank must send; nil takes
// what comes. Elsewhere counts and out are ignored. Collective (MPI_Gatherv).
func (c *Comm) Gatherv(value Array, counts []int64, out *Array, root int64) (Result, error) {
	const op = "gatherv"
	mine := c.checkRank("root", root)
	here := mine == nil && int(root) == c.Rank()
	if !here {
		counts, out = nil, nil
	}
	all, err := c.agreeToGather(op, &value, counts, out, root, mine)
	if err != nil {
		return Result{}, err
	}
	got, row := rowsOf(all), value.rowCount()
	total := sum(got)
	want := func(rank int) int64 { return total * row } // of root: no other has an output
	if err := c.checkOuts(op, all, want); err != nil {
		return Result{}, err
	}
	p := exchangeBuffers{send: value.Span}
	if here {
		p, err = c.newExchangeBuffers(&value, total, out)
	}
	if err := p.ready(c, op, total*row*int64(value.Type.Size()), err); err != nil {
		return Result{}, err
	}
	send, recv := c.noParts(), c.noParts()
	send[root] = p.send
	if here {
		recv = splitRows(p.Span, got, row)
	}
	return c.exchangeRows(op, &p, send, recv)
}

// agreeToGather agrees on a gatherv, and returns what each rank shares. Collective.
func (c *Comm) agreeToGather(op string, value *Array, counts []int64, out *Array, root int64, mine error) ([]Shared, error) {
	share := shares(value, out)
	if counts != nil {
		share[sharedKnow] = 1
		for rank, n := range counts {
			share[sharedChecksum] += countHash(rank, int(root), n)
		}
		if mine == nil {
			mine = c.checkLengths("recvcounts", counts)
		}
	}
	if mine == nil {
		mine = checkRows(value, out)
	}
	all := make([]Shared, c.Size())
	if err := c.AgreeSharing(value.describe(op, root), mine, share, all); err != nil {
		return nil, err
	}
	got, checksum := rowsOf(all), int64(0)
	for rank, n := range got {
		checksum += countHash(rank, int(root), n)
	}
	if told := all[root]; told[sharedKnow] == 0 || told[sharedChecksum] == checksum {
		return all, nil
	}
	if counts != nil {
		mine = status.New(status.InvalidArgument, "recvcounts %v, but the ranks send %v rows", counts, got)
	}
	return all, c.shareError(op, mine)
}

// Scatterv gives rank r the next counts[r] of root's rows. Elsewhere values and counts are ignored. Collective
// (MPI_Scatterv).
func (c *Comm) Scatterv(values *Array, counts []int64, out *Array, root int64) (Result, error) {
	const op = "scatterv"
	mine := c.checkRank("root", root)
	here := mine == nil && int(root) == c.Rank()
	if here {
		mine = c.checkScatterv(values, counts, out)
	}
	share := Shared{}
	if here && mine == nil {
		share[sharedHeader] = int64(values.rowHeader().Size())
	}
	if out != nil {
		share[sharedOut], share[sharedType] = int64(out.Count)+1, int64(out.Type)
	}
	all := make([]Shared, c.Size())
	call := Call{Op: op, Same: []int64{root}, Text: func() string { return fmt.Sprint("root ", root) }}
	if err := c.AgreeSharing(call, mine, share, all); err != nil {
		return Result{}, err
	}
	like, counts, err := c.broadcastCounts(values, counts, root, int(all[root][sharedHeader]))
	if err != nil {
		return Result{}, status.In(op, err)
	}
	p, err := c.prepareScatterv(op, &like, counts, out, all)
	if err != nil {
		return Result{}, err
	}
	send, recv := c.noParts(), c.noParts()
	if here {
		send = splitRows(p.send, counts, like.rowCount())
	}
	recv[root] = p.Span
	return c.exchangeRows(op, &p, send, recv)
}

// prepareScatterv checks every rank's output, and makes room for the results. Collective.
func (c *Comm) prepareScatterv(op string, like *Array, counts []int64, out *Array, all []Shared) (p exchangeBuffers, err error) {
	row, mine, agreed := like.rowCount(), error(nil), true
	for rank, s := range all {
		has := s[sharedOut] - 1
		agreed = agreed && (has < 0 || has == counts[rank]*row && s[sharedType] == int64(like.Type))
	}
	if out != nil {
		mine = checkOutput(out.Span, like.Span, int(counts[c.Rank()]*row))
	}
	if !agreed {
		return p, c.shareError(op, mine)
	}
	p, err = c.newExchangeBuffers(like, counts[c.Rank()], out)
	return p, p.ready(c, op, sum(counts)*row*int64(like.Type.Size()), err)
}

// checkScatterv checks what root gave.
func (c *Comm) checkScatterv(values *Array, counts []int64, out *Array) error {
	if values == nil {
		return status.New(status.InvalidArgument, "root has no data to scatter")
	}
	if counts == nil {
		return status.New(status.InvalidArgument, "root has no sendcounts")
	}
	if err := checkRows(values, out); err != nil {
		return err
	}
	return c.checkCounts("sendcounts", values, counts)
}

// rowHeader describes a row of an array.
func (a *Array) rowHeader() wire.Header {
	_, row := a.rows()
	return wire.Header{Type: a.Type, Shape: row}
}

// broadcastCounts broadcasts the type and shape of root's rows, in a header of a length that all know, and the counts. Elsewhere
// the array has no elements. Collective.
func (c *Comm) broadcastCounts(values *Array, counts []int64, root int64, header int) (like Array, all []int64, err error) {
	n := c.Size()
	storage, err := memory.NewStorage(c.memory, header+8*n, memory.Alignment)
	if err != nil {
		return like, nil, err
	}
	defer storage.Release()
	told := span(storage, header+8*n)
	raw := memory.As[byte](told)
	numbers := unsafe.Slice((*int64)(unsafe.Pointer(&raw[header])), n)
	if int(root) == c.Rank() {
		values.rowHeader().Put(raw)
		copy(numbers, counts)
	}
	if err := c.main.Broadcast(told, int(root)); err != nil || int(root) == c.Rank() {
		if err != nil {
			return like, nil, err
		}
		return *values, counts, nil
	}
	h, err := wire.ParseHeader(raw)
	if err != nil {
		return like, nil, err
	}
	like.Type, like.Shape = h.Type, append([]int64{0}, h.Shape...)
	return like, slices.Clone(numbers), nil
}
