package cpu

import (
	"fmt"
	"sync"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// meeting is where the ranks of a group come together: each lays down its call, all see all of them.
type meeting struct {
	mu      sync.Mutex
	changed sync.Cond
	waiting int
	round   int
	calls   []call // by rank; read between two barriers only
}

// signature is what every rank must pass alike.
type signature struct {
	name  string
	root  int
	op    kernel.Op
	count int // elements of one rank's part
	typ   dtype.Type
}

// String describes the call for an error.
func (f signature) String() string {
	return fmt.Sprintf("%s(%d elements of %s, %s, root %d)", f.name, f.count, f.typ, f.op, f.root)
}

// call is one rank's part in a collective.
type call struct {
	signature
	send, recv memory.Span
	color, key int       // of Split
	made       *group    // by Split
	exposed    *exposure // by Expose
}

// open makes the meeting one of n ranks.
func (m *meeting) open(n int) {
	m.calls = make([]call, n)
	m.changed.L = &m.mu
}

// barrier returns when every rank has called it.
func (m *meeting) barrier() {
	if len(m.calls) == 1 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting++
	if m.waiting == len(m.calls) {
		m.waiting = 0
		m.round++
		m.changed.Broadcast()
		return
	}
	for round := m.round; round == m.round; {
		m.changed.Wait()
	}
}

// collective lays down mine, and calls act with every rank's call when all are there; the spans stay valid
// until every rank's act has returned. Ranks that disagree all get the same error.
func (c *Comm) collective(mine call, act func(calls []call) error) error {
	m := &c.group.meeting
	m.calls[c.rank] = mine
	m.barrier()
	defer m.barrier()
	for rank := range m.calls {
		if m.calls[rank].signature != m.calls[0].signature {
			return status.New(status.Communication, "rank %d called %s where rank 0 called %s",
				rank, m.calls[rank].signature, m.calls[0].signature)
		}
	}
	return act(m.calls)
}
