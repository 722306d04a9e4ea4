package algorithm

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
	"dtl/core/status"
)

// Select returns the elements that would have the given indices if the container, flat, were sorted, and one more: NaN if
// any element is, else the first. Nothing is sorted or moved but the few elements that have nearly these keys, which a sample tells;
// where it misleads, elements are counted by the leading bits of their keys. All ranks pass the same places. Collective.
func Select(c container.Container, places []int64, how Sorting) (comm.Result, error) {
	s := selection{places: places}
	call := comm.Call{Op: "select", Same: append([]int64{truth(how.Descending)}, places...), Text: func() string {
		return fmt.Sprint(places)
	}}
	err := on(c, call, func(p container.Part) error { return s.prepare(c, p, how) },
		func(over *comm.Comm, p container.Part) error {
			s.over, s.part = over, p
			if err := s.limited(); err != nil {
				return err
			}
			return s.run()
		})
	if err != nil {
		if s.result != nil {
			s.result.Release()
		}
		return comm.Result{}, err
	}
	return comm.Result{Array: comm.Array{Span: s.out, Shape: []int64{int64(s.out.Count)}}, Storage: s.result}, nil
}

// selection is one Select.
type selection struct {
	over   *comm.Comm
	part   container.Part
	order  radix.Order
	by     radix.Workers
	places []int64
	silent bool // another rank has the same elements
	tight  bool // elements of files take much of a limit of memory, and so would the pages of a sample
	total  int64
	most   int64 // how many elements may be copied for a place
	nans   bool
	result *memory.Storage
	out    memory.Span
}

func (s *selection) prepare(c container.Container, p container.Part, how Sorting) (err error) {
	s.total = p.Layout().GlobalSize()
	s.most = s.few(s.total / 16)
	for _, place := range s.places {
		if place < 0 || place >= s.total {
			return status.New(status.OutOfBounds, "place %d outside [0, %d)", place, s.total)
		}
	}
	if p.Type().Complex() {
		return status.New(status.Unsupported, "elements of %s have no keys", p.Type())
	}
	s.order, s.by = radix.NewOrder(p.Type(), how.Descending), workers(how.Threads)
	s.silent = p.Layout().Replicated() && c.Context().Rank() > 0
	s.out = memory.Span{Count: len(s.places) + 1, Type: p.Type()}
	if s.result, err = memory.NewStorage(c.Context().Memory(), s.out.Bytes(), memory.Alignment); err == nil {
		s.out.Addr = s.result.Addr()
	}
	return err
}

// few returns how many elements may be copied for a place where there may be so many for all that are found together.
func (s *selection) few(all int64) int64 {
	return max(all/int64(min(together, max(1, len(s.places)))), 1<<12)
}

// wanted is one place, and where its element goes in the result.
type wanted struct {
	place int64
	at    int
}

func (s *selection) run() error {
	all := make([]wanted, len(s.places))
	for i, place := range s.places {
		all[i] = wanted{place, i}
	}
	slices.SortFunc(all, func(a, b wanted) int { return int(min(max(a.place-b.place, -1), 1)) })
	if len(all) == 0 {
		return nil
	}
	if err := s.find(all); err != nil {
		return err
	}
	key := uint64(0)
	if s.nans {
		key = s.order.LeastNaN()
	}
	s.order.Set(s.out, len(all), key)
	return nil
}

// shareSampled is the part of the limit of memory that the elements of a rank take at most of which a sample's pages may all be resident.
const shareSampled = 4

// limited lets fewer elements of files be copied where these would take more than a sixteenth of the least limit of memory. Collective.
func (s *selection) limited() error {
	if s.part.Placement() != container.OnDisk {
		return nil
	}
	all := make([]comm.Shared, s.over.Size())
	if err := s.over.AgreeSharing(comm.Call{Op: "select"}, nil, comm.Shared{memory.Limit(), held(s.part)}, all); err != nil {
		return err
	}
	for _, x := range all {
		if x[0] > 0 {
			s.tight = s.tight || x[1] > x[0]/shareSampled
			s.most = min(s.most, s.few(x[0]/externalShare/16))
		}
	}
	return nil
}

// candidates are the elements that places are among: those whose keys are in a range.
type candidates struct {
	radix.Range
	places      []wanted
	before      int64   // how many elements of all ranks are less
	count, mine int64   // how many elements all ranks have in the range, and this one
	parts, here []int64 // the same of each part of the range
	keys        []uint64
	found       atomic.Int64 // how many keys there are
}

// together is of how many ranges elements are counted in one pass: each has a table on each thread.
const together = 16

// find finds places, in order: by a sample of many elements (see near.go), and what it misleads about otherwise. In each pass elements are
// counted in parts of the ranges that are left, and then those of ranges with few elements are copied. Collective.
func (s *selection) find(all []wanted) error {
	all, err := s.findNear(all)
	if err != nil || len(all) == 0 {
		return err
	}
	open, few := []*candidates{{Range: s.order.All(), places: all, count: s.total}}, []*candidates(nil)
	for len(open) > 0 {
		some := open[:min(together, len(open))]
		open = open[len(some):]
		if err := s.count(some); err != nil {
			return err
		}
		for _, c := range some {
			for _, part := range c.divided() {
				switch {
				case part.Below == 0:
					for _, w := range part.places {
						s.order.Set(s.out, w.at, part.Start)
					}
				case part.count > s.most:
					open = append(open, part)
				default:
					few = append(few, part)
				}
			}
		}
	}
	for len(few) > 0 {
		some := few[:min(together, len(few))]
		few = few[len(some):]
		if err := s.among(some); err != nil {
			return err
		}
	}
	return nil
}

