package hashmap

import (
	"dtl/core/dtype"
	"dtl/core/memory"
)

// travel makes the rounds.
func (v *passage) travel() error {
	var lengths []int64
	if v.crowded {
		var err error
		if lengths, err = v.lengths(); err != nil {
			return err
		}
	}
	for _, s := range v.plan.sweeps {
		v.fill(s)
		for r := s.first; r < s.last; r++ {
			err := v.tour(r, lengths, v.visit)
			if err == nil && v.removes {
				// A second time, when all have been answered.
				err = v.tour(r, lengths, v.remove)
			}
			if err != nil {
				return err
			}
		}
		if !v.puts {
			v.deliver(s)
		}
	}
	return nil
}

// lengths returns how many keys each rank has in each range: a rank's ranges side by side.
func (v *passage) lengths() ([]int64, error) {
	ranges, ranks := v.plan.ranges, v.plan.ranks
	storage, err := memory.NewStorage(v.c.Memory(), 8*ranges*(ranks+1), alignment)
	if err != nil {
		return nil, err
	}
	defer storage.Release()
	both := memory.Span{Addr: storage.Addr(), Count: ranges * (ranks + 1), Type: dtype.Int64}
	own, all := both.Slice(0, ranges), both.Slice(ranges, ranges*(ranks+1))
	for r := range ranges {
		memory.As[int64](own)[r] = int64(v.plan.length(r))
	}
	if err := v.c.Allgather(own, all); err != nil {
		return nil, err
	}
	return append([]int64(nil), memory.As[int64](all)...), nil
}

// tour calls f for all keys of a range: in one round, if no rank has more than one takes.
func (v *passage) tour(r int, lengths []int64, f func(w window, coming []int64) error) error {
	if v.crowdedIn(r, lengths) {
		return v.inTurn(r, lengths, f)
	}
	return f(v.plan.whole(r), v.arriving[r])
}

// crowdedIn reports whether some rank has more keys in a range than a round takes: many times the same key, mostly.
func (v *passage) crowdedIn(r int, lengths []int64) bool {
	for i := r; i < len(lengths); i += v.plan.ranges {
		if lengths[i] > int64(v.round) {
			return true
		}
	}
	return false
}

// inTurn takes a range's keys one rank after the other, and each rank's in parts, so that memory stays bounded and the
// order of the ranks is kept.
func (v *passage) inTurn(r int, lengths []int64, f func(w window, coming []int64) error) error {
	for rank := range v.plan.ranks {
		for n := range v.chunks(int(lengths[rank*v.plan.ranges+r])) {
			w := v.plan.nothing(r)
			if rank == v.c.Rank() {
				w = v.plan.chunk(r, n, v.round)
			}
			coming, err := v.c.Counts(w.counts())
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
