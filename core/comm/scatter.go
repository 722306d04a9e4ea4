package comm

import (
	"dtl/core/memory"
	"dtl/core/status"
)

// Scatter gives rank r the r-th entry of root's values along their first dimension, which has one entry a
// rank. Elsewhere values are ignored, and may be nil. The part goes to out where it is given, else to the
// result. Collective.
func (c *Comm) Scatter(values, out *Array, root int64) (Result, error) {
	r, err := c.scatter(values, out, root)
	return r, status.In("scatter", err)
}

func (c *Comm) scatter(values, out *Array, root int64) (Result, error) {
	if err := c.checkRank("root", root); err != nil {
		return Result{}, err
	}
	var part *Array
	send := memory.Span{}
	if int(root) == c.Rank() {
		if err := c.checkScatter(values, out); err != nil {
			return Result{}, c.refuse(err, maxHeader)
		}
		send = values.Span
		part = &Array{Span: send.Slice(0, send.Count/c.Size()), Shape: values.Shape[1:], Kind: NDArray}
		if len(part.Shape) == 0 {
			part.Kind = NumPyScalar
		}
	}
	h, err := c.describePart(part, int(root))
	if err != nil {
		return Result{}, err
	}
	r, err := c.room(h, out)
	if err = c.agree(h, err); err != nil {
		r.release()
		return Result{}, err
	}
	send.Type = h.typ
	if err := c.apart(send, r.Span, func(send memory.Span) error { return c.main.Scatter(send, r.Span, int(root)) }); err != nil {
		r.release()
		return Result{}, err
	}
	return c.deliver(r, h, nil, out)
}

// checkScatter checks what root gave.
func (c *Comm) checkScatter(values, out *Array) error {
	if values == nil {
		return status.New(status.InvalidArgument, "root has no values to scatter")
	}
	if err := checkArray("values", values); err != nil {
		return err
	}
	if len(values.Shape) == 0 {
		return status.New(status.InvalidArgument, "values is a scalar; its first dimension must have one entry for each of %d ranks", c.Size())
	}
	if values.Shape[0] != int64(c.Size()) {
		return status.New(status.InvalidArgument, "values has %d entries along its first dimension, but there are %d ranks",
			values.Shape[0], c.Size())
	}
	if out == nil {
		return nil
	}
	return checkOutput(out.Span, values.Span, values.Count/c.Size())
}

// describePart tells every rank what its part looks like, without its elements.
func (c *Comm) describePart(part *Array, root int) (header, error) {
	b, err := c.scratch.get()
	if err != nil {
		return header{}, err
	}
	defer c.scratch.put(b)
	if part != nil {
		h := headerOf(*part)
		h.put(bytesAt(b.Addr(), eager))
		return h, c.main.Broadcast(span(b, maxHeader), root)
	}
	if err := c.main.Broadcast(span(b, maxHeader), root); err != nil {
		return header{}, err
	}
	return parseHeader(bytesAt(b.Addr(), maxHeader))
}
