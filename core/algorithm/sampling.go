package algorithm

import (
	"math/rand/v2"
	"slices"

	"dtl/core/kernel"
	"dtl/core/memory"
)

// Where every one of many ranks proposed keys for each splitter, of which there are as many as ranks, a rank would hold their
// product. So the elements that are proposed are drawn by lot: the ranks stand in line with those that may be a splitter's,
// all know how many these are, and draw the same places in the line. A rank's part of the line is what its predecessors do
// not have. So what may be is divided by half as many as are drawn in each round, about, however the elements are divided.

// leastDrawn is how many elements are drawn for a splitter at least: a round takes memory for three times as many numbers.
const leastDrawn = 16

// drawn returns keys that are drawn for each splitter, sorted. Collective.
func (s *splitting) drawn(open, round int) ([]uint64, error) {
	each := max(leastDrawn, proposals/open)
	mine := make([]int64, 0, open)
	for i := range s.all {
		if x := &s.all[i]; !x.found {
			mine = append(mine, int64(x.hi-x.lo))
		}
	}
	first, err := s.before(mine)
	if err != nil {
		return nil, err
	}
	if err := s.room(8 * open * each); err != nil {
		return nil, err
	}
	keys := s.words(0, open*each)
	all := memory.As[uint64](keys)
	random := rand.NewPCG(uint64(round), 0) // alike on all ranks
	places, at := make([]int, 0, len(all)), 0
	for i := range s.all {
		if x := &s.all[i]; !x.found {
			places = x.draw(first[at], random, places, each)
			at++
		}
	}
	if err := s.settled(s.mine.keys(all, places)); err != nil {
		return nil, err
	}
	if err := s.over.Allreduce(keys, keys, kernel.Min); err != nil {
		return nil, err
	}
	for x := range open {
		slices.Sort(all[x*each : (x+1)*each])
	}
	return slices.Clone(all), nil
}

// draw adds as many places in the line of all ranks, as places of this rank's elements, which stand there from first on; those of
// other ranks are negative.
func (x *splitter) draw(first int64, random *rand.PCG, places []int, each int) []int {
	line := x.to - x.from
	for i := range each {
		place := int64(i)
		if line > int64(each) {
			place = int64(random.Uint64() % uint64(line))
		}
		if place -= first; place >= 0 && place < int64(x.hi-x.lo) {
			places = append(places, x.lo+int(place))
		} else {
			places = append(places, -1)
		}
	}
	return places
}
