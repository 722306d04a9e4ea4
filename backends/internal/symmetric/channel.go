package symmetric

import (
	"dtl/backends/internal/symmetric/transport"
	"dtl/core/memory"
)

// channel is one of a communicator on which collectives follow each other. Every rank makes the same ones in the same order
// and says from whom it receives, so their messages need no tags.
type channel struct {
	*Comm
	on      transport.Channel
	scratch *scratch
}

// scratch is what a channel's collectives work in, kept for the next one: a collection of Go's garbage takes long where every
// processor looks for messages.
type scratch [2][]complex128 // aligned for every type

// keepable is the size of the largest scratch memory that is kept, in bytes.
const keepable = 4 << 20

// blocking is the channel of collectives that block, and nonblocking that of those that do not.
func (c *Comm) blocking() channel    { return channel{c, transport.Collectives, &c.scratch[0]} }
func (c *Comm) nonblocking() channel { return channel{c, transport.Background, &c.scratch[1]} }

func (l channel) to(rank int, buf memory.Span) *transport.Request {
	return l.group.Send(l.on, buf, rank, 0, begin)
}
func (l channel) from(rank int, buf memory.Span) *transport.Request {
	return l.group.Receive(l.on, buf, rank, 0, begin)
}

// all waits for requests, of which some may be nil, and returns the first error.
func all(requests ...*transport.Request) (failed error) {
	for _, r := range requests {
		if r == nil {
			continue
		}
		if _, err := r.Wait(); failed == nil {
			failed = err
		}
	}
	return failed
}

// partOf returns the rank-th part of n elements.
func partOf(whole memory.Span, rank, n int) memory.Span { return whole.Slice(rank*n, (rank+1)*n) }

// block returns the i-th of n nearly equal parts.
func block(s memory.Span, i, n int) memory.Span { return s.Slice(s.Count*i/n, s.Count*(i+1)/n) }

// room returns memory for as many elements as s has, one of two.
func (l channel) room(which int, s memory.Span) memory.Span {
	words := (s.Bytes() + 15) / 16
	kept := l.scratch[which]
	if words > len(kept) {
		kept = make([]complex128, words)
		if s.Bytes() <= keepable {
			l.scratch[which] = kept
		}
	}
	m := memory.Of(s.Type, kept)
	m.Count = s.Count
	return m
}
