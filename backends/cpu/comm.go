package cpu

import (
	"math"
	"sync"

	"dtl/backends/internal/requests"
	"dtl/core/backend"
)

// Comm is one rank of a communicator whose ranks are goroutines of this process. Its messages are copied
// when they are sent, so Send never waits for the receiver.
type Comm struct {
	group *group
	rank  int
}

var _ backend.ReducingCommunicator = (*Comm)(nil)

// group is what the ranks of one communicator share.
type group struct {
	queues  []matching
	meeting meeting
	lines   []requests.Line // by rank
	once    sync.Once
	async   *group // of what lines make
}

func newGroup(n int) *group {
	g := &group{queues: make([]matching, n), lines: make([]requests.Line, n)}
	g.meeting.open(n)
	for i := range g.queues {
		g.queues[i].changed.L = &g.queues[i].mu
	}
	return g
}

// Group returns the n ranks of a new communicator, each to be used from its own goroutine. On one rank,
// which nobody can send to while it waits, a receive that would wait for ever is an error.
func Group(n int) []backend.ReducingCommunicator {
	g := newGroup(n)
	ranks := make([]backend.ReducingCommunicator, n)
	for i := range ranks {
		ranks[i] = &Comm{group: g, rank: i}
	}
	return ranks
}

// Rank returns the caller's rank.
func (c *Comm) Rank() int { return c.rank }

// Size returns the number of ranks.
func (c *Comm) Size() int { return len(c.group.queues) }

// TagBound returns one more than the largest tag, which is MPI's usual one.
func (c *Comm) TagBound() int { return math.MaxInt32 + 1 }

// Dup returns a communicator of the same ranks whose traffic never meets this one's. Collective.
func (c *Comm) Dup() (backend.ReducingCommunicator, error) { return c.Split(0, c.rank) }

// SplitByNode returns a communicator of the same ranks: goroutines share all memory. Collective.
func (c *Comm) SplitByNode() (backend.ReducingCommunicator, error) { return c.Dup() }

// Close does nothing: what the ranks share goes with the last of them.
func (c *Comm) Close() error { return nil }
