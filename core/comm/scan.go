package comm

import (
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// Scan combines elementwise the values of the ranks up to this one. The outcome goes to out where it is given, which may
// share value's memory, else to the result, which is like value. Collective.
func (c *Comm) Scan(value, out *Array, op kernel.Op) (Result, error) {
	r, err := c.combine("scan", value, out, headerOf(*value), op, checkArray("value", value), c.main.Scan)
	return r, status.In("scan", err)
}

// Exscan combines elementwise the values of the ranks before this one; rank 0, which has none before it, gets the
// operator's identity, as kernel.Identity says. Collective.
func (c *Comm) Exscan(value, out *Array, op kernel.Op) (Result, error) {
	r, err := c.combine("exscan", value, out, headerOf(*value), op, checkArray("value", value), c.exscan)
	return r, status.In("exscan", err)
}

func (c *Comm) exscan(send, recv memory.Span, op kernel.Op) error {
	if err := c.main.Exscan(send, recv, op); err != nil || c.Rank() > 0 {
		return err
	}
	return kernel.Identity(recv, op)
}

// ReduceScatter combines every rank's values elementwise, and gives rank r the r-th entry along their first dimension,
// which has one entry a rank. It goes to out where that is given, else to the result. Collective.
func (c *Comm) ReduceScatter(values, out *Array, op kernel.Op) (Result, error) {
	h := header{kind: NumPyScalar, typ: values.Type}
	if len(values.Shape) > 1 {
		h.kind, h.shape = NDArray, values.Shape[1:]
	}
	r, err := c.combine("reduce_scatter", values, out, h, op, c.checkScatter(values, out), c.main.ReduceScatter)
	return r, status.In("reduce_scatter", err)
}

// combine runs a collective that combines every rank's value to what h describes. wrong says what is wrong with the
// arguments beyond what every operation checks.
func (c *Comm) combine(name string, value, out *Array, h header, op kernel.Op, wrong error,
	run func(send, recv memory.Span, op kernel.Op) error) (r Result, err error) {
	send := value.Span
	if wrong == nil {
		wrong = op.Check(value.Type)
	}
	if wrong == nil {
		r, wrong = c.place(h, out)
	}
	if wrong == nil && overlap(send, r.Span) {
		var twin Result
		twin, wrong = c.twin(send)
		defer twin.release()
		send = twin.Span
	}
	err = c.meet(form{op: name, by: op.String(), typ: value.Type, count: value.Count}, wrong)
	if err == nil {
		err = run(send, r.Span, op)
	}
	if err != nil {
		r.release()
		return Result{}, err
	}
	return r, nil
}

// place returns memory for what h describes: out's, which must fit, or new where none is given.
func (c *Comm) place(h header, out *Array) (Result, error) {
	if out == nil {
		return newResult(c.memory, h)
	}
	if err := checkOutput(out.Span, memory.Span{Type: h.typ}, h.count()); err != nil {
		return Result{}, err
	}
	return Result{Array: Array{Span: out.Span, Shape: h.shape, Kind: h.kind}}, nil
}
