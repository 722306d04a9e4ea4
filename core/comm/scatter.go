package comm

import (
	"unsafe"

	"dtl/core/memory"
	"dtl/core/status"
)

// Scatter gives rank r the r-th entry of root's values along their first dimension, which has one entry a
// rank. Elsewhere values are ignored, and may be nil. The part goes to out where it is given, else to the
// result. Collective.
func (c *Comm) Scatter(values, out *Array, root int64) (r Result, err error) {
	err = c.inTurn("scatter", func() (err error) {
		r, err = c.scatter(values, out, root)
		return err
	})
	return r, err
}

func (c *Comm) scatter(values, out *Array, root int64) (Result, error) {
	mine := c.checkRank("root", root)
	f := form{op: "scatter", root: rooted(root), loose: true}
	var part header
	var send memory.Span
	if mine == nil && int(root) == c.rank {
		if mine = c.checkScatter(values, out); mine == nil {
			part, send = c.partOf(values), values.Span
			f.typ, f.count = part.typ, part.count()
		}
	} else {
		f.state(out)
	}
	h, along, err := c.announce(f, mine, root, part, send, out)
	if err != nil {
		return Result{}, err
	}
	r, err := c.room(h, out)
	if h.apart {
		if err = c.ready(h, err); err == nil {
			send.Type = h.typ
			err = c.apart(send, r.Span, func(send memory.Span) error { return c.main.Scatter(send, r.Span, int(root)) })
		}
	} else if err == nil {
		copy(bytesAt(r.Addr, h.bytes()), bytesAt(unsafe.Add(along, c.rank*h.bytes()), h.bytes()))
	}
	if err != nil {
		r.release()
		return Result{}, err
	}
	return r, nil
}

// partOf describes one rank's entry of values.
func (c *Comm) partOf(values *Array) header {
	h := header{kind: NDArray, typ: values.Type, shape: values.Shape[1:]}
	if len(h.shape) == 0 {
		h.kind = NumPyScalar
	}
	return h
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
		return status.New(status.InvalidArgument, "values is a scalar; its first dimension must have one entry for each of %d ranks", c.size)
	}
	if values.Shape[0] != int64(c.size) {
		return status.New(status.InvalidArgument, "values has %d entries along its first dimension, but there are %d ranks",
			values.Shape[0], c.size)
	}
	if out == nil {
		return nil
	}
	return checkOutput(out.Span, values.Span, values.Count/c.size)
}
