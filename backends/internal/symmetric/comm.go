// Package symmetric makes communicators of symmetric memory: each of some processes has the same number of bytes,
// which all of them can access (transport.Fabric).
//
// Messages move through this memory (transport), windows open memory to other processes (window), and the rest of it
// is a heap (heap). Communicators (split.go) and collectives (collective.go) are made of messages.
package symmetric

import (
	"math"
	"slices"

	"dtl/backends/internal/symmetric/transport"
	"dtl/backends/internal/symmetric/window"
	"dtl/core/backend"
	"dtl/core/memory"
)

// Comm is some of the processes, in an order. Symmetric memory knows processes only, so all of this is made of messages.
type Comm struct {
	world   *World
	members []int // process of each rank
	group   *transport.Group
	rank    int
	number  uint32 // which no other communicator has that shares a process with this one
	lines   [transport.Channels]channel
}

var (
	_ backend.AsyncCommunicator  = (*Comm)(nil)
	_ backend.DirectCommunicator = (*Comm)(nil)
	_ backend.WindowProvider     = (*Comm)(nil)
	_ backend.Advancer           = (*Comm)(nil)
	_ window.Group               = (*Comm)(nil)
)

func newComm(w *World, members []int, number uint32) *Comm {
	c := &Comm{
		world: w, members: members, group: w.engine.NewGroup(members, number), number: number,
		rank: slices.Index(members, w.engine.Me()),
	}
	for on := range c.lines {
		c.lines[on].Comm, c.lines[on].on = c, transport.Channel(on)
	}
	return c
}

// blocking begins a collective that blocks, and nonblocking one that does not, of these buffers.
func (c *Comm) blocking(send, recv memory.Span) *collective {
	return c.lines[transport.Collectives].begin(send, recv)
}

func (c *Comm) nonblocking(send, recv memory.Span) *collective {
	return c.lines[transport.Background].begin(send, recv)
}

// Rank returns the caller's rank.
func (c *Comm) Rank() int { return c.rank }

// Size returns the number of ranks.
func (c *Comm) Size() int { return len(c.members) }

// Process returns the process of a rank.
func (c *Comm) Process(rank int) int { return c.members[rank] }

// Number returns one that no other communicator has that shares a process with this one.
func (c *Comm) Number() uint32 { return c.number }

// TagBound returns one more than the largest tag that a record holds.
func (c *Comm) TagBound() int { return math.MaxInt32 + 1 }

// Advance moves what can be moved of all that is under way in the process.
func (c *Comm) Advance() error {
	e := c.world.engine
	e.Lock()
	defer e.Unlock()
	e.Advance()
	e.Progress()
	return nil
}

// Expose opens mem to every rank. Collective.
func (c *Comm) Expose(mem memory.Span) (backend.Window, error) {
	own, err := c.Dup()
	if err != nil {
		return nil, err
	}
	return window.Open(c.world.active, c.world.heap, own.(*Comm), mem)
}

// Close forgets the channels. Collective.
func (c *Comm) Close() error {
	c.group.Close()
	return nil
}
