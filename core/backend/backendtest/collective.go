package backendtest

import (
	"time"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// each calls body for every element type, size and root; the large size only with one root for each type,
// and divided among the ranks.
func each(r *rank, body func(t dtype.Type, n, root int)) {
	ranks := r.c.Size()
	for i, t := range dtype.All() {
		for _, n := range sizes {
			if n == large {
				body(t, large/ranks, i%ranks)
				continue
			}
			for root := range ranks {
				body(t, n, root)
			}
		}
	}
}

// seeds returns one for each rank; salt makes those of different calls differ.
func (r *rank) seeds(salt int) []uint64 {
	s := make([]uint64, r.c.Size())
	for i := range s {
		s[i] = uint64(100*salt + i)
	}
	return s
}

// barrier compares times: the ranks of this test share a machine's clock.
func barrier(r *rank) {
	for range 20 {
		entered := time.Now().UnixNano()
		r.ok("barrier", r.c.Barrier())
		left := time.Now().UnixNano()
		times := []int64{entered, -left}
		latest := make([]int64, 2)
		r.pins.Pin(&times[0])
		r.pins.Pin(&latest[0])
		r.ok("allreduce", r.c.Allreduce(memory.Of(dtype.Int64, times), memory.Of(dtype.Int64, latest), kernel.Max))
		if first := -latest[1]; first < latest[0] {
			r.Errorf("a rank left the barrier %d ns before the last one entered", latest[0]-first)
		}
	}
}

func broadcast(r *rank) {
	each(r, func(t dtype.Type, n, root int) {
		b := r.room(t, n)
		if r.c.Rank() == root {
			b = r.filled(t, n, uint64(root))
		}
		r.ok("broadcast", r.c.Broadcast(b.Span, root))
		b.holds(r, "broadcast", uint64(root))
	})
}

func gather(r *rank) {
	each(r, func(t dtype.Type, n, root int) {
		seeds := r.seeds(root)
		send, recv := r.filled(t, n, seeds[r.c.Rank()]), r.room(t, n*r.c.Size())
		r.ok("gather", r.c.Gather(send.Span, r.atRoot(recv, root), root))
		if r.c.Rank() == root {
			recv.holds(r, "gather", seeds...)
		}
		send.holds(r, "gather's send", seeds[r.c.Rank()])
	})
}

func scatter(r *rank) {
	each(r, func(t dtype.Type, n, root int) {
		seeds := r.seeds(root)
		whole := r.room(t, n*r.c.Size())
		part := n * t.Size()
		for i, seed := range seeds {
			pattern(whole.elements()[i*part:(i+1)*part], t, seed)
		}
		recv := r.room(t, n)
		r.ok("scatter", r.c.Scatter(r.atRoot(whole, root), recv.Span, root))
		recv.holds(r, "scatter", seeds[r.c.Rank()])
	})
}

// atRoot returns the span on root, and elsewhere one that cannot be used.
func (r *rank) atRoot(b buffer, root int) memory.Span {
	if r.c.Rank() == root {
		return b.Span
	}
	return memory.Span{Type: b.Type}
}

func allgather(r *rank) {
	each(r, func(t dtype.Type, n, salt int) {
		seeds := r.seeds(salt)
		send, recv := r.filled(t, n, seeds[r.c.Rank()]), r.room(t, n*r.c.Size())
		r.ok("allgather", r.c.Allgather(send.Span, recv.Span))
		recv.holds(r, "allgather", seeds...)
	})
}

func alltoall(r *rank) {
	ranks, me := r.c.Size(), r.c.Rank()
	each(r, func(t dtype.Type, n, salt int) {
		send, recv := r.room(t, n*ranks), r.room(t, n*ranks)
		part := n * t.Size()
		from := make([]uint64, ranks)
		for i := range ranks {
			pattern(send.elements()[i*part:(i+1)*part], t, uint64(salt+1000*me+i))
			from[i] = uint64(salt + 1000*i + me)
		}
		r.ok("alltoall", r.c.Alltoall(send.Span, recv.Span))
		recv.holds(r, "alltoall", from...)
	})
}

// exchange sends parts whose lengths depend on both ranks, none among them, some with the sizes of all tests.
func exchange(r *rank) {
	ranks, me := r.c.Size(), r.c.Rank()
	for round := range len(sizes) {
		length := func(from, to int) int { return sizes[(from+2*to+round)%len(sizes)] / ranks }
		send, recv := make([]memory.Span, ranks), make([]memory.Span, ranks)
		in := make([]buffer, ranks)
		for i := range ranks {
			send[i] = r.filled(dtype.Float32, length(me, i), uint64(1000*me+i)).Span
			in[i] = r.room(dtype.Float32, length(i, me))
			recv[i] = in[i].Span
		}
		r.ok("exchange", r.c.Exchange(send, recv, r.c.TagBound()-1))
		for i := range ranks {
			in[i].holds(r, "exchange", uint64(1000*i+me))
		}
	}
}
