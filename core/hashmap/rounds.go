package hashmap

import (
	"dtl/core/dtype"
	"dtl/core/memory"
)

// run makes the rounds.
func (x *exchange) run() error {
	var lengths []int64
	if x.skewed {
		var err error
		if lengths, err = x.lengths(); err != nil {
			return err
		}
	}
	if x.parts {
		x.divide()
	}
	for _, s := range x.plan.passes {
		x.fill(s)
		for r := s.first; r < s.last; r++ {
			err := x.inRounds(r, lengths, x.answerRound)
			if err == nil && x.removes {
				// A second time, when all have been answered.
				err = x.inRounds(r, lengths, x.eraseRound)
			}
			if err != nil {
				return err
			}
			memory.Ease()
		}
		if !x.puts {
			x.deliver(s)
		}
	}
	if x.m.cells == nil {
		return nil
	}
	if x.puts {
		x.m.cells.commit(x.log)
	} else if x.gets {
		return x.c.Agree(x.m.call(x.op), x.failed) // on every rank, what failed on one
	}
	return nil
}

// lengths returns how many keys each rank has in each range: a rank's ranges side by side.
func (x *exchange) lengths() ([]int64, error) {
	ranges, ranks := x.plan.ranges, x.plan.ranks
	storage, err := memory.NewStorage(x.c.Memory(), 8*ranges*(ranks+1), memory.Alignment)
	if err != nil {
		return nil, err
	}
	defer storage.Release()
	both := memory.Span{Addr: storage.Addr(), Count: ranges * (ranks + 1), Type: dtype.Int64}
	own, all := both.Slice(0, ranges), both.Slice(ranges, ranges*(ranks+1))
	for r := range ranges {
		memory.As[int64](own)[r] = int64(x.plan.length(r))
	}
	if err := x.c.Allgather(own, all); err != nil {
		return nil, err
	}
	return append([]int64(nil), memory.As[int64](all)...), nil
}

// inRounds calls f for all keys of a range: in one round, if no rank has more than one takes.
func (x *exchange) inRounds(r int, lengths []int64, f func(w portion, coming []int64) error) error {
	if x.skewedIn(r, lengths) {
		return x.rankByRank(r, lengths, f)
	}
	return f(x.plan.whole(r), x.arriving[r])
}

// skewedIn reports whether some rank has more keys in a range than a round takes: many times the same key, mostly.
func (x *exchange) skewedIn(r int, lengths []int64) bool {
	for i := r; i < len(lengths); i += x.plan.ranges {
		if lengths[i] > int64(x.round) {
			return true
		}
	}
	return false
}

// rankByRank takes a range's keys one rank after the other, and each rank's in parts, so that memory stays bounded and the
// order of the ranks is kept.
func (x *exchange) rankByRank(r int, lengths []int64, f func(w portion, coming []int64) error) error {
	for rank := range x.plan.ranks {
		for n := range x.chunks(int(lengths[rank*x.plan.ranges+r])) {
			w := x.plan.nothing(r)
			if rank == x.c.Rank() {
				w = x.plan.chunk(r, n, x.round)
			}
			coming, err := x.c.Counts(w.counts())
			if err == nil {
				err = f(w, coming)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
