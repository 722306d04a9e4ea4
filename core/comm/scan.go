package comm

import (
	"dtl/core/comm/agreement"
	"dtl/core/comm/wire"
	"dtl/core/kernel"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
)

// Scan combines elementwise the values of the ranks up to this one. The outcome goes to out where it is given, which may
// share value's memory, else to the result, which is like value. Collective.
func (c *Comm) Scan(value, out *Array, op kernel.Op) (Result, error) {
	return c.combine(combination{
		name: "scan", op: op, value: value, like: headerOf(*value), wrong: checkArray("value", value),
		run:   c.main.Scan,
		short: func(recv memory.Span) error { return c.fold(recv, op, 0, c.rank+1) },
	}, out)
}

// Exscan combines elementwise the values of the ranks before this one; rank 0, which has none before it, gets the
// operator's identity, as reduce.Identity says. Collective.
func (c *Comm) Exscan(value, out *Array, op kernel.Op) (Result, error) {
	return c.combine(combination{
		name: "exscan", op: op, value: value, like: headerOf(*value), wrong: checkArray("value", value),
		run: func(send, recv memory.Span, op kernel.Op) error {
			if err := c.main.Exscan(send, recv, op); err != nil || c.rank > 0 {
				return err
			}
			return reduce.Identity(recv, op)
		},
		short: func(recv memory.Span) error {
			if c.rank == 0 {
				return reduce.Identity(recv, op)
			}
			return c.fold(recv, op, 0, c.rank)
		},
	}, out)
}

// ReduceScatter combines every rank's values elementwise, and gives rank r the r-th entry along their first dimension,
// which has one entry a rank. It goes to out where that is given, else to the result. Collective.
func (c *Comm) ReduceScatter(values, out *Array, op kernel.Op) (Result, error) {
	h := wire.Header{Kind: wire.NumPyScalar, Type: values.Type}
	if len(values.Shape) > 1 {
		h.Kind, h.Shape = wire.NDArray, values.Shape[1:]
	}
	return c.combine(combination{
		name: "reduce_scatter", op: op, value: values, like: h, wrong: c.checkScatter(values, out),
		run:   c.main.ReduceScatter,
		way:   agreement.Combined,
		short: func(recv memory.Span) error { return c.outcome(recv, op, c.rank*recv.Count) },
	}, out)
}

// combination is a collective that combines every rank's value.
type combination struct {
	name  string
	op    kernel.Op
	value *Array
	like  wire.Header                                      // what comes out
	wrong error                                            // with the arguments, beyond what every operation checks
	run   func(send, recv memory.Span, op kernel.Op) error // of long values, in the backend
	way   agreement.Way                                    // of short values
	short func(recv memory.Span) error                     // of those that have gone along with the meeting
}

func (c *Comm) combine(x combination, out *Array) (r Result, err error) {
	err = c.inTurn(x.name, func() (err error) {
		r, err = c.combined(x, out)
		return err
	})
	return r, err
}

func (c *Comm) combined(x combination, out *Array) (r Result, err error) {
	wrong := x.wrong
	if wrong == nil {
		wrong = x.op.Check(x.value.Type)
	}
	if wrong == nil {
		r, wrong = c.place(x.like, out)
	}
	send := agreement.Elements{Span: x.value.Span, Way: x.way, Op: x.op, InExtension: x.way == agreement.Combined}
	if wrong == nil && !c.goAlong(send, false) && overlap(send.Span, r.Span) {
		var duplicate Result
		duplicate, wrong = c.duplicate(send.Span)
		defer duplicate.release()
		send.Span = duplicate.Span
	}
	f := wire.Signature{Op: x.name, Operator: x.op.String(), Type: x.value.Type, Count: x.value.Count}
	if short, e := c.startWith(f, wrong, send); short || e != nil {
		if err = e; err == nil {
			err = x.short(r.Span)
		}
	} else {
		err = c.blocking(func() error { return x.run(send.Span, r.Span, x.op) })
	}
	if err != nil {
		r.release()
		return Result{}, err
	}
	return r, nil
}

// place returns memory for what h describes: out's, which must fit, or new where none is given.
func (c *Comm) place(h wire.Header, out *Array) (Result, error) {
	if out == nil {
		return newResult(c.memory, h)
	}
	if err := checkOutput(out.Span, memory.Span{Type: h.Type}, h.Count()); err != nil {
		return Result{}, err
	}
	return Result{Array: Array{Span: out.Span, Shape: h.Shape, Kind: h.Kind}}, nil
}
