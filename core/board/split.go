package board

import "sync/atomic"

// If ranks disagree about a call from which some have gone on, they cannot meet to say what they have called. The rank that
// finds the disagreement tells all others from which meeting on nothing is valid, and why. Each rank learns of it when it
// comes to that meeting or a later one. No rank comes to a further meeting before all have learned of it. The next meeting
// has a number above all those to which a rank may have come.

// split is what a rank tells of ranks that disagree.
type split struct {
	from  uint64 // the meeting from which on nothing is valid
	code  int64  // of the error
	heard uint64 // the last number, of which this rank has learned, from which meetings go on
	_     [40]byte
}

const rankBits = 16 // of the rank that told, below the number from which meetings go on

// Split tells the ranks that nothing is valid from a meeting on, and why. This rank has come to the meeting or is about to.
// If another rank has told something first, that counts.
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

// IsSplit returns the meeting from which on nothing is valid, if ranks disagreed and Hear has not been called since.
func (b *Board) IsSplit() (from uint64, yes bool) {
	now := atomic.LoadUint64(&b.head().split)
	if now == b.local.split {
		return 0, false
	}
	return b.slot(b.teller(now)).split.from, true
}

func (b *Board) teller(split uint64) int { return min(int(split&(1<<rankBits-1)), b.size-1) }

// HasHeard reports whether a rank has learned of the disagreement that IsSplit reports: it then comes to no meeting before
// the one from which they go on.
func (b *Board) HasHeard(rank int) bool {
	return atomic.LoadUint64(&b.slot(rank).split.heard) == atomic.LoadUint64(&b.head().split)
}

// Hear returns the disagreement that IsSplit reports, and lets this rank go on with the meetings after it.
func (b *Board) Hear() (rank, code int, why string) {
	l, now := b.local, atomic.LoadUint64(&b.head().split)
	rank = b.teller(now)
	code, why = int(b.slot(rank).split.code), b.AccountOf(rank)
	l.split, l.seq, l.floor, l.history, l.payloads, l.longer = now, now>>rankBits-1, 0, 0, ring{}, ring{}
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
