// Package phase records how far the long operations of this process are, for code that asks meanwhile or afterwards.
package phase

import (
	"sync"
	"sync/atomic"

	"dtl/core/clock"
)

// worth is from how many bytes on an operation says how far it is.
const worth = 1 << 20

// Phase is a part of an operation that is under way, such as the exchange of a sort. nil is one that nobody asks for.
type Phase struct {
	Op, Name string
	Total    int64 // bytes
	Began    int64 // nanoseconds of the clock
	Ended    int64 // once it is over
	done     atomic.Int64
}

// remembered is how many phases that are over are known at most.
const remembered = 64

var (
	mu    sync.Mutex
	all   []*Phase // under way, the last begun at the end
	ended []*Phase
)

// Begin says that a phase of an operation begins, of so many bytes on this rank.
func Begin(op, name string, total int64) *Phase {
	if total < worth {
		return nil
	}
	p := &Phase{Op: op, Name: name, Total: total, Began: clock.Now()}
	mu.Lock()
	defer mu.Unlock()
	all = append(all, p)
	return p
}

// Add says that so many bytes more are done.
func (p *Phase) Add(bytes int64) {
	if p != nil {
		p.done.Add(bytes)
	}
}

// Done returns how many bytes are done.
func (p *Phase) Done() int64 { return min(p.done.Load(), p.Total) }

// End says that the phase is over.
func (p *Phase) End() {
	if p == nil {
		return
	}
	mu.Lock()
	defer mu.Unlock()
	for i, other := range all {
		if other == p {
			all = append(all[:i], all[i+1:]...)
			p.Ended = clock.Now()
			ended = append(ended[max(0, len(ended)+1-remembered):], p)
			return
		}
	}
}

// Now returns the phase that was begun last of those under way, or nil.
func Now() *Phase {
	mu.Lock()
	defer mu.Unlock()
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// Since returns the phases that are over and began at a time or later, in the order of their ends. Only some of the last
// are known.
func Since(began int64) []*Phase {
	mu.Lock()
	defer mu.Unlock()
	var found []*Phase
	for _, p := range ended {
		if p.Began >= began {
			found = append(found, p)
		}
	}
	return found
}
