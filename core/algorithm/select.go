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
// any element is, else the first. Nothing is sorted or moved but the few elements that have nearly these keys: the
// elements are counted by the leading bits of their keys. All ranks pass the same places. Collective.
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
	total  int64
	most   int64 // how many elements may be copied for a place
	nans   bool
	result *memory.Storage
	out    memory.Span
}

func (s *selection) prepare(c container.Container, p container.Part, how Sorting) (err error) {
	s.total = p.Layout().GlobalSize()
	s.most = max(s.total/16, 1<<12)
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
	if err := s.narrow(all, s.order.All(), 0); err != nil {
		return err
	}
	key := uint64(0)
	if s.nans {
		key = s.order.LeastNaN()
	}
	s.order.Set(s.out, len(all), key)
	return nil
}

// limited lets fewer elements of files be copied where these would take more than a sixteenth of the least limit of memory. Collective.
func (s *selection) limited() error {
	if s.part.Placement() != container.OnDisk {
		return nil
	}
	all := make([]comm.Shared, s.over.Size())
	if err := s.over.AgreeSharing(comm.Call{Op: "select"}, nil, comm.Shared{memory.Limit()}, all); err != nil {
		return err
	}
	for _, x := range all {
		if x[0] > 0 {
			s.most = min(s.most, max(x[0]/externalShare/16, 1<<12))
		}
	}
	return nil
}

// narrow finds the places in a range of keys, before which there are so many elements. Collective.
func (s *selection) narrow(all []wanted, r radix.Range, before int64) error {
	counts, mine, err := s.count(r)
	if err != nil {
		return err
	}
	for part := 0; part < len(counts) && len(all) > 0; part++ {
		n := 0
		for n < len(all) && all[n].place < before+counts[part] {
			n++
		}
		if n > 0 {
			if err := s.resolve(all[:n], r.Part(part), before, counts[part], mine[part]); err != nil {
				return err
			}
			all = all[n:]
		}
		before += counts[part]
	}
	return nil
}

// resolve finds the places in a range that has count elements, mine of them here. Collective.
func (s *selection) resolve(all []wanted, r radix.Range, before, count, mine int64) error {
	switch {
	case r.Below == 0:
		for _, w := range all {
			s.order.Set(s.out, w.at, r.Start)
		}
		return nil
	case count > s.most:
		return s.narrow(all, r, before)
	}
	return s.among(all, r, before, count, mine)
}

// count returns how many elements all ranks have in each part of a range, and how many this one has. Collective.
func (s *selection) count(r radix.Range) (all, mine []int64, err error) {
	n := r.Parts()
	mine = make([]int64, n+1)
	if !s.silent {
		s.countHere(mine, r)
	}
	storage, err := memory.NewStorage(s.over.Memory(), 8*len(mine), memory.Alignment)
	if err != nil {
		return nil, nil, err
	}
	defer storage.Release()
	sums := memory.Span{Addr: storage.Addr(), Count: len(mine), Type: dtype.Int64}
	copy(memory.As[int64](sums), mine)
	if err := s.over.Allreduce(sums, sums, kernel.Sum); err != nil {
		return nil, nil, err
	}
	all = slices.Clone(memory.As[int64](sums))
	s.nans = s.nans || all[n] > 0
	return all[:n], mine[:n], nil
}

// countHere counts this rank's elements in each part of a range, and behind these the NaNs.
func (s *selection) countHere(mine []int64, r radix.Range) {
	n, guard := len(mine)-1, sync.Mutex{}
	s.runs(func(run memory.Span) {
		found := make([]int64, n+1)
		found[n] = int64(radix.Count(found[:n], run, s.order, r))
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
			f(run.Slice(n*pieceSize, min((n+1)*pieceSize, run.Count)))
		})
		return true
	})
}

// collect writes the keys of this rank's elements in a range, in any order.
func (s *selection) collect(into []uint64, r radix.Range) {
	next := atomic.Int64{}
	s.runs(func(run memory.Span) {
		some := make([]uint64, run.Count)
		some = some[:radix.Collect(some, run, s.order, r)]
		copy(into[int(next.Add(int64(len(some))))-len(some):], some)
	})
}

// among finds the places among the keys of a range, which are copied and sorted. Collective.
func (s *selection) among(all []wanted, r radix.Range, before, count, mine int64) error {
	storage, err := memory.NewStorage(s.over.Memory(), int(16*mine)+16, memory.Alignment)
	if err != nil {
		return err
	}
	defer storage.Release()
	both := memory.Span{Addr: storage.Addr(), Count: int(2 * mine), Type: dtype.Uint64}
	keys, tmp := both.Slice(0, int(mine)), both.Slice(int(mine), int(2*mine))
	if !s.silent {
		s.collect(memory.As[uint64](keys), r)
	}
	order := radix.NewOrder(dtype.Uint64, false)
	radix.Sort(keys, tmp, order, s.by)
	x := splitting{over: s.over, mine: inMemory{keys, order}, all: make([]splitter, len(all)), keyed: true}
	defer x.release()
	for i, w := range all {
		x.all[i].place = w.place - before
	}
	if err := x.run(count); err != nil {
		return err
	}
	for i, w := range all {
		s.order.Set(s.out, w.at, x.all[i].key)
	}
	return nil
}
