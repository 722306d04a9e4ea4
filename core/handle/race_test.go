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

// TestConcurrentUse acquires, closes and replaces a few handles from many goroutines. Every object must be closed
// exactly once, and never while somebody has a use of it.
func TestConcurrentUse(t *testing.T) {
	const goroutines, rounds, names = 16, 3000, 4
	table := NewTable[*guarded](Context)
	var made, ended, used, stale atomic.Int64
	var current [names]atomic.Int64
	put := func(i int) {
		made.Add(1)
		current[i].Store(int64(table.Put(&guarded{})))
	}
	for i := range current {
		put(i)
	}
	var all sync.WaitGroup
	for seed := range goroutines {
		all.Add(1)
		go func() {
			defer all.Done()
			random := rand.New(rand.NewSource(int64(seed)))
			for range rounds {
				i := random.Intn(names)
				h := Handle(current[i].Load())
				if random.Intn(8) == 0 {
					if table.Close(h) == nil {
						ended.Add(1)
						put(i)
					}
					continue
				}
				ref, err := table.Acquire(h)
				if err != nil {
					stale.Add(1)
					continue
				}
				if ref.Object.closed.Load() || ref.Object.plain != 0 {
					t.Error("an object was closed while in use")
				}
				used.Add(1)
				_ = ref.Release()
			}
		}()
	}
	all.Wait()
	if open := made.Load() - ended.Load(); int64(table.Len()) != open || open != names {
		t.Errorf("%d handles open; %d made, %d closed, want %d left", table.Len(), made.Load(), ended.Load(), names)
	}
	for i := range current {
		if err := table.Close(Handle(current[i].Load())); err != nil {
			t.Error(err)
		}
	}
	if used.Load() == 0 || ended.Load() == 0 {
		t.Errorf("%d uses and %d closes: nothing was tested", used.Load(), ended.Load())
	}
	if slots := len(*table.slots.Load()); slots > names+goroutines {
		t.Errorf("%d slots for at most %d objects at once: slots are lost", slots, names+goroutines)
	}
	if free := len(table.free); free != len(*table.slots.Load()) {
		t.Errorf("%d slots of %d free after everything was closed", free, len(*table.slots.Load()))
	}
}

// TestCloseRace has many goroutines close one handle: one wins.
func TestCloseRace(t *testing.T) {
	table := NewTable[*guarded](Vector)
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
