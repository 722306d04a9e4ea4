package comm

import (
	"fmt"
	"slices"

	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// The calls of this file move parts of different lengths: rows, entries along the first dimension. A scalar is one row.
// Each starts with an agreement, so that ranks that pass what does not fit together all get an error.

// rows returns the number of entries along the first dimension, and the shape of one.
func (a *Array) rows() (n int64, row []int64) {
	if len(a.Shape) == 0 {
		return 1, nil
	}
	return a.Shape[0], a.Shape[1:]
}

// describe is the part of a call that ranks agree on: type and shape of a row, and more numbers.
func (a *Array) describe(op string, more ...int64) Call {
	_, row := a.rows()
	same := append([]int64{int64(a.Type), int64(len(row))}, row...)
	text := func() string { return fmt.Sprintf("rows of shape %v of %s, %v", row, a.Type, more) }
	return Call{Op: op, Same: append(same, more...), Text: text}
}

// rowed returns an array of n rows like a's, in out where that is given, else in new memory.
func (c *Comm) rowed(a *Array, n int64, out *Array) (Result, error) {
	_, row := a.rows()
	h := header{kind: NDArray, typ: a.Type, shape: append([]int64{n}, row...)}
	if out == nil {
		return newResult(c.memory, h)
	}
	return Result{Array: Array{Span: out.Span, Shape: h.shape}}, checkOutput(out.Span, a.Span, h.count())
}

// cut divides a span in parts of so many rows.
func cut(s memory.Span, counts []int64) []memory.Span {
	total := int64(0)
	for _, n := range counts {
		total += n
	}
	parts, at := make([]memory.Span, len(counts)), 0
	for rank, n := range counts {
		length := 0
		if total > 0 {
			length = int(n * (int64(s.Count) / total))
		}
		parts[rank] = s.Slice(at, at+length)
		at += length
	}
	return parts
}

// Allgatherv puts every rank's rows, in rank order, one after the other, on every rank. Collective (MPI_Allgatherv).
func (c *Comm) Allgatherv(value Array, out *Array) (Result, error) {
	counts, err := c.countRows(value.describe("allgatherv"), &value, nil)
	if err != nil {
		return Result{}, err
	}
	r, err := c.rowed(&value, sum(counts), out)
	if err = c.allReady("allgatherv", err); err != nil {
		r.release()
		return Result{}, err
	}
	return c.finish("allgatherv", r, slices.Repeat([]memory.Span{value.Span}, c.Size()), cut(r.Span, counts))
}

// Gatherv is Allgatherv with the result on root alone. counts, on root, is how many rows each rank must send; nil takes
// what comes. Collective (MPI_Gatherv).
func (c *Comm) Gatherv(value Array, counts []int64, out *Array, root int64) (Result, error) {
	const op = "gatherv"
	mine := c.checkRank("root", root)
	here := mine == nil && int(root) == c.Rank()
	got, err := c.countRows(value.describe(op, root), &value, mine)
	if err != nil {
		return Result{}, err
	}
	var r Result
	if here {
		if counts != nil && !slices.Equal(counts, got) {
			mine = status.New(status.InvalidArgument, "recvcounts %v, but the ranks send %v rows", counts, got)
		} else {
			r, mine = c.rowed(&value, sum(got), out)
		}
	}
	if err = c.allReady(op, mine); err != nil {
		r.release()
		return Result{}, err
	}
	send, recv := make([]memory.Span, c.Size()), make([]memory.Span, c.Size())
	send[root] = value.Span
	if here {
		recv = cut(r.Span, got)
	}
	return c.finish(op, r, send, recv)
}

// Scatterv gives rank r the next counts[r] of root's rows. Elsewhere values and counts are ignored. Collective
// (MPI_Scatterv).
func (c *Comm) Scatterv(values *Array, counts []int64, out *Array, root int64) (Result, error) {
	const op = "scatterv"
	if err := c.checkRank("root", root); err != nil {
		return Result{}, status.In(op, c.Agree(Call{Op: op, Same: []int64{root}}, err))
	}
	here := int(root) == c.Rank()
	var mine error
	if here {
		mine = c.checkCounts("sendcounts", values, counts)
	}
	if err := c.Agree(Call{Op: op, Same: []int64{root}}, mine); err != nil {
		return Result{}, err
	}
	like, counts, err := c.tell(values, counts, root)
	if err != nil {
		return Result{}, status.In(op, err)
	}
	r, err := c.rowed(like, counts[c.Rank()], out)
	if err = c.allReady(op, err); err != nil {
		r.release()
		return Result{}, err
	}
	send, recv := make([]memory.Span, c.Size()), make([]memory.Span, c.Size())
	if here {
		send = cut(values.Span, counts)
	}
	recv[root] = r.Span
	return c.finish(op, r, send, recv)
}

// tell broadcasts the type and shape of root's rows and the counts.
func (c *Comm) tell(values *Array, counts []int64, root int64) (like *Array, all []int64, err error) {
	var told *Array
	if int(root) == c.Rank() {
		_, row := values.rows()
		numbers := append(append([]int64{int64(values.Type)}, counts...), row...)
		told = &Array{Span: memory.Of(dtype.Int64, numbers), Shape: []int64{int64(len(numbers))}}
	}
	r, err := c.Broadcast(told, nil, root)
	if err != nil || told != nil {
		return values, counts, err
	}
	defer r.release()
	numbers := append([]int64{}, memory.As[int64](r.Span)...)
	n := 1 + c.Size()
	return &Array{Span: memory.Span{Type: dtype.Type(numbers[0])}, Shape: append([]int64{0}, numbers[n:]...)}, numbers[1:n], nil
}

// Alltoallv sends each rank r the next sendCounts[r] rows of value, and puts what comes, in rank order, one after the
// other. recvCounts is how many rows must come from each; nil takes what comes. Collective (MPI_Alltoallv).
func (c *Comm) Alltoallv(value Array, sendCounts, recvCounts []int64, out *Array) (Result, error) {
	const op = "alltoallv"
	if err := c.Agree(value.describe(op), c.checkCounts("send_counts", &value, sendCounts)); err != nil {
		return Result{}, err
	}
	got, err := c.Counts(sendCounts)
	if err != nil {
		return Result{}, status.In(op, err)
	}
	var r Result
	if recvCounts != nil && !slices.Equal(recvCounts, got) {
		err = status.New(status.InvalidArgument, "recv_counts %v, but the ranks send %v rows", recvCounts, got)
	} else {
		r, err = c.rowed(&value, sum(got), out)
	}
	if err = c.allReady(op, err); err != nil {
		r.release()
		return Result{}, err
	}
	return c.finish(op, r, cut(value.Span, sendCounts), cut(r.Span, got))
}

// countRows agrees on a call, and returns how many rows each rank has.
func (c *Comm) countRows(call Call, value *Array, mine error) ([]int64, error) {
	if mine == nil {
		mine = checkArray("value", value)
	}
	n, _ := value.rows()
	all := make([]Shared, c.Size())
	if err := c.AgreeSharing(call, mine, Shared{n}, all); err != nil {
		return nil, err
	}
	counts := make([]int64, len(all))
	for rank, share := range all {
		counts[rank] = share[0]
	}
	return counts, nil
}

// allReady agrees that every rank has room for what comes.
func (c *Comm) allReady(op string, mine error) error { return c.Agree(Call{Op: op}, mine) }

// finish exchanges the parts, and returns the result where it is in new memory.
func (c *Comm) finish(op string, r Result, send, recv []memory.Span) (Result, error) {
	if err := c.Exchange(send, recv); err != nil {
		r.release()
		return Result{}, status.In(op, err)
	}
	return r, nil
}

// checkCounts refuses counts that are not one a rank, negative, or not value's rows in all.
func (c *Comm) checkCounts(name string, value *Array, counts []int64) error {
	if value == nil {
		return status.New(status.InvalidArgument, "root has no values to scatter")
	}
	if err := checkArray("value", value); err != nil {
		return err
	}
	if len(counts) != c.Size() {
		return status.New(status.InvalidArgument, "%s has %d entries for %d ranks", name, len(counts), c.Size())
	}
	left, _ := value.rows()
	rows := left
	for _, n := range counts {
		if n < 0 {
			return status.New(status.InvalidArgument, "%s %v has a negative entry", name, counts)
		}
		if left -= n; left < 0 {
			break
		}
	}
	if left != 0 {
		return status.New(status.InvalidArgument, "%s %v do not add up to the %d rows", name, counts, rows)
	}
	return nil
}

func sum(counts []int64) (total int64) {
	for _, n := range counts {
		total += n
	}
	return total
}
