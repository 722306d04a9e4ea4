// Package unexpected is the unexpected-message queue of a communicator: messages that have arrived, but that did not
// match the receive or probe that got them.
package unexpected

import (
	"slices"
	"sync"
	"sync/atomic"

	"dtl/core/backend"
	"dtl/core/memory"
)

// Message is what came first of a message: its header, and the elements unless they travel by themselves.
type Message struct {
	Buffer *memory.Storage
	Status backend.Status
	order  int // among those that were in a queue
}

// Queue holds messages in the order in which they came, for the next receive that matches. The zero Queue is empty. Its
// methods may be called from any goroutine.
type Queue struct {
	n    atomic.Int32 // so that the usual case, an empty queue, takes no lock
	mu   sync.Mutex
	last int // the order given last
	list []Message
}

// Length returns the number of messages, which code outside Go looks at by its address.
func (q *Queue) Length() *atomic.Int32 { return &q.n }

// Put puts a message behind those that came before it; one that Take returned goes back to its place. The queue owns the
// buffer from then on.
func (q *Queue) Put(m Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if m.order == 0 {
		q.last++
		m.order = q.last
	}
	at, _ := slices.BinarySearchFunc(q.list, m, func(a, b Message) int { return a.order - b.order })
	q.list = slices.Insert(q.list, at, m)
	q.n.Store(int32(len(q.list)))
}

// Take removes and returns the first message from source with a tag, either of which may be a wildcard, and reports whether
// there is one. The caller owns its buffer.
func (q *Queue) Take(source, tag int) (Message, bool) {
	if q.n.Load() == 0 {
		return Message{}, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	i := q.find(source, tag)
	if i < 0 {
		return Message{}, false
	}
	m := q.list[i]
	q.list = slices.Delete(q.list, i, i+1)
	q.n.Store(int32(len(q.list)))
	return m, true
}

// Peek calls look with the first message that matches, which stays, and reports whether there is one.
func (q *Queue) Peek(source, tag int, look func(m Message)) bool {
	if q.n.Load() == 0 {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	i := q.find(source, tag)
	if i >= 0 {
		look(q.list[i])
	}
	return i >= 0
}

// find returns the place of the first message that matches, or -1. The caller holds the lock.
func (q *Queue) find(source, tag int) int {
	return slices.IndexFunc(q.list, func(m Message) bool {
		return (source == backend.AnySource || source == m.Status.Source) && (tag == backend.AnyTag || tag == m.Status.Tag)
	})
}

// Close drops all messages.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range q.list {
		m.Buffer.Release()
	}
	q.list = nil
	q.n.Store(0)
}
