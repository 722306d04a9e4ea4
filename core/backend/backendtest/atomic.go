package backendtest

import (
	"fmt"
	"math"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
	"dtl/core/status"
)

// eachInWindow calls body with a window of n elements for each operator of each type that windows have; each rank's
// part holds what fill gives as rank 0's. It is one window for all, which have their turns.
func eachInWindow(r *rank, p backend.WindowProvider, n int, body func(c combination, w opened)) {
	w := r.expose(p, r.room(dtype.Complex128, n))
	for _, c := range combinations() {
		part := w.part.as(c.t, n)
		c.fill(part.Span, 0, 0)
		r.ok("sync", w.Sync())
		r.ok("barrier", r.c.Barrier())
		body(c, opened{w.Window, r, part})
		r.ok("barrier", r.c.Barrier())
	}
	w.close()
}

// as returns the front of a buffer as a fresh one of n elements of another type, of which it has room for as many.
func (b buffer) as(t dtype.Type, n int) buffer {
	front := buffer{memory.Span{Addr: b.Addr, Count: n, Type: t}, b.all[:2*guard+n*t.Size()]}
	for i := range b.all {
		b.all[i] = guardByte
	}
	return front
}

// lacks reports whether windows need not have the operator: MPI has these for integers only, and swaps at most 8 bytes.
func lacks(c combination) bool {
	return (c.op == kernel.LAnd || c.op == kernel.LOr) && c.t.Inexact() && c.t.Size() > 8
}

// accumulate has every rank combine into every rank's part at once.
func accumulate(r *rank, p backend.WindowProvider) {
	for _, n := range []int{1, 3, 1000} {
		eachInWindow(r, p, n, func(c combination, w opened) {
			from := r.room(c.t, n)
			c.fill(from.Span, r.c.Rank()+1, 0)
			for step := range r.c.Size() {
				err := w.Accumulate(from.Span, (r.c.Rank()+step)%r.c.Size(), 0, c.op)
				if lacks(c) && !r.has("accumulate", err) {
					return
				}
				r.ok("accumulate", err)
			}
			w.meet()
			c.same(r, "accumulate", w.part, 0, r.c.Size()+1, 0)
		})
	}
}

// wrapAround adds numbers of all sizes to themselves, of which about half have too large sums.
func wrapAround(r *rank, p backend.WindowProvider) {
	for _, t := range []dtype.Type{dtype.Int8, dtype.Uint8, dtype.Int16, dtype.Uint16} {
		const n = 1001
		w := r.expose(p, r.filled(t, n, 1))
		from, want, was := r.filled(t, n, 1), r.filled(t, n, 1), r.room(t, n)
		r.ok("double", reduce.Accumulate(want.Span, from.Span, kernel.Sum))
		r.ok("accumulate", w.Accumulate(from.Span, r.next(), 0, kernel.Sum))
		w.meet()
		got(r, "doubled "+t.String(), string(w.part.elements()), string(want.elements()))
		r.ok("barrier", r.c.Barrier())
		r.ok("double", reduce.Accumulate(want.Span, from.Span, kernel.Sum))
		r.ok("fetch and op", w.FetchAndOp(from.Span, was.Span, r.next(), 0, kernel.Sum))
		w.meet()
		got(r, "tripled "+t.String(), string(w.part.elements()), string(want.elements()))
		w.close()
	}
}

// replaceAndLeave writes and reads with the operators that only windows have.
func replaceAndLeave(r *rank, p backend.WindowProvider) {
	for _, t := range dtype.All() {
		for _, n := range []int{1, 1000} {
			w := r.expose(p, r.filled(t, n, 1))
			r.ok("leave", w.Accumulate(r.filled(t, n, 2).Span, r.next(), 0, kernel.NoOp))
			w.meet()
			w.part.holds(r, "left", 1)
			r.ok("barrier", r.c.Barrier())
			r.ok("replace", w.Accumulate(r.filled(t, n, 3).Span, r.next(), 0, kernel.Replace))
			w.meet()
			w.part.holds(r, "replaced", 3)
			was, is := r.room(t, n), r.room(t, n)
			r.ok("barrier", r.c.Barrier())
			r.ok("fetch and replace", w.FetchAndOp(r.filled(t, n, 4).Span, was.Span, r.next(), 0, kernel.Replace))
			was.holds(r, "fetched", 3)
			r.ok("fetch", w.FetchAndOp(memory.Span{Type: t}, is.Span, r.next(), 0, kernel.NoOp))
			is.holds(r, "fetched", 4)
			w.close()
			w.part.holds(r, "replaced", 4)
		}
	}
}

