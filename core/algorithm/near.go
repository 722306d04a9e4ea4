package algorithm

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
)

// Of many elements, a sample says between which two keys a place most likely is. One pass then counts what is less, and copies what
// is between. Places that the sample has misled about are found as others are.

// Elements that are not on a GPU, of which there are so many, are sampled, about so many, for places in so many ranges of keys at most. For each, a
// share of them may be copied.
const (
	leastSampled = 1 << 18
	sampledKeys  = 1 << 15
	mostNear     = 8
	nearShare    = 32
)

// deviations is how many times the standard deviation of a place in the sample the keys are apart from it that it lies between.
const deviations = 4

// near is a range of keys that places are in, in order.
type near struct {
	lo, hi uint64
	places []wanted
	keys   []uint64     // those of this rank's elements that have room
	inside atomic.Int64 // how many of its elements have keys in the range
	less   atomic.Int64 // how many have lesser ones
}

// findNear finds places, in order, by a sample, and returns those that are left. Collective.
func (s *selection) findNear(all []wanted) (left []wanted, err error) {
	if s.total < leastSampled || s.tight || s.part.Placement() == container.OnDevice {
		return all, nil
	}
	sample, here, err := s.sampled()
	if err != nil {
		return nil, err
	}
	ranges := s.around(all, sample)
	if len(ranges) > mostNear {
		return all, nil
	}
	room := int(min(here, s.total/nearShare))
	storage, err := memory.NewStorage(s.over.Memory(), max(1, 2*8*room*len(ranges)), memory.Alignment)
	if err != nil {
		return nil, err
	}
	defer storage.Release()
	copied := memory.Span{Addr: storage.Addr(), Count: 2 * room * len(ranges), Type: dtype.Uint64}
	for i, r := range ranges {
		r.keys = memory.As[uint64](copied.Slice(2*i*room, (2*i+1)*room))
	}
	counts, err := s.countNear(ranges)
	for i, r := range ranges {
		if err != nil {
			return nil, err
		}
		var more []wanted
		more, err = s.pickNear(r, counts[3*i], counts[3*i+1], counts[3*i+2] == 0, copied.Slice(2*i*room, 2*(i+1)*room))
		left = append(left, more...)
	}
	return left, err
}

// pickNear finds the places of a range, given how many elements of all ranks have lesser keys, how many are in it, and whether all of these
// had room, and returns those that are not among them. Collective.
func (s *selection) pickNear(r *near, less, inside int64, whole bool, keys memory.Span) (left []wanted, err error) {
	c := &candidates{before: less, count: inside}
	for _, w := range r.places {
		switch at := w.place - less; {
		case at < 0 || at >= inside || !whole && r.lo < r.hi:
			left = append(left, w)
		case r.lo == r.hi:
			s.order.Set(s.out, w.at, r.lo)
		default:
			c.places = append(c.places, w)
		}
	}
	if len(c.places) == 0 {
		return left, nil
	}
	mine, room := int(r.inside.Load()), keys.Count/2
	return left, s.pick(c, keys.Slice(0, mine), keys.Slice(room, room+mine))
}

// sampled returns the sorted keys of elements from all over the container, one of each so many, and how many elements this rank has. Collective.
func (s *selection) sampled() (sample []uint64, here int64, err error) {
	if !s.silent {
		here = held(s.part) / int64(s.part.Type().Size())
	}
	all := make([]comm.Shared, s.over.Size())
	if err := s.over.AgreeSharing(comm.Call{Op: "select"}, nil, comm.Shared{here}, all); err != nil {
		return nil, 0, err
	}
	apart, first, n := (s.total+sampledKeys-1)/sampledKeys, 0, 0
	for rank, x := range all {
		if rank == s.over.Rank() {
			first = n
		}
		n += int((x[0] + apart - 1) / apart)
	}
	storage, err := memory.NewStorage(s.over.Memory(), 2*8*n, memory.Alignment)
	if err != nil {
		return nil, 0, err
	}
	defer storage.Release()
	both := memory.Span{Addr: storage.Addr(), Count: 2 * n, Type: dtype.Uint64}
	keys := memory.As[uint64](both.Slice(0, n))
	for i := range keys {
		keys[i] = none
	}
	if here > 0 {
		s.sampleHere(keys[first:], apart, here)
	}
	if err := s.over.Allreduce(both.Slice(0, n), both.Slice(0, n), kernel.Min); err != nil {
		return nil, 0, err
	}
	radix.Sort(both.Slice(0, n), both.Slice(n, 2*n), radix.NewOrder(dtype.Uint64, false), s.by)
	return slices.Clone(keys), here, nil
}

