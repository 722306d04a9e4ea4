package board

import "sync/atomic"

// waiting is the state of a rank that waits in a call: its status says in which, until it goes on. Else the state is
// the number of the question that the status answers.
const (
	waiting = -1
	left    = -2 // a rank that comes no more
)

// Wait tells the others in which call this rank waits.
func (b *Board) Wait(call string) {
	mine := b.slot(b.rank)
	mine.status.set(call)
	atomic.StoreInt64(&mine.state, waiting)
}

// GoOn takes Wait back.
func (b *Board) GoOn() { atomic.StoreInt64(&b.slot(b.rank).state, 0) }

// Ask has every rank say where it is.
func (b *Board) Ask() { atomic.AddInt64(&b.head().asked, 1) }

// Asked reports whether somebody asks this rank, which does not wait in a call.
func (b *Board) Asked() bool {
	state := atomic.LoadInt64(&b.slot(b.rank).state)
	return state >= 0 && state != atomic.LoadInt64(&b.head().asked)
}

// Answer says where this rank is, unless it waits in a call, which it has said by itself.
func (b *Board) Answer(place string) {
	mine := b.slot(b.rank)
	state := atomic.LoadInt64(&mine.state)
	if state < 0 {
		return
	}
	mine.status.set(place)
	atomic.CompareAndSwapInt64(&mine.state, state, atomic.LoadInt64(&b.head().asked))
}

// Where returns what a rank says of itself, and whether it waits in a call; "" if it did not answer.
func (b *Board) Where(rank int) (place string, inCall bool) {
	s := b.slot(rank)
	switch atomic.LoadInt64(&s.state) {
	case waiting:
		return s.status.get(), true
	case left:
		return s.status.get(), false
	case atomic.LoadInt64(&b.head().asked):
		return s.status.get(), false
	}
	return "", false
}

// Claim reports whether this rank is the one to print a report: nobody printed one since the given time. The ranks of
// a machine have one clock.
func (b *Board) Claim(since, now int64) bool {
	said := atomic.LoadInt64(&b.head().said)
	return said < since && atomic.CompareAndSwapInt64(&b.head().said, said, now)
}

// Account tells the others what this rank called. They read it in the meeting after.
func (b *Board) Account(call string) { b.slot(b.rank).account.set(call) }

// AccountOf returns what another rank called.
func (b *Board) AccountOf(rank int) string { return b.slot(rank).account.get() }

// Leave says that this rank will come to no more meetings, and why.
func (b *Board) Leave(why string) {
	b.slot(b.rank).status.set(why)
	atomic.StoreInt64(&b.slot(b.rank).state, left)
}

// Left returns why a rank will come to no more meetings; "" if it may.
func (b *Board) Left(rank int) string {
	if s := b.slot(rank); atomic.LoadInt64(&s.state) == left {
		return s.status.get()
	}
	return ""
}

// Break says that this rank has given up a meeting, and why: nobody can meet here any more.
func (b *Board) Break(why string) {
	b.Account(why)
	atomic.CompareAndSwapInt64(&b.head().broken, 0, int64(b.rank)+1)
}

// Broken returns the rank that gave up first and why; -1 if none did.
func (b *Board) Broken() (rank int, why string) {
	rank = int(atomic.LoadInt64(&b.head().broken)) - 1
	if rank < 0 || rank >= b.size {
		return -1, ""
	}
	return rank, b.AccountOf(rank)
}

// Whole reports whether nobody gave up.
func (b *Board) Whole() bool { return atomic.LoadInt64(&b.head().broken) == 0 }
