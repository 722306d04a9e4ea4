package shmem

import (
	"math"

	"dtl/backends/internal/requests"
	"dtl/core/backend"
)

// Comm is some of the processes, in an order: OpenSHMEM itself knows processes only, so all of this is made of messages.
type Comm struct {
	world   *world
	members []int       // process of each rank
	ranks   map[int]int // rank of each process
	rank    int
	number  uint32         // which no other communicator has that shares a process with this one
	line    *requests.Line // of collectives that do not block
	rooms   [2]rooms       // of those that block, and of those that do not
}

var (
	_ backend.AsyncCommunicator = (*Comm)(nil)
	_ backend.WindowProvider    = (*Comm)(nil)
)

func newComm(w *world, members []int, number uint32) *Comm {
	c := &Comm{world: w, members: members, ranks: make(map[int]int, len(members)), number: number, line: &requests.Line{}}
	for rank, process := range members {
		c.ranks[process] = rank
	}
	c.rank = c.ranks[w.me()]
	return c
}

// A communicator has three channels, whose traffic never meets.
func (c *Comm) messages() uint32    { return c.number * 3 }
func (c *Comm) collectives() uint32 { return c.number*3 + 1 }
func (c *Comm) background() uint32  { return c.number*3 + 2 }

// Rank returns the caller's rank.
func (c *Comm) Rank() int { return c.rank }

// Size returns the number of ranks.
func (c *Comm) Size() int { return len(c.members) }

// TagBound returns one more than the largest tag that a record holds.
func (c *Comm) TagBound() int { return math.MaxInt32 + 1 }

// rankOf returns the rank of a process.
func (c *Comm) rankOf(process int) int { return c.ranks[process] }

// Close forgets the channels. Collective.
func (c *Comm) Close() error {
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, channel := range []uint32{c.messages(), c.collectives(), c.background()} {
		delete(w.inboxes, channel)
	}
	return nil
}
