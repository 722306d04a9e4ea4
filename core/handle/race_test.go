package handle

import (
	"math/rand"
	"sync"
	"sync/atomic"
	"testing"
)

// guarded reports uses after its end, and a second end.
type guarded struct {
	closed atomic.Bool
	plain  int // written by Close without a lock: the race detector sees a use that Close does not wait for
}

func (g *guarded) Close() error {
	if g.closed.Swap(true) {
		panic("closed twice")
	}
	g.plain = -1
	return nil
}

const names = 4

// hammer is a table under use from many goroutines, and what they did.
type hammer struct {
	*testing.T
	table             *Table[*guarded]
	current           [names]atomic.Int64 // the handles in use
	made, ended, used atomic.Int64
}

func (h *hammer) put(i int) {
	h.made.Add(1)
	h.current[i].Store(int64(h.table.Put(&guarded{})))
}

// use acquires one of the handles and looks at its object.
func (h *hammer) use(i int) {
	ref, err := h.table.Acquire(Handle(h.current[i].Load()))
	if err != nil {
		return // another goroutine closed it just now
	}
	if ref.Object.closed.Load() || ref.Object.plain != 0 {
		h.Error("an object was closed while in use")
	}
	h.used.Add(1)
	_ = ref.Release()
}

// replace closes one of the handles, and puts a new object in its place unless another goroutine does.
func (h *hammer) replace(i int) {
	if h.table.Close(Handle(h.current[i].Load())) == nil {
		h.ended.Add(1)
		h.put(i)
	}
}

// TestConcurrentUse acquires, closes and replaces a few handles from many goroutines. Every object must be closed
// exactly once, and never while somebody has a use of it.
func TestConcurrentUse(t *testing.T) {
	const goroutines, rounds = 16, 3000
	h := &hammer{T: t, table: NewTable[*guarded](Context)}
	for i := range names {
		h.put(i)
	}
	var all sync.WaitGroup
	for seed := range goroutines {
		all.Go(func() {
			random := rand.New(rand.NewSource(int64(seed)))
			for range rounds {
				if i := random.Intn(names); random.Intn(8) == 0 {
					h.replace(i)
				} else {
					h.use(i)
				}
			}
		})
	}
	all.Wait()
	h.checkCounts(goroutines)
}

// checkCounts closes what is left, and checks that nothing was lost.
func (h *hammer) checkCounts(goroutines int) {
	if h.used.Load() == 0 || h.ended.Load() == 0 {
		h.Errorf("%d uses and %d closes: nothing was tested", h.used.Load(), h.ended.Load())
	}
	if h.table.Len() != names || h.made.Load()-h.ended.Load() != names {
		h.Errorf("%d handles open; %d made, %d closed, want %d left", h.table.Len(), h.made.Load(), h.ended.Load(), names)
	}
	for i := range names {
		if err := h.table.Close(Handle(h.current[i].Load())); err != nil {
			h.Error(err)
		}
	}
	slots, free := len(*h.table.slots.Load()), len(h.table.free)
	if slots > names+goroutines || free != slots {
		h.Errorf("%d slots, %d of them free, after at most %d objects at once", slots, free, names+goroutines)
	}
}

// TestCloseRace has many goroutines close one handle: one wins.
func TestCloseRace(t *testing.T) {
	table := NewTable[*guarded](Container)
	for range 200 {
		h := table.Put(&guarded{})
		var all sync.WaitGroup
		var won atomic.Int64
		for range 8 {
			all.Add(1)
			go func() {
				defer all.Done()
				if ref, err := table.Acquire(h); err == nil {
					defer ref.Release()
				}
				if table.Close(h) == nil {
					won.Add(1)
				}
			}()
		}
		all.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d closes of one handle succeeded", won.Load())
		}
	}
}
