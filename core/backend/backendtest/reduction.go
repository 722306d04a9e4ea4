package backendtest

import (
	"fmt"
	"math"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// eachCombination calls body for each operator of each type and each size; the large size is divided among the ranks.
func eachCombination(r *rank, body func(c combination, n int)) {
	for _, c := range combinations() {
		for _, n := range sizes {
			if n == large {
				n /= r.c.Size()
			}
			body(c, n)
		}
	}
}

// reductions checks Allreduce, Iallreduce where there is one, and Reduce on every root, against a loop over the ranks.
func reductions(r *rank) {
	ranks := r.c.Size()
	eachCombination(r, func(c combination, n int) {
		send, recv := r.room(c.t, n), r.room(c.t, n)
		c.fill(send.Span, r.c.Rank(), 0)
		r.ok("allreduce", r.c.Allreduce(send.Span, recv.Span, c.op))
		c.same(r, "allreduce", recv, 0, ranks, 0)
		if async, ok := r.c.(backend.AsyncCommunicator); ok {
			later := r.room(c.t, n)
			request, err := async.Iallreduce(send.Span, later.Span, c.op)
			r.ok("iallreduce", err)
			_, err = request.Wait()
			r.ok("wait", err)
			c.same(r, "iallreduce", later, 0, ranks, 0)
		}
		for root := range ranks {
			if n > 1000 && root != int(c.op)%ranks {
				continue // one root for each operator
			}
			recv := r.room(c.t, n)
			r.ok("reduce", r.c.Reduce(send.Span, r.atRoot(recv, root), c.op, root))
			if r.c.Rank() == root {
				c.same(r, fmt.Sprintf("reduce to %d", root), recv, 0, ranks, 0)
			}
		}
	})
}

func scans(r *rank) {
	me := r.c.Rank()
	eachCombination(r, func(c combination, n int) {
		if skipped(c, n) {
			return
		}
		send, recv := r.room(c.t, n), r.room(c.t, n)
		c.fill(send.Span, me, 0)
		r.ok("scan", r.c.Scan(send.Span, recv.Span, c.op))
		c.same(r, "scan", recv, 0, me+1, 0)
		before := r.room(c.t, n)
		r.ok("exscan", r.c.Exscan(send.Span, before.Span, c.op))
		if me > 0 {
			c.same(r, "exscan", before, 0, me, 0)
		}
		before.guarded(r, "exscan")
	})
}

// skipped says that one type in four is enough for each operator on the large size.
func skipped(c combination, n int) bool { return n > 1000 && (int(c.op)+int(c.t))%4 != 0 }

func reduceScatter(r *rank) {
	ranks, me := r.c.Size(), r.c.Rank()
	eachCombination(r, func(c combination, n int) {
		if skipped(c, n) {
			return
		}
		send, recv := r.room(c.t, n*ranks), r.room(c.t, n)
		c.fill(send.Span, me, 0)
		r.ok("reduce_scatter", r.c.ReduceScatter(send.Span, recv.Span, c.op))
		c.same(r, "reduce_scatter", recv, 0, ranks, me*n)
	})
}

// nans checks that a NaN of any rank, at any place, is in every result that it belongs to, and that all ranks get the
// same zero.
func nans(r *rank) {
	nansOf[float64](r, dtype.Float64)
	nansOf[float32](r, dtype.Float32)
}

func nansOf[T float32 | float64](r *rank, t dtype.Type) {
	const n = 37 // some vectors, and a rest
	ranks, me := r.c.Size(), r.c.Rank()
	for _, op := range []kernel.Op{kernel.Min, kernel.Max, kernel.Sum, kernel.Prod} {
		send, all, up := r.room(t, n), r.room(t, n), r.room(t, n)
		for i := range n {
			memory.As[T](send.Span)[i] = T(me + 1)
			if i%(ranks+1) == me {
				memory.As[T](send.Span)[i] = T(math.NaN())
			}
		}
		r.ok("allreduce", r.c.Allreduce(send.Span, all.Span, op))
		r.ok("scan", r.c.Scan(send.Span, up.Span, op))
		for i := range n {
			isNaN := func(b buffer) bool { return math.IsNaN(float64(memory.As[T](b.Span)[i])) }
			got(r, fmt.Sprintf("%s of %s: NaN in element %d of allreduce", op, t, i), isNaN(all), i%(ranks+1) < ranks)
			got(r, fmt.Sprintf("%s of %s: NaN in element %d of scan", op, t, i), isNaN(up), i%(ranks+1) <= me)
		}
	}
	zeros, low, high := r.room(t, n), r.room(t, n), r.room(t, n)
	for i := range n {
		memory.As[T](zeros.Span)[i] = T(math.Copysign(0, float64(1-2*((me+i)%2))))
	}
	r.ok("allreduce", r.c.Allreduce(zeros.Span, low.Span, kernel.Min))
	r.ok("allreduce", r.c.Allreduce(zeros.Span, high.Span, kernel.Max))
	for i := range n {
		negative := func(b buffer) bool { return math.Signbit(float64(memory.As[T](b.Span)[i])) }
		got(r, "MIN is the negative zero", negative(low), ranks > 1 || negative(zeros))
		got(r, "MAX is the negative zero", negative(high), ranks == 1 && negative(zeros))
	}
}

// lacking checks that every rank is told, and none is left waiting.
func lacking(r *rank) {
	for _, t := range dtype.All() {
		for op := range kernel.NOps {
			if op.Check(t) == nil {
				continue
			}
			send, recv := r.filled(t, 2, 1), r.room(t, 2)
			r.is("allreduce", r.c.Allreduce(send.Span, recv.Span, op), status.Unsupported)
			r.is("reduce", r.c.Reduce(send.Span, recv.Span, op, 0), status.Unsupported)
			r.is("scan", r.c.Scan(send.Span, recv.Span, op), status.Unsupported)
			r.is("exscan", r.c.Exscan(send.Span, recv.Span, op), status.Unsupported)
			r.is("reduce_scatter", r.c.ReduceScatter(r.filled(t, 2*r.c.Size(), 1).Span, recv.Span, op), status.Unsupported)
			recv.untouched(r, "operator that the type lacks")
		}
	}
}
