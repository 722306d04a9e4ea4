package comm

import (
	"math"

	"dtl/core/comm/wire"
	"dtl/core/memory"
	"dtl/core/status"
)

// passage is one rank's part in moving rows: where they are sent from, and the result.
type passage struct {
	Result
	send memory.Span
	twin *memory.Storage // of send, where the output lies over the value
}

// newPassage makes room for a result of n rows like value's, and for a copy of value where out lies over it.
func (c *Comm) newPassage(value *Array, n int64, out *Array) (p passage, err error) {
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
	if p.twin, err = memory.NewStorage(c.memory, value.Bytes(), alignment); err != nil {
		return p, err
	}
	p.send.Addr = p.twin.Addr()
	memory.Copy(p.send, value.Span)
	return p, nil
}

// ready returns nil if every rank is prepared; else it gives the result up. bytes is what all ranks together move: where
// it is little, nobody asks the others, as in agree. Collective.
func (p *passage) ready(c *Comm, op string, bytes int64, err error) error {
	if bytes >= agreed {
		err = c.settle(op, err)
	}
	if err != nil {
		p.release()
		p.end()
	}
	return status.In(op, err)
}

// end lets go of what is needed during the exchange only.
func (p *passage) end() {
	if p.twin != nil {
		p.twin.Release()
		p.twin = nil
	}
}

// pass exchanges the parts, and returns the result.
func (c *Comm) pass(op string, p *passage, send, recv []memory.Span) (Result, error) {
	defer p.end()
	if err := c.Exchange(send, recv); err != nil {
		p.release()
		return Result{}, status.In(op, err)
	}
	return p.Result, nil
}

// cut divides a span in parts of so many rows, of so many elements each.
func cut(s memory.Span, counts []int64, row int64) []memory.Span {
	parts, at := make([]memory.Span, len(counts)), 0
	for rank, n := range counts {
		length := int(n * row)
		parts[rank] = s.Slice(at, at+length)
		at += length
	}
	return parts
}

// nothing is parts without elements.
func (c *Comm) nothing() []memory.Span { return make([]memory.Span, c.Size()) }
