package shmem

import (
	"dtl/core/memory"
)

// lane is a channel of a communicator on which collectives follow each other. Every rank makes the same ones in the same
// order and says from whom it receives, so their messages need no tags.
type lane struct {
	*Comm
	channel uint32
}

// blocking is the lane of collectives that block, and aside that of those that do not.
func (c *Comm) blocking() lane { return lane{c, c.collectives()} }
func (c *Comm) aside() lane    { return lane{c, c.background()} }

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

// room returns memory for as many elements as s has.
func room(s memory.Span) memory.Span {
	words := make([]complex128, (s.Bytes()+15)/16) // aligned for every type
	m := memory.Of(s.Type, words)
	m.Count = s.Count
	return m
}
