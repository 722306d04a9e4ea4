package hashmap

import (
	"unsafe"

	"dtl/core/comm"
	"dtl/core/memory"
)

const (
	// roundBytes is about how much a rank sends in one round; more only adds to the memory that it takes.
	roundBytes = 512 << 10
	// floodBytes is the most that all ranks together send one rank in a round, where all keys are that one's.
	floodBytes = 256 << 20
	leastRound = 1 << 10 // keys
	mostRound  = 1 << 15
	// mostPasses is how often a list of many rounds is gone through, so that only a part of it is copied at a time.
	mostPasses = 4
)

// roundKeys returns the most keys that a rank sends in one round.
func roundKeys(entry, ranks int) int {
	return max(leastRound, min(roundBytes/entry, floodBytes/entry/ranks, mostRound))
}

// plan is the order in which a rank's keys are sent. A call with more keys than a round takes goes through the hashes range
// by range, so that every occurrence of a key, on any rank, is in the same round, and a round works on a part of the
// table that is small enough for a cache. A bucket is one owner's part of a range. A key's place is where it stands when
// the list is ordered by bucket.
//
// A list is put in that order, and the answers back in the list's, by reading one of the two from front to back and as
// many streams of the other as there are buckets: memory is slow where it is read here and there.
type plan struct {
	ranges, ranks int
	n             int
	buckets       []uint32 // of each key; nil if there is only one
	parted        bool     // the list has the keys of each pass together, and the buckets, too
	starts        []int    // the place of each bucket's first key; then the end
	passes        []pass
	scratch       *scratch
}

// scratch is what a plan works with. It belongs to the map, so that a call with a few keys takes no memory from Go.
type scratch struct {
	hashes            [someKeys]uint64
	positions, places [someKeys]int
	first             [someKeys]int // zeros: the positions of a value for all keys
	buckets           [fewKeys]uint32
}

const (
	someKeys = 256
	fewKeys  = 1 << 10
)

// pass is some neighbouring ranges, whose keys are put in order together.
type pass struct {
	first, last int // the last is not in it
	from, to    int // places
}

// list is where the buckets of a list of keys go.
type list struct {
	storage *memory.Storage // nil: in the scratch
	buckets []uint32
}

func (m *Map) newList(c *comm.Comm, n int) (list, error) {
	if n <= fewKeys {
		return list{buckets: m.scratch.buckets[:n]}, nil
	}
	storage, err := m.newRoom(c, 4*n)
	if err != nil {
		return list{}, err
	}
	return list{storage: storage, buckets: unsafe.Slice((*uint32)(storage.Addr()), n)}, nil
}

func (l list) release() {
	if l.storage != nil {
		l.storage.Release()
	}
}

// easeKeys is after how many keys of a list pages of files may be given back.
const easeKeys = 16 * someKeys

// newPlan finds out where each key of a list goes, with at most so many passes.
func newPlan(ranges, ranks, passes int, hash func(first int, into []uint64), l list, s *scratch) *plan {
	n := len(l.buckets)
	p := &plan{ranges: ranges, ranks: ranks, n: n, starts: make([]int, ranges*ranks+1), scratch: s}
	if ranges*ranks == 1 {
		p.starts[1] = n
	} else {
		p.buckets = l.buckets
		p.sort(hash)
	}
	passes = max(1, min(passes, ranges))
	for i := range passes {
		first, last := i*ranges/passes, (i+1)*ranges/passes
		p.passes = append(p.passes, pass{first, last, p.starts[first*ranks], p.starts[last*ranks]})
	}
	return p
}

func (p *plan) sort(hash func(first int, into []uint64)) {
	for first := 0; first < p.n; first += someKeys {
		if first%easeKeys == 0 {
			memory.Ease()
		}
		some := p.scratch.hashes[:min(p.n-first, someKeys)]
		hash(first, some)
		for i, h := range some {
			b := rangeOf(h, uint64(p.ranges))*p.ranks + ownerOf(h, uint64(p.ranks))
			p.buckets[first+i] = uint32(b)
			p.starts[b+1]++
		}
	}
	for b := range p.ranges * p.ranks {
		p.starts[b+1] += p.starts[b]
	}
}

// each calls f with the positions in the list of some keys of a pass, and with their places in the pass, until it had
// all, in the list's order.
func (p *plan) each(s pass, f func(positions, places []int)) {
	positions, places := &p.scratch.positions, &p.scratch.places
	if p.buckets == nil {
		for first := 0; first < p.n; first += someKeys {
			n := min(p.n-first, someKeys)
			for i := range n {
				positions[i], places[i] = first+i, first+i
			}
			f(positions[:n], places[:n])
		}
		return
	}
	next := make([]int, len(p.starts))
	for b, place := range p.starts {
		next[b] = place - s.from
	}
	low, many := uint32(s.first*p.ranks), uint32((s.last-s.first)*p.ranks)
	start, end := 0, p.n
	if p.parted {
		start, end = s.from, s.to
	}
	for first := start; first < end; first += someKeys {
		if (first-start)%easeKeys == 0 {
			memory.Ease()
		}
		n := 0
		for i, b := range p.buckets[first:min(first+someKeys, end)] {
			positions[n], places[n] = first+i, next[b]
			in := 0 // no jump: it would be guessed wrong too often
			if b-low < many {
				in = 1
			}
			next[b] += in
			n += in
		}
		f(positions[:n], places[:n])
	}
}

// portion is some of a range's keys: the places from..to.
type portion struct {
	plan     *plan
	of       int
	from, to int
}

// whole returns a range as one portion.
func (p *plan) whole(of int) portion {
	return portion{p, of, p.starts[of*p.ranks], p.starts[(of+1)*p.ranks]}
}

// length returns how many of this rank's keys are in a range.
func (p *plan) length(of int) int { w := p.whole(of); return w.to - w.from }

// chunk returns the n-th portion of a range when it is cut after every size keys.
func (p *plan) chunk(of, n, size int) portion {
	w := p.whole(of)
	w.from = min(w.from+n*size, w.to)
	w.to = min(w.from+size, w.to)
	return w
}

// nothing returns an empty portion.
func (p *plan) nothing(of int) portion { w := p.whole(of); w.to = w.from; return w }

// placesOf returns the places of the keys in the portion that an owner has.
func (w portion) placesOf(owner int) (from, to int) {
	b := w.of*w.plan.ranks + owner
	from = min(max(w.plan.starts[b], w.from), w.to)
	return from, max(min(w.plan.starts[b+1], w.to), from)
}

// counts returns how many keys in the portion each rank has.
func (w portion) counts() []int64 {
	n := make([]int64, w.plan.ranks)
	for owner := range n {
		from, to := w.placesOf(owner)
		n[owner] = int64(to - from)
	}
	return n
}