// sampleHere writes the keys of one of each so many elements of this rank, which may be any of them.
func (s *selection) sampleHere(keys []uint64, apart, here int64) {
	random := rand.NewPCG(uint64(s.over.Rank()), 0)
	draw := func(i int64) int64 { return min(i*apart+int64(random.Uint64()%uint64(apart)), here-1) }
	i, next, before := int64(0), draw(0), int64(0)
	s.part.Runs(func(run memory.Span) bool {
		for i*apart < here && next < before+int64(run.Count) {
			keys[i] = s.order.Key(run, int(next-before))
			i++
			next = draw(i)
		}
		before += int64(run.Count)
		return i*apart < here
	})
}

// around returns the ranges of keys that places are in, by a sample.
func (s *selection) around(all []wanted, sample []uint64) (ranges []*near) {
	n := float64(len(sample))
	for i, w := range all {
		share := float64(w.place) / float64(s.total)
		at, away := share*n, deviations*(1+math.Sqrt(n*share*(1-share)))
		lo, hi := uint64(0), s.order.Greatest()
		if at-away >= 0 {
			lo = sample[int(at-away)]
		}
		if at+away < n {
			hi = sample[int(at+away)]
		}
		if last := len(ranges) - 1; last >= 0 && lo <= ranges[last].hi {
			ranges[last].hi = max(hi, ranges[last].hi)
			ranges[last].places = append(ranges[last].places, w)
		} else {
			ranges = append(ranges, &near{lo: lo, hi: hi, places: all[i : i+1 : i+1]})
		}
	}
	return ranges
}

// countNear copies the keys of this rank's elements in ranges, and returns for each how many elements of all ranks have lesser keys, how many
// are in it, and on how many ranks these had no room. Collective.
func (s *selection) countNear(ranges []*near) ([]int64, error) {
	var nans atomic.Int64
	if !s.silent {
		s.runs(func(run memory.Span) {
			var some [keysAtOnce]uint64
			for at := 0; at < run.Count; at += len(some) {
				block := run.Slice(at, min(at+len(some), run.Count))
				for i, r := range ranges {
					inside, less, nothing := radix.Between(some[:], block, s.order, r.lo, r.hi)
					if i == 0 {
						nans.Add(int64(nothing))
					}
					r.less.Add(int64(less))
					end := r.inside.Add(int64(inside))
					if end <= int64(len(r.keys)) {
						copy(r.keys[end-int64(inside):], some[:inside])
					}
				}
			}
		})
	}
	storage, err := memory.NewStorage(s.over.Memory(), 8*(3*len(ranges)+1), memory.Alignment)
	if err != nil {
		return nil, err
	}
	defer storage.Release()
	sums := memory.Span{Addr: storage.Addr(), Count: 3*len(ranges) + 1, Type: dtype.Int64}
	counts := memory.As[int64](sums)
	for i, r := range ranges {
		inside := r.inside.Load()
		counts[3*i], counts[3*i+1], counts[3*i+2] = r.less.Load(), inside, truth(inside > int64(len(r.keys)))
	}
	counts[3*len(ranges)] = nans.Load()
	if err := s.over.Allreduce(sums, sums, kernel.Sum); err != nil {
		return nil, err
	}
	s.nans = s.nans || counts[3*len(ranges)] > 0
	return slices.Clone(counts), nil
}
