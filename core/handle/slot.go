package handle

import (
	"io"
	"sync/atomic"
	"time"
)

// slot holds one object at a time. Its state is one word, so that whoever reads it sees the generation, whether
// the handle is open, and the number of users at one moment:
//
//	generation | open | users
//
// An open handle is itself a user. Therefore users reaches zero only when the handle is closed and everybody
// else has gone, and exactly one caller sees it happen: that one owns the slot until it is free again.
type slot[T io.Closer] struct {
	state  atomic.Uint64
	table  *Table[T]
	index  uint64
	object T // written only by the slot's owner; read only by users, and under the table's lock

	// Of the open handle, under the table's lock.
	born  time.Duration
	where string
}

const (
	userBits  = 31
	userMask  = 1<<userBits - 1
	openFlag  = 1 << userBits
	stateBits = userBits + 1
)

// opened is the state of a handle just given out.
func opened(generation uint64) uint64 { return generation<<stateBits | openFlag | 1 }

// enter adds a user if the generation's handle is open.
func (s *slot[T]) enter(generation uint64) bool {
	for {
		now := s.state.Load()
		if now>>stateBits != generation || now&openFlag == 0 {
			return false
		}
		if now&userMask == userMask {
			panic("handle: uses are acquired and never released")
		}
		if s.state.CompareAndSwap(now, now+1) {
			return true
		}
	}
}

// shut closes the generation's handle and takes its use away. last says that nobody else has one.
func (s *slot[T]) shut(generation uint64) (ok, last bool) {
	for {
		now := s.state.Load()
		if now>>stateBits != generation || now&openFlag == 0 {
			return false, false
		}
		next := now&^openFlag - 1
		if s.state.CompareAndSwap(now, next) {
			return true, next&userMask == 0
		}
	}
}

// leave takes a user away, and closes the object after the last.
func (s *slot[T]) leave() error {
	if s.state.Add(^uint64(0))&userMask == 0 {
		return s.vacate()
	}
	return nil
}

// vacate frees the slot, then closes the object that was in it: the caller is its owner.
func (s *slot[T]) vacate() error { return s.table.recycle(s).Close() }
