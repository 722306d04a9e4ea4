// Package scale counts what calls take on many ranks: messages, bytes, messages one after the other, and memory. The
// ranks are goroutines of one process that run the code of core as it is, over a communicator that counts. A network
// in the LogGP model turns the counts into times.
//
// Ranks share no memory here, even if they are on one node. The forms in docs/scale.json say how the counts grow
// beyond what can be run; tests compare them with the counts.
package scale

import (
	"errors"
	"runtime"
	"sync"
	"time"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/comm"
	context "dtl/core/runtime"
)

// Rank is one rank of a simulation.
type Rank struct {
	On   *context.Context
	main *communicator
	host *cpu.Host
}

// Operation is what is counted.
type Operation struct {
	Name string
	// Prepare does what is not counted, and returns what is, and what ends it. Collective.
	Prepare func(r *Rank) (call, end func() error, err error)
}

// Result is what an operation takes on so many ranks.
type Result struct {
	Name  string
	Ranks int
	Counts
	Memory int64 // bytes outside Go's heap that a rank had at most, beside what it had before
}

// Simulate counts operations on so many ranks, one after the other.
func Simulate(n Network, ranks int, operations []Operation) ([]Result, error) {
	comm.SetSharing(false)
	defer comm.SetSharing(true)
	w, all := newWorld(n, ranks)
	results := []Result{}
	for _, o := range operations {
		result, err := w.count(o, all)
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}

// newWorld returns the ranks of a network.
func newWorld(n Network, ranks int) (*world, []*Rank) {
	w := &world{network: n, meters: make([]*meter, ranks), groups: map[int64]*group{}}
	numbers := make([]int, ranks)
	for rank := range ranks {
		numbers[rank] = rank
		w.meters[rank] = &meter{world: w, rank: rank, coming: map[channel][]instant{}}
	}
	g := w.newGroup(numbers)
	all := make([]*Rank, ranks)
	for rank, c := range cpu.Group(ranks) {
		over := &communicator{AsyncCommunicator: c.(backend.AsyncCommunicator), group: g, me: w.meters[rank]}
		all[rank] = &Rank{main: over, host: cpu.NewHost()}
	}
	return w, all
}

// each has every rank do something at once, and waits for all.
func each(all []*Rank, do func(rank int, r *Rank) error) error {
	var under sync.WaitGroup
	failed := make([]error, len(all))
	for rank, r := range all {
		under.Go(func() { failed[rank] = do(rank, r) })
	}
	under.Wait()
	return errors.Join(failed...)
}

// count counts one operation.
func (w *world) count(o Operation, all []*Rank) (Result, error) {
	calls, ends := make([]func() error, len(all)), make([]func() error, len(all))
	err := each(all, func(rank int, r *Rank) (err error) {
		r.host = cpu.NewHost() // which counts from here on
		calls[rank], ends[rank], err = o.Prepare(r)
		return err
	})
	if err != nil {
		return Result{}, err
	}
	before := make([]int64, len(all))
	for rank, r := range all {
		w.meters[rank].reset()
		before[rank], _ = r.host.InUse()
	}
	if err := each(all, func(rank int, r *Rank) error { return calls[rank]() }); err != nil {
		return Result{}, err
	}
	result := Result{Name: o.Name, Ranks: len(all), Counts: w.counts()}
	for rank, r := range all {
		_, peak := r.host.InUse()
		result.Memory = max(result.Memory, peak-before[rank])
	}
	return result, each(all, func(rank int, r *Rank) error { return ends[rank]() })
}

// HeapOfCommunicator returns how many bytes of Go's heap a communicator takes on each of so many ranks, the counting and the
// backend apart.
func HeapOfCommunicator(n Network, ranks int) (int64, error) {
	comm.SetSharing(false)
	defer comm.SetSharing(true)
	_, all := newWorld(n, ranks)
	made := make([]*comm.Comm, ranks)
	open := func() error {
		return each(all, func(rank int, r *Rank) (err error) {
			main, err := r.main.Dup()
			if err == nil {
				made[rank], err = comm.New(main, r.host)
			}
			return err
		})
	}
	// Two duplicates of the backend's are what a communicator has below it.
	below, before := make([]backend.ReducingCommunicator, 2*ranks), heapInUse()
	err := each(all, func(rank int, r *Rank) (err error) {
		if below[2*rank], err = r.main.Dup(); err == nil {
			below[2*rank+1], err = below[2*rank].Dup()
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	middle := heapInUse()
	if err := open(); err != nil {
		return 0, err
	}
	after := heapInUse()
	runtime.KeepAlive(below)
	err = each(all, func(rank int, _ *Rank) error { return made[rank].Close() })
	return ((after - middle) - (middle - before)) / int64(ranks), err
}

// heapInUse returns how many bytes of Go's heap are in use, when what earlier work has left behind is collected: pools
// and finalizers keep some of it for several collections.
func heapInUse() int64 {
	var m runtime.MemStats
	for last := uint64(0); ; last = m.HeapAlloc {
		runtime.GC()
		runtime.ReadMemStats(&m)
		if m.HeapAlloc+1024 > last && last+1024 > m.HeapAlloc {
			return int64(m.HeapAlloc)
		}
		time.Sleep(time.Millisecond)
	}
}
