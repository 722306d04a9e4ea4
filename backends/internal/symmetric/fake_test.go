package symmetric

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"dtl/backends/internal/symmetric/transport"
	"dtl/backends/internal/symmetric/transport/remotetest"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/memory"
)

// together is symmetric memory of processes that are goroutines: a fabric for tests where there is no library.
type together struct {
	atomics sync.Mutex
	parts   []unsafe.Pointer
	size    int
	keep    [][]uint64
}

// single is what one of them sees.
type single struct {
	*together
	here int
}

var _ transport.Fabric = single{}

// reading is a single whose processes read each other's memory, by the number that the system knows them by.
type reading struct {
	single
	id int64
}

func (r reading) Native() transport.Native {
	n := r.single.Native()
	n.IDs = slices.Repeat([]int64{r.id}, len(r.parts))
	return n
}

// calling is a single whose processes reach each other's memory by calls alone.
type calling struct{ single }

func (c calling) Native() transport.Native { return remotetest.Native(c.parts, c.size) }

// nobody is the number of no process: the system refuses to read it.
const nobody = 1 << 30

// worlds returns n processes.
func worlds(n, heap int) []*World {
	return worldsOf(n, heap, func(s single) transport.Fabric { return s })
}

// worldsOf returns n processes over a fabric each.
func worldsOf(n, heap int, fabric func(single) transport.Fabric) []*World {
	rings := (transport.Layout(n).Bytes() + 4095) / 4096 * 4096
	t := &together{size: rings + heap}
	var all []*World
	for range n {
		words := make([]uint64, t.size/8+512)
		t.keep = append(t.keep, words)
		start := unsafe.Pointer(unsafe.SliceData(words))
		t.parts = append(t.parts, unsafe.Add(start, int(-uintptr(start)&4095)))
	}
	for i := range n {
		all = append(all, New(fabric(single{t, i}), "SIZE"))
	}
	return all
}

func (s single) Me() int                       { return s.here }
func (s single) Processes() int                { return len(s.parts) }
func (s single) Memory() (unsafe.Pointer, int) { return s.parts[s.here], s.size }
func (s single) Advance()                      {}
func (s single) Native() transport.Native      { return transport.Native{Parts: s.parts} }
func (s single) Quiet()                        {}

func (s single) at(there, offset int) unsafe.Pointer { return unsafe.Add(s.parts[there], offset) }

func (s single) Put(there, at int, from unsafe.Pointer, n int) { memory.Move(s.at(there, at), from, n) }
func (s single) Get(there, at int, into unsafe.Pointer, n int) { memory.Move(into, s.at(there, at), n) }

func (s single) BeginPut(there, at int, from unsafe.Pointer, n int) { s.Put(there, at, from, n) }
func (s single) BeginGet(there, at int, into unsafe.Pointer, n int) { s.Get(there, at, into, n) }

// change makes one step of an atomic operation, of which all together make one at a time.
func (s single) change(there, at int, to func(was uint64) uint64) uint64 {
	s.atomics.Lock()
	defer s.atomics.Unlock()
	p := (*uint64)(s.at(there, at))
	was := atomic.LoadUint64(p)
	atomic.StoreUint64(p, to(was))
	return was
}

func (s single) Fetch(there, at int) uint64 {
	return s.change(there, at, func(was uint64) uint64 { return was })
}

func (s single) Swap(there, at int, value uint64) uint64 {
	return s.change(there, at, func(uint64) uint64 { return value })
}

func (s single) Add(there, at int, value uint64) uint64 {
	return s.change(there, at, func(was uint64) uint64 { return was + value })
}

func (s single) CompareSwap(there, at int, cond, value uint64) uint64 {
	return s.change(there, at, func(was uint64) uint64 {
		if was == cond {
			return value
		}
		return was
	})
}

// ranks runs a body on the n ranks of a new communicator.
func ranks(n int) backendtest.Run {
	return ranksOf(func() []*World { return worlds(n, 16<<20) })
}

func ranksOf(worlds func() []*World) backendtest.Run {
	return func(t *testing.T, body func(t *testing.T, c backend.ReducingCommunicator)) {
		var all sync.WaitGroup
		for _, w := range worlds() {
			all.Go(func() { body(t, w.comm()) })
		}
		all.Wait()
	}
}