// fetchAndOp has the next rank's part to itself.
func fetchAndOp(r *rank, p backend.WindowProvider) {
	for _, n := range []int{1, 70} {
		eachInWindow(r, p, n, func(c combination, w opened) {
			from, was, is := r.room(c.t, n), r.room(c.t, n), r.room(c.t, n)
			c.fill(from.Span, 1, 0)
			err := w.FetchAndOp(from.Span, was.Span, r.next(), 0, c.op)
			if lacks(c) && !r.has("fetch and op", err) {
				return
			}
			r.ok("fetch and op", err)
			before := r.room(c.t, n)
			c.fill(before.Span, 0, 0)
			got(r, fmt.Sprintf("what was there before %s of %s", c.op, c.t), string(was.elements()), string(before.elements()))
			r.ok("get", w.Get(is.Span, r.next(), 0))
			r.ok("flush", w.FlushLocal(r.next()))
			c.same(r, "fetch and op", is, 0, 2, 0)
		})
	}
}

// nansInWindows checks that a NaN is in what it is combined with, whether it was there or comes, and that of the zeros MIN takes
// the negative one and MAX the other.
func nansInWindows(r *rank, p backend.WindowProvider) {
	nansInWindowsOf[float64](r, p, dtype.Float64)
	nansInWindowsOf[float32](r, p, dtype.Float32)
}

func nansInWindowsOf[T float32 | float64](r *rank, p backend.WindowProvider, t dtype.Type) {
	nan, minus := T(math.NaN()), T(math.Copysign(0, -1))
	pairs := [][2]T{{nan, 1}, {1, nan}, {nan, nan}, {0, minus}, {minus, 0}, {minus, minus}, {-1, nan}, {2, 1}, {T(math.Inf(1)), nan}}
	for _, n := range []int{1, 2, 150} {
		for _, op := range []kernel.Op{kernel.Min, kernel.Max} {
			before, from, want, was := r.room(t, n), r.room(t, n), r.room(t, n), r.room(t, n)
			for i := range n {
				pair := pairs[(i+n)%len(pairs)]
				memory.As[T](before.Span)[i], memory.As[T](from.Span)[i], memory.As[T](want.Span)[i] = pair[0], pair[1], pair[0]
			}
			r.ok("combine", reduce.Accumulate(want.Span, from.Span, op))
			for _, fetches := range []bool{false, true} {
				w := r.expose(p, r.room(t, n))
				memory.Copy(w.part.Span, before.Span)
				w.meet()
				if fetches {
					r.ok("fetch and op", w.FetchAndOp(from.Span, was.Span, r.next(), 0, op))
				} else {
					r.ok("accumulate", w.Accumulate(from.Span, r.next(), 0, op))
				}
				w.meet()
				for i, v := range memory.As[T](w.part.Span) { // as text: NaN is NaN, and the zeros differ
					got(r, fmt.Sprintf("%s of %s, element %d", op, t, i), fmt.Sprint(v), fmt.Sprint(memory.As[T](want.Span)[i]))
				}
				w.close()
			}
			for i, v := range memory.As[T](was.Span) {
				got(r, "what was there", fmt.Sprint(v), fmt.Sprint(memory.As[T](before.Span)[i]))
			}
		}
	}
}

func lackingInWindows(r *rank, p backend.WindowProvider) {
	w := r.expose(p, r.filled(dtype.Uint8, 64, 1))
	for _, t := range dtype.All() {
		for op := range kernel.NOps {
			if op.Check(t) != nil {
				one, into := r.filled(t, 1, 2), r.room(t, 1)
				r.is("accumulate", w.Accumulate(one.Span, r.next(), 0, op), status.Unsupported)
				r.is("fetch and op", w.FetchAndOp(one.Span, into.Span, r.next(), 0, op), status.Unsupported)
			}
		}
	}
	w.meet()
	w.part.holds(r, "untouched", 1)
	w.close()
}

// compareAndSwap compares bits: no number that equals another's value, and a NaN is the same as itself.
func compareAndSwap(r *rank, p backend.WindowProvider) {
	for _, t := range dtype.All() {
		w := r.expose(p, r.filled(t, 3, 1))
		one := func(seed uint64, i int) memory.Span { return r.filled(t, 3, seed).Slice(i, i+1) }
		into := r.room(t, 1)
		at := int64(t.Size())
		err := w.CompareAndSwap(one(1, 1), one(2, 0), into.Span, r.next(), at)
		if t == dtype.Complex128 && !r.has("compare and swap", err) {
			w.close()
			continue
		}
		r.ok("compare and swap", err)
		got(r, "found "+t.String(), string(into.elements()), string(memory.As[byte](one(1, 1).Raw())))
		other := r.room(t, 1) // no truth value of the pattern, and no other element of it
		r.ok("compare and swap", w.CompareAndSwap(other.Span, one(3, 0), into.Span, r.next(), at))
		got(r, "found "+t.String(), string(into.elements()), string(memory.As[byte](one(2, 0).Raw())))
		w.meet()
		got(r, "swapped "+t.String(), string(w.part.elements()[at:2*at]), string(memory.As[byte](one(2, 0).Raw())))
		got(r, "the one before", string(w.part.elements()[:at]), string(memory.As[byte](one(1, 0).Raw())))
		got(r, "the one after", string(w.part.elements()[2*at:]), string(memory.As[byte](one(1, 2).Raw())))
		w.close()
	}
	compareZeros(r, p)
}

