package comm

import (
	"slices"
	"sync"

	"dtl/core/backend"
	"dtl/core/memory"
)

// toItself are short messages of this rank to itself that it has not received yet. A library may complete such a send only when
// it is received, as MPICH does where no memory is shared; short messages to other ranks do not wait for that.
type toItself struct {
	mu   sync.Mutex
	list []ownMessage
}

// ownMessage is a message and its buffer, which stays with it.
type ownMessage struct {
	request backend.Request
	buffer  *memory.Storage
}

// sendBuffer returns a buffer for a message. Those of messages to this rank that have been received come back first, so that
// there are no more than messages under way.
func (c *Comm) sendBuffer(dest int64) (*memory.Storage, error) {
	if dest == int64(c.rank) {
		c.settleOwn()
	}
	return c.scratch.get()
}

// leaveUnderWay has a message to this rank go on by itself.
func (c *Comm) leaveUnderWay(r backend.Request, b *memory.Storage) {
	c.toItself.mu.Lock()
	defer c.toItself.mu.Unlock()
	c.toItself.list = append(c.toItself.list, ownMessage{r, b})
}

// settleOwn lets go of messages to this rank that have been received.
func (c *Comm) settleOwn() {
	c.toItself.mu.Lock()
	defer c.toItself.mu.Unlock()
	c.toItself.list = slices.DeleteFunc(c.toItself.list, func(m ownMessage) bool {
		_, done, _ := m.request.Test()
		if done {
			c.scratch.put(m.buffer)
		}
		return done
	})
}
