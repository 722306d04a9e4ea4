package comm

import (
	"dtl/core/kernel"
	"dtl/core/memory"
)

// Scan combines elementwise the values of the ranks up to this one. The outcome goes to out where it is given, which may
// share value's memory, else to the result, which is like value. Collective.
func (c *Comm) Scan(value, out *Array, op kernel.Op) (Result, error) {
	return c.combine(&combination{
		name: "scan", value: value, out: out, like: headerOf(*value), op: op, wrong: checkArray("value", value),
		ranks: c.rank + 1, run: c.main.Scan,
	})
}

// Exscan combines elementwise the values of the ranks before this one; rank 0, which has none before it, gets the
// operator's identity, as kernel.Identity says. Collective.
func (c *Comm) Exscan(value, out *Array, op kernel.Op) (Result, error) {
	return c.combine(&combination{
		name: "exscan", value: value, out: out, like: headerOf(*value), op: op, wrong: checkArray("value", value),
		ranks: c.rank, run: c.main.Exscan,
	})
}

// ReduceScatter combines every rank's values elementwise, and gives rank r the r-th entry along their first dimension,
// which has one entry a rank. It goes to out where that is given, else to the result. Collective.
func (c *Comm) ReduceScatter(values, out *Array, op kernel.Op) (Result, error) {
	h := header{kind: NumPyScalar, typ: values.Type}
	if len(values.Shape) > 1 {
		h.kind, h.shape = NDArray, values.Shape[1:]
	}
	return c.combine(&combination{
		name: "reduce_scatter", value: values, out: out, like: h, op: op, wrong: c.checkScatter(values, out),
		ranks: c.size, at: c.rank * values.Count / c.size, run: c.main.ReduceScatter,
	})
}

// combination is a collective that combines every rank's value to what like describes.
type combination struct {
	name       string
	value, out *Array
	like       header
	op         kernel.Op
	wrong      error // with the arguments, beyond what is the same for all
	ranks      int   // whose values come in, and from which element on
	at         int
	run        func(send, recv memory.Span, op kernel.Op) error
}

func (c *Comm) combine(call *combination) (r Result, err error) {
	err = c.inTurn(call.name, func() (err error) {
		r, err = c.combineNow(call)
		return err
	})
	return r, err
}

func (c *Comm) combineNow(call *combination) (r Result, err error) {
	send, wrong := call.value.Span, call.wrong
	if wrong == nil {
		wrong = call.op.Check(send.Type)
	}
	if wrong == nil {
		r, wrong = c.output(call.like, call.out)
	}
	if wrong == nil && c.size > 1 && send.Bytes() > c.brief && overlap(send, r.Span) {
		var twin Result
		twin, wrong = c.twin(send)
		defer twin.release()
		send = twin.Span
	}
	f := form{op: call.name, by: call.op.String(), typ: send.Type, count: send.Count}
	short, err := c.start(f, wrong, send, r.Span)
	switch {
	case err != nil:
	case short && call.ranks > 0:
		err = c.fold(r.Span, call.at, call.op, call.ranks, nil)
	case !short:
		err = call.run(send, r.Span, call.op)
	}
	if err == nil && call.ranks == 0 {
		err = kernel.Identity(r.Span, call.op)
	}
	if err != nil {
		r.release()
		return Result{}, err
	}
	return r, nil
}

// output returns memory for what h describes: out's, which must fit, or new where none is given.
func (c *Comm) output(h header, out *Array) (Result, error) {
	if out == nil {
		return newResult(c.memory, h)
	}
	if err := checkOutput(out.Span, memory.Span{Type: h.typ}, h.count()); err != nil {
		return Result{}, err
	}
	return Result{Array: Array{Span: out.Span, Shape: h.shape, Kind: h.kind}}, nil
}