func compareZeros(r *rank, p backend.WindowProvider) {
	of := func(v float64) buffer {
		b := r.room(dtype.Float64, 1)
		memory.As[float64](b.Span)[0] = v
		return b
	}
	w := r.expose(p, of(math.Copysign(0, -1)))
	into := of(1)
	r.ok("compare and swap", w.CompareAndSwap(of(0).Span, of(5).Span, into.Span, r.next(), 0))
	r.ok("compare and swap", w.CompareAndSwap(of(math.Copysign(0, -1)).Span, of(math.NaN()).Span, into.Span, r.next(), 0))
	got(r, "the negative zero is there", math.Float64bits(memory.As[float64](into.Span)[0]), 1<<63)
	r.ok("compare and swap", w.CompareAndSwap(of(math.NaN()).Span, of(7).Span, into.Span, r.next(), 0))
	w.meet()
	got(r, "NaN was itself", memory.As[float64](w.part.Span)[0], 7)
	w.close()
}

const turns = 100 // of each rank

// tickets has all ranks draw numbers from one counter: each comes once.
func tickets(r *rank, p backend.WindowProvider) {
	w := r.expose(p, r.zeros(dtype.Int64, 1))
	drawn, all := r.zeros(dtype.Int64, turns), r.zeros(dtype.Int64, turns*r.c.Size())
	one := memory.Of(dtype.Int64, r.pinned(1))
	for i := range turns {
		r.ok("fetch and add", w.FetchAndOp(one, drawn.Slice(i, i+1), r.c.Size()-1, 0, kernel.Sum))
	}
	r.ok("allgather", r.c.Allgather(drawn.Span, all.Span))
	count := make([]int, turns*r.c.Size())
	for _, v := range memory.As[int64](all.Span) {
		if v < 0 || int(v) >= len(count) {
			r.Errorf("ticket %d outside [0, %d)", v, len(count))
			continue
		}
		count[v]++
	}
	for v, n := range count {
		if n != 1 {
			r.Errorf("rank %d: ticket %d was drawn %d times", r.c.Rank(), v, n)
			break
		}
	}
	w.close()
}

// zeros returns a buffer of n zeros.
func (r *rank) zeros(t dtype.Type, n int) buffer {
	b := r.room(t, n)
	clear(b.elements())
	return b
}

// totals has all ranks add to the same elements of one part, in calls of different lengths.
func totals(r *rank, p backend.WindowProvider) {
	for _, c := range combinations() {
		if c.op != kernel.Sum || c.t.Size() < 4 {
			continue // 8 and 16 bits would have to wrap, which accumulate checks
		}
		w := r.expose(p, r.zeros(c.t, 5))
		ones := r.ones(c.t, 5)
		for i := range turns {
			n := 1 + i%5
			r.ok("accumulate", w.Accumulate(ones.Slice(0, n), 0, 0, kernel.Sum))
		}
		w.meet()
		if r.c.Rank() == 0 {
			for i := range 5 {
				want := r.zeros(c.t, 1)
				for range turns * r.c.Size() * (5 - i) / 5 {
					r.ok("count", reduce.Accumulate(want.Span, ones.Slice(0, 1), kernel.Sum))
				}
				size := c.t.Size()
				got(r, "total of "+c.t.String(), string(w.part.elements()[i*size:(i+1)*size]), string(want.elements()))
			}
		}
		w.close()
	}
}

// ones returns n ones.
func (r *rank) ones(t dtype.Type, n int) buffer {
	b := r.room(t, n)
	r.ok("identity", reduce.Identity(b.Span, kernel.Prod))
	return b
}

// swapsBesideSums counts with compare and swap on some ranks, and with sums on others.
func swapsBesideSums(r *rank, p backend.WindowProvider) {
	w := r.expose(p, r.zeros(dtype.Float64, 1))
	now, next, found := []float64{0}, []float64{1}, []float64{0}
	for _, v := range [][]float64{now, next, found} {
		r.pins.Pin(&v[0])
	}
	for done := 0; done < turns; {
		if r.c.Rank()%2 == 1 {
			next[0] = 1
			r.ok("accumulate", w.Accumulate(memory.Of(dtype.Float64, next), 0, 0, kernel.Sum))
			r.ok("flush", w.Flush(0))
			done++
			continue
		}
		next[0] = now[0] + 1
		err := w.CompareAndSwap(memory.Of(dtype.Float64, now), memory.Of(dtype.Float64, next), memory.Of(dtype.Float64, found), 0, 0)
		if err != nil {
			r.ok("compare and swap", err)
			break
		}
		if found[0] == now[0] {
			done++
		}
		now[0] = found[0]
	}
	w.meet()
	if r.c.Rank() == 0 {
		got(r, "total", memory.As[float64](w.part.Span)[0], float64(turns*r.c.Size()))
	}
	w.close()
}
