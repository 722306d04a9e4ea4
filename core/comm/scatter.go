package comm

import (
	"unsafe"

	"dtl/core/comm/wire"
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
	f := wire.Signature{Op: "scatter", Root: wire.Rooted(root), ElementsOptional: true}
	var part description
	var send memory.Span
	if mine == nil && int(root) == c.rank {
		if mine = c.checkScatter(values, out); mine == nil {
			part.Header, part.elements, send = c.partOf(values), values.Span, values.Span
			f.Type, f.Count = part.Type, part.Count()
		}
	} else {
		stateElements(&f, out)
	}
	h, along, err := c.exchangeMetadata(f, mine, root, part, c.size, out)
	if err != nil {
		return Result{}, err
	}
	return c.scattered(send, h, along, out, int(root))
}

// scattered is scatter from where every rank knows what comes: root's elements are to be sent, or have come along.
func (c *Comm) scattered(send memory.Span, h wire.Header, along unsafe.Pointer, out *Array, root int) (Result, error) {
	r, err := c.room(h, out)
	if h.Apart {
		if err = c.ready(h, err); err == nil {
			send.Type = h.Type
			err = c.apart(send, r.Span, func(send memory.Span) error { return c.main.Scatter(known(send), known(r.Span), root) })
		}
	} else if err == nil {
		part := c.rank
		if c.amongNodes != nil && c.amongNodes.Scattered() {
			part = 0
		}
		copy(bytesAt(r.Addr, h.Bytes()), bytesAt(unsafe.Add(along, part*h.Bytes()), h.Bytes()))
	}
	if err != nil {
		r.release()
		return Result{}, err
	}
	return r, nil
}

// partOf describes one rank's entry of values.
func (c *Comm) partOf(values *Array) wire.Header {
	h := wire.Header{Kind: wire.NDArray, Type: values.Type, Shape: values.Shape[1:]}
	if len(h.Shape) == 0 {
		h.Kind = wire.NumPyScalar
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
