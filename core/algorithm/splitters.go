package algorithm

import (
	"slices"

	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
	"dtl/core/status"
)

// Splitters are found exactly: for each place in the order of all elements that a rank's share ends at, how many of each
// rank's sorted elements come before it. In each round some keys of elements that may be the splitter's are proposed, and
// the ranks count how many elements are less than each proposal, and how many equal to it. Few ranks propose all of them,
// each as many; of many ranks, the elements are drawn by lot, as many of all ranks together (see sampling.go).

// proposals is how many of them all ranks make in a round, about, for a splitter.
const proposals = 128

// mostRounds is more than there are while no element changes. All ranks count the same rounds.
const mostRounds = 66

// none is where a rank has no proposal: no rank counts it.
const none = ^uint64(0)

// splitter is one place to find.
type splitter struct {
	place       int64 // how many of all ranks' elements come before it
	lo, hi      int   // this rank's elements that may be the first after it
	from, to    int64 // the same of all ranks' elements, in their order
	key         uint64
	less, equal int   // of this rank's elements: less than the key, and equal to it
	before      int64 // of all ranks' elements: less than the key
	found       bool
}

// sequence is a rank's sorted elements. Only of those on a device is there an error.
type sequence interface {
	length() int
	// keys writes the keys of the elements at places, and none for negative places.
	keys(into []uint64, places []int) error
	// search counts for each key the elements that are less, at 2i, and those that are not greater, at 2i+1.
	search(counts []int64, keys []uint64) error
}

// inMemory is a sequence that the host reaches.
type inMemory struct {
	elements memory.Span
	order    radix.Order
}

func (m inMemory) length() int { return m.elements.Count }

func (m inMemory) keys(into []uint64, places []int) error {
	for i, place := range places {
		into[i] = none
		if place >= 0 {
			into[i] = m.order.Key(m.elements, place)
		}
	}
	return nil
}

func (m inMemory) search(counts []int64, keys []uint64) error {
	for i, key := range keys {
		if i > 0 && key == keys[i-1] {
			counts[2*i], counts[2*i+1] = counts[2*i-2], counts[2*i-1]
			continue
		}
		counts[2*i] = int64(radix.Search(m.elements, m.order, key, false))
		counts[2*i+1] = int64(radix.Search(m.elements, m.order, key, true))
	}
	return nil
}

// splitting finds splitters among sorted elements.
type splitting struct {
	over  *comm.Comm
	mine  sequence
	all   []splitter
	keyed bool // the key of each place is wanted, also of the first
	work  *memory.Storage
}

// settled makes what a device failed at an error on every rank; on the host, nothing can have failed. Collective.
func (s *splitting) settled(failed error) error {
	if _, host := s.mine.(inMemory); host {
		return failed
	}
	return s.over.Agree(comm.Call{Op: "sort"}, failed)
}

// run finds all splitters. Collective.
func (s *splitting) run(total int64) error {
	open := 0
	for i := range s.all {
		x := &s.all[i]
		x.hi, x.to = s.mine.length(), total
		switch {
		case x.place == 0 && !s.keyed:
			x.found = true
		case x.place == total:
			x.found, x.less, x.before = true, s.mine.length(), total
		default:
			open++
		}
	}
	for rounds := 0; open > 0; rounds++ {
		if rounds == mostRounds {
			return status.New(status.InvalidArgument, "elements change while they are sorted")
		}
		n, err := s.round(open, rounds)
		if err != nil {
			return err
		}
		open -= n
	}
	return nil
}

// round has keys proposed for the splitters that are not found, and returns how many of them are now. Collective.
func (s *splitting) round(open, number int) (found int, err error) {
	var ordered []uint64
	if s.over.Size() <= fewRanks {
		ordered, err = s.gathered(open)
	} else {
		ordered, err = s.drawn(open, number)
	}
	if err != nil {
		return 0, err
	}
	if err := s.room(8 * 2 * len(ordered)); err != nil {
		return 0, err
	}
	counts := s.words(0, 2*len(ordered))
	counts.Type = dtype.Int64
	if err := s.settled(s.mine.search(memory.As[int64](counts), ordered)); err != nil {
		return 0, err
	}
	mine := slices.Clone(memory.As[int64](counts))
	if err := s.over.Allreduce(counts, counts, kernel.Sum); err != nil {
		return 0, err
	}
	return s.conclude(ordered, memory.As[int64](counts), mine, len(ordered)/open), nil
}

