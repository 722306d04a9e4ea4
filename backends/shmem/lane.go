package shmem

import (
	"dtl/core/memory"
)

// lane is a channel of a communicator on which collectives follow each other. Every rank makes the same ones in the same
// order and says from whom it receives, so their messages need no tags.
type lane struct {
	*Comm
	channel uint32
	rooms   *rooms
}

// rooms is what a lane's collectives work in, kept for the next one: a collection of Go's garbage takes long where every
// processor looks for messages.
type rooms [2][]complex128 // aligned for every type

// keepable is the size of the largest room that is kept, in bytes.
const keepable = 4 << 20

// blocking is the lane of collectives that block, and aside that of those that do not.
func (c *Comm) blocking() lane { return lane{c, c.collectives(), &c.rooms[0]} }
func (c *Comm) aside() lane    { return lane{c, c.background(), &c.rooms[1]} }

func (l lane) to(rank int, buf memory.Span) *request   { return l.isend(l.channel, buf, rank, 0) }
func (l lane) from(rank int, buf memory.Span) *request { return l.irecv(l.channel, buf, rank, 0) }

// all waits for requests, of which some may be nil, and returns the first error.
func all(requests ...*request) (failed error) {
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

// part returns the rank-th part of n elements.
func partOf(whole memory.Span, rank, n int) memory.Span { return whole.Slice(rank*n, (rank+1)*n) }

// block returns the i-th of n nearly equal parts.
func block(s memory.Span, i, n int) memory.Span { return s.Slice(s.Count*i/n, s.Count*(i+1)/n) }

// room returns memory for as many elements as s has, one of two.
func (l lane) room(which int, s memory.Span) memory.Span {
	if s.Bytes() > keepable {
		return room(s)
	}
	kept := &l.rooms[which]
	if n := (s.Bytes() + 15) / 16; n > len(*kept) {
		*kept = make([]complex128, n)
	}
	m := memory.Of(s.Type, *kept)
	m.Count = s.Count
	return m
}

// room returns new memory for as many elements as s has.
func room(s memory.Span) memory.Span {
	words := make([]complex128, (s.Bytes()+15)/16)
	m := memory.Of(s.Type, words)
	m.Count = s.Count
	return m
}
