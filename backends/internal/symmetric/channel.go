package symmetric

import (
	"math"
	"sync"
	"time"

	"dtl/backends/internal/symmetric/transport"
	"dtl/core/memory"
)

// channel is one of a communicator on which collectives are made. Every rank makes the same ones in the same order, so each has
// a number that is the same on all ranks and tells its messages from those of others.
type channel struct {
	*Comm
	on   transport.Channel
	mu   sync.Mutex
	next int           // number of the next collective
	idle []*collective // those that are over, kept for the next: a collection of Go's garbage takes long where all wait
}

// collective is one that is put together, or under way.
type collective struct {
	*channel
	transport.Schedule
	rooms [2][]complex128 // memory to work in, aligned for every type
	holds [2]memory.Span  // the buffers
}

// keepable is the size of the largest memory to work in that is kept, in bytes.
const keepable = 4 << 20

// begin returns a collective without steps.
func (c *channel) begin(send, recv memory.Span) *collective {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := &collective{channel: c}
	if last := len(c.idle) - 1; last >= 0 {
		l, c.idle = c.idle[last], c.idle[:last]
	}
	l.holds = [2]memory.Span{send, recv}
	return l
}

// end keeps a collective that is over for the next.
func (l *collective) end() {
	l.Clear()
	l.holds = [2]memory.Span{}
	for i, room := range l.rooms {
		if 16*len(room) > keepable {
			l.rooms[i] = nil
		}
	}
	l.channel.mu.Lock()
	defer l.channel.mu.Unlock()
	l.idle = append(l.idle, l)
}

// run takes the steps, and waits for about patience.
func (l *collective) run(patience time.Duration) *transport.Request {
	l.channel.mu.Lock()
	number := l.next
	l.next = (l.next + 1) & math.MaxInt32
	l.channel.mu.Unlock()
	return l.group.Run(l.on, number, &l.Schedule, patience, l.end)
}

// all takes the steps, and waits for the end.
func (l *collective) all() error {
	_, err := l.run(time.Hour).Wait()
	return err
}

// partOf returns the rank-th part of n elements.
func partOf(whole memory.Span, rank, n int) memory.Span { return whole.Slice(rank*n, (rank+1)*n) }

// block returns the i-th of n nearly equal parts.
func block(s memory.Span, i, n int) memory.Span { return s.Slice(s.Count*i/n, s.Count*(i+1)/n) }

// room returns memory for as many elements as s has, one of two.
func (l *collective) room(which int, s memory.Span) memory.Span {
	words := (s.Bytes() + 15) / 16
	if words > len(l.rooms[which]) {
		l.rooms[which] = make([]complex128, words)
	}
	m := memory.Of(s.Type, l.rooms[which])
	m.Count = s.Count
	return m
}