// fewRanks is of how many ranks each makes proposals for every splitter.
var fewRanks = 64

// gathered returns what all ranks propose for each splitter, sorted. Each proposes at least two keys, so what may be on it
// is halved at least. Collective.
func (s *splitting) gathered(open int) ([]uint64, error) {
	ranks := s.over.Size()
	each := max(2, proposals/ranks)
	width := open * each
	if err := s.room(8 * width * (1 + ranks)); err != nil {
		return nil, err
	}
	send, keys := s.words(0, width), s.words(width, width*ranks)
	places := make([]int, 0, width)
	for i := range s.all {
		if x := &s.all[i]; !x.found {
			places = s.propose(x, places, each)
		}
	}
	if err := s.settled(s.mine.keys(memory.As[uint64](send), places)); err != nil {
		return nil, err
	}
	if err := s.over.Allgather(send, keys); err != nil {
		return nil, err
	}
	return s.arrange(memory.As[uint64](keys), open, each), nil
}

// conclude uses what all ranks have counted, and this one, and returns how many splitters that finds.
func (s *splitting) conclude(ordered []uint64, counts, mine []int64, wide int) (found int) {
	n := 0
	for i := range s.all {
		if x := &s.all[i]; !x.found {
			x.narrow(ordered[n*wide:(n+1)*wide], counts[2*n*wide:2*(n+1)*wide], mine[2*n*wide:2*(n+1)*wide])
			n++
			found += int(truth(x.found))
		}
	}
	return found
}

// room makes sure that there is temporary memory.
func (s *splitting) room(bytes int) (err error) {
	if s.work == nil || s.work.Size() < bytes {
		s.release()
		s.work, err = memory.NewStorage(s.over.Memory(), bytes, memory.Alignment)
	}
	return err
}

func (s *splitting) release() {
	if s.work != nil {
		s.work.Release()
		s.work = nil
	}
}

// words returns some of the temporary memory.
func (s *splitting) words(from, n int) memory.Span {
	return memory.Span{Addr: s.work.Addr(), Count: s.work.Size() / 8, Type: dtype.Uint64}.Slice(from, from+n)
}

// propose adds the places of as many of this rank's elements that may be the splitter's, negative ones where there are fewer. Where
// all ranks have alike elements, those of all ranks together are evenly spaced.
func (s *splitting) propose(x *splitter, places []int, each int) []int {
	n := x.hi - x.lo
	parts := int64(2 * s.over.Size())
	for i := range each {
		place := -1
		if n <= each && i < n {
			place = x.lo + i
		} else if n > each {
			part := parts*int64(i) + int64(2*s.over.Rank()+1)
			place = x.lo + int(part*int64(n)/(parts*int64(each)))
		}
		places = append(places, place)
	}
	return places
}

// arrange returns all proposals for each splitter, sorted.
func (s *splitting) arrange(keys []uint64, open, each int) []uint64 {
	ordered := make([]uint64, 0, len(keys))
	ranks := s.over.Size()
	for x := range open {
		for rank := range ranks {
			at := (rank*open + x) * each
			ordered = append(ordered, keys[at:at+each]...)
		}
		slices.Sort(ordered[x*each*ranks:])
	}
	return ordered
}

// narrow leaves fewer elements that may be the splitter's, or finds it, by how many elements all ranks and this one have up to each key.
func (x *splitter) narrow(ordered []uint64, counts, mine []int64) {
	for i, key := range ordered {
		less, upTo := counts[2*i], counts[2*i+1]
		switch {
		case upTo <= x.place: // the splitter is greater
			x.lo, x.from = max(x.lo, int(mine[2*i+1])), max(x.from, upTo)
		case less > x.place:
			x.hi, x.to = min(x.hi, int(mine[2*i])), min(x.to, less)
			return
		default:
			x.found, x.key, x.before = true, key, less
			x.less = int(mine[2*i])
			x.equal = int(mine[2*i+1]) - x.less
			return
		}
	}
}
