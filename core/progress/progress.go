// Package progress says how far long operations of this process are, to whoever asks meanwhile or afterwards.
package progress

import (
	"sync"
	"sync/atomic"
	"time"
)

// worth is from how many bytes on an operation says how far it is.
const worth = 1 << 20

// Phase is a part of an operation that is under way, such as the exchange of a sort. nil is one that nobody asks for.
type Phase struct {
	Op, Name string
	Total    int64 // bytes
	Began    time.Time
	done     atomic.Int64
}

var (
	mu  sync.Mutex
	all []*Phase // under way, the last begun at the end
)

// Begin says that a phase of an operation begins, of so many bytes on this rank.
func Begin(op, name string, total int64) *Phase {
	if total < worth {
		return nil
	}
	p := &Phase{Op: op, Name: name, Total: total, Began: time.Now()}
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
