package board

import "sync/atomic"

// Ranks that disagree about a call from which some have gone on cannot meet to say what they have called. Who finds that out
// tells all: it says from which meeting on nothing holds, and why. Each rank hears of it when it comes to that meeting or a
// later one. Nobody comes to any further meeting before all have heard of it; the next one has a number above all those
// to which somebody may have come.

// split is what a rank tells of ranks that disagree.
type split struct {
	from  uint64 // the meeting from which on nothing holds
	code  int64  // of the error
	heard uint64 // the last number from which meetings go on, of which this rank has heard
	_     [40]byte
}

const rankBits = 16 // of the rank that told, below the number from which meetings go on

// Split tells the ranks that nothing holds from a meeting on, to which this rank has come or is about to come, and why. If
// another rank tells, too, and first, that stands.
func (b *Board) Split(from uint64, code int, why string) {
	mine, l := b.slot(b.rank), b.local
	if atomic.LoadUint64(&b.head().split) != l.split {
		return
	}
	b.Account(why)
	mine.split.from, mine.split.code = from, int64(code)
	goOn := (from/EntriesKept + 3) * EntriesKept // nobody is further ahead than a slot has entries
	atomic.CompareAndSwapUint64(&b.head().split, l.split, goOn<<rankBits|uint64(b.rank))
}

// IsSplit returns the meeting from which on nothing holds, if ranks disagreed and this rank has not heard of it yet.
func (b *Board) IsSplit() (from uint64, yes bool) {
	now := atomic.LoadUint64(&b.head().split)
	if now == b.local.split {
		return 0, false
	}
	return b.slot(b.teller(now)).split.from, true
}

func (b *Board) teller(split uint64) int { return min(int(split&(1<<rankBits-1)), b.size-1) }

// HasHeard reports whether a rank has heard of what IsSplit tells this one: it comes to no meeting before that from which
// they go on.
func (b *Board) HasHeard(rank int) bool {
	return atomic.LoadUint64(&b.slot(rank).split.heard) == atomic.LoadUint64(&b.head().split)
}

// Hear returns what ranks disagreed about, which IsSplit has told, and has this rank go on with the meetings after it.
func (b *Board) Hear() (rank, code int, why string) {
	l, now := b.local, atomic.LoadUint64(&b.head().split)
	rank = b.teller(now)
	code, why = int(b.slot(rank).split.code), b.AccountOf(rank)
	l.split, l.seq, l.floor, l.history, l.at, l.used = now, now>>rankBits-1, 0, 0, 0, [longParts]uint64{}
	atomic.StoreUint64(&b.slot(b.rank).split.heard, now)
	return rank, code, why
}

// Unsettled returns a rank that has not heard yet of what this one has; -1 if all have, or there was nothing. Until then this
// rank has no room for an entry.
func (b *Board) Unsettled() (rank int) {
	l := b.local
	goOn := l.split >> rankBits
	if goOn == 0 || l.floor+1 >= goOn {
		return -1
	}
	for rank := range b.size {
		if atomic.LoadUint64(&b.slot(rank).split.heard) != l.split {
			return rank
		}
	}
	l.floor = goOn - 1
	return -1
}