// divided returns the parts of a range that have places.
func (c *candidates) divided() (parts []*candidates) {
	before := c.before
	for part, count := range c.parts {
		n := 0
		for n < len(c.places) && c.places[n].place < before+count {
			n++
		}
		if n > 0 {
			parts = append(parts, &candidates{
				Range: c.Part(part), places: c.places[:n], before: before, count: count, mine: c.here[part],
			})
			c.places = c.places[n:]
		}
		before += count
	}
	return parts
}

// count counts the elements in each part of some ranges. Collective.
func (s *selection) count(all []*candidates) error {
	n := 1 // for NaNs
	for _, c := range all {
		n += c.Parts()
	}
	mine := make([]int64, n)
	if !s.silent {
		s.countHere(mine, all)
	}
	storage, err := memory.NewStorage(s.over.Memory(), 8*n, memory.Alignment)
	if err != nil {
		return err
	}
	defer storage.Release()
	sums := memory.Span{Addr: storage.Addr(), Count: n, Type: dtype.Int64}
	copy(memory.As[int64](sums), mine)
	if err := s.over.Allreduce(sums, sums, kernel.Sum); err != nil {
		return err
	}
	total := slices.Clone(memory.As[int64](sums))
	s.nans = s.nans || total[0] > 0
	at := 1
	for _, c := range all {
		c.parts, c.here = total[at:at+c.Parts()], mine[at:at+c.Parts()]
		at += c.Parts()
	}
	return nil
}

// countHere counts this rank's elements: the NaNs, and behind these those in each part of some ranges.
func (s *selection) countHere(mine []int64, all []*candidates) {
	guard := sync.Mutex{}
	s.runs(func(run memory.Span) {
		found, at := make([]int64, len(mine)), 1
		for _, c := range all {
			found[0] = int64(radix.Count(found[at:at+c.Parts()], run, s.order, c.Range))
			at += c.Parts()
		}
		guard.Lock()
		defer guard.Unlock()
		for i, some := range found {
			mine[i] += some
		}
	})
}

// runs calls f with this rank's elements, some at a time, on several threads.
func (s *selection) runs(f func(run memory.Span)) {
	s.part.Runs(func(run memory.Span) bool {
		s.by.Each((run.Count+pieceSize-1)/pieceSize, func(n int) {
			run.Slice(n*pieceSize, min((n+1)*pieceSize, run.Count)).Read(f)
		})
		return true
	})
}

// keysAtOnce is how many keys are first written to memory that stays in the cache.
const keysAtOnce = 1 << 12

// collect writes the keys of this rank's elements in each range, in any order.
func (s *selection) collect(all []*candidates) {
	s.runs(func(run memory.Span) {
		var some [keysAtOnce]uint64
		for at := 0; at < run.Count; at += len(some) {
			block := run.Slice(at, min(at+len(some), run.Count))
			for _, c := range all {
				keys := some[:radix.Collect(some[:], block, s.order, c.Range)]
				copy(c.keys[int(c.found.Add(int64(len(keys))))-len(keys):], keys)
			}
		}
	})
}

// among finds the places among the keys of some ranges, which are copied and sorted. Collective.
func (s *selection) among(all []*candidates) error {
	n := 1
	for _, c := range all {
		n += int(2 * c.mine)
	}
	storage, err := memory.NewStorage(s.over.Memory(), 8*n, memory.Alignment)
	if err != nil {
		return err
	}
	defer storage.Release()
	rest := memory.Span{Addr: storage.Addr(), Count: n, Type: dtype.Uint64}
	take := func(n int64) (taken memory.Span) {
		taken, rest = rest.Slice(0, int(n)), rest.Slice(int(n), rest.Count)
		return taken
	}
	spans := make([]memory.Span, len(all))
	for i, c := range all {
		spans[i] = take(c.mine)
		c.keys = memory.As[uint64](spans[i])
	}
	if !s.silent {
		s.collect(all)
	}
	for i, c := range all {
		if err := s.pick(c, spans[i], take(c.mine)); err != nil {
			return err
		}
	}
	return nil
}

// pick finds the places among keys. Collective.
func (s *selection) pick(c *candidates, keys, tmp memory.Span) error {
	order := radix.NewOrder(dtype.Uint64, false)
	radix.Sort(keys, tmp, order, s.by)
	x := splitting{over: s.over, mine: inMemory{keys, order}, all: make([]splitter, len(c.places)), keyed: true}
	defer x.release()
	for i, w := range c.places {
		x.all[i].place = w.place - c.before
	}
	if err := x.run(c.count); err != nil {
		return err
	}
	for i, w := range c.places {
		s.order.Set(s.out, w.at, x.all[i].key)
	}
	return nil
}
