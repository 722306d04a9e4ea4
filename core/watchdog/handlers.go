package watchdog

import (
	"slices"
	"sync"
	"sync/atomic"

	"dtl/core/goroutine"
)

// handlers are the goroutines whose waits run signal handlers: each as often as it is in one within the other.
var handlers running

type running struct {
	n    atomic.Int32 // so that the usual case takes no lock
	mu   sync.Mutex
	list []uint64
}

// HandlerDepth returns in how many signal handlers, one within the other, a goroutine is that waits.
func HandlerDepth(goroutine uint64) int32 {
	if handlers.n.Load() == 0 {
		return 0
	}
	return handlers.depth(goroutine)
}

func (r *running) depth(goroutine uint64) (depth int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, other := range r.list {
		if other == goroutine {
			depth++
		}
	}
	return depth
}

// run calls f, which runs handlers.
func (r *running) run(f func() bool) bool {
	me := goroutine.ID()
	r.mu.Lock()
	r.list = append(r.list, me)
	r.n.Store(int32(len(r.list)))
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		at := slices.Index(r.list, me)
		r.list = slices.Delete(r.list, at, at+1)
		r.n.Store(int32(len(r.list)))
	}()
	return f()
}
