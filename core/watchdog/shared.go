package watchdog

import (
	"slices"
	"sync"
	"time"

	"dtl/core/board"
	"dtl/core/clock"
)

// Shared is the Channel of ranks that share memory.
type Shared struct {
	size  int
	mu    sync.Mutex
	board *board.Board // nil: closed
	left  bool         // said last, whatever this process goes on to wait for
}

var _ Channel = (*Shared)(nil)

// NewShared returns the Channel of so many ranks over a board, which is the caller's to close: after Close.
func NewShared(b *board.Board, size int) *Shared { return &Shared{size: size, board: b} }

// Close ends all use of the board.
func (s *Shared) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.board = nil
}

// on calls f with the board unless that is closed.
func (s *Shared) on(f func(b *board.Board)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.board != nil {
		f(s.board)
	}
}

// Tell says in which calls this process waits.
func (s *Shared) Tell(calls string) {
	s.on(func(b *board.Board) {
		switch {
		case s.left:
		case calls == "":
			b.GoOn()
		default:
			b.Wait(calls)
		}
	})
}

// Listen does nothing: the ranks see what the others say when they look.
func (s *Shared) Listen() {}

// Asked reports whether another rank asks where this one is.
func (s *Shared) Asked() (asked bool) {
	s.on(func(b *board.Board) { asked = b.Asked() })
	return asked
}

// Answer says so.
func (s *Shared) Answer(place string) { s.on(func(b *board.Board) { b.Answer(place) }) }

// Places asks the ranks where they are.
func (s *Shared) Places() []string {
	texts := make([]string, s.size)
	s.on((*board.Board).Ask)
	for deadline := time.Now().Add(answering); time.Now().Before(deadline) && slices.Contains(texts, ""); time.Sleep(10 * time.Millisecond) {
		s.on(func(b *board.Board) {
			for rank := range texts {
				switch place, inCall := b.Where(rank); {
				case inCall:
					texts[rank] = "in " + place
				case place != "":
					texts[rank] = place
				}
			}
		})
	}
	return texts
}

// Claim reports whether this rank is the one to print a report.
func (s *Shared) Claim(since time.Duration) (yes bool) {
	s.on(func(b *board.Board) {
		t := clock.Now()
		yes = b.Claim(t-int64(since)*3/4, t)
	})
	return yes
}

// GiveUp says that this rank has given up a collective call.
func (s *Shared) GiveUp(why string) { s.on(func(b *board.Board) { b.Break(why) }) }

// GaveUp returns the rank that gave up first, and why; -1 if none did.
func (s *Shared) GaveUp() (rank int, why string) {
	rank = -1
	s.on(func(b *board.Board) { rank, why = b.Broken() })
	return rank, why
}

// Leave says that this rank makes no more calls, and why.
func (s *Shared) Leave(why string) {
	s.on(func(b *board.Board) {
		s.left = true
		b.Leave(why)
	})
}

// Left says how a rank has left.
func (s *Shared) Left(rank int) (why string) {
	s.on(func(b *board.Board) { why = b.Left(rank) })
	return why
}
