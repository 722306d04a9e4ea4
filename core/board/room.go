package board

import "sync/atomic"

// A rank may be ahead of others by as many meetings as a slot has entries. It overwrites an entry when all ranks have come
// to the following meeting. It learns this from meetings in which all wait for all, from the entries of ranks that know it,
// and by looking at all slots, which it does once in several meetings.

const (
	// EntriesKept is how many entries a slot has.
	EntriesKept = 32

	// Long payloads are in a ring, too, in parts that become free one by one.
	longBytes = 2 * MaxPayload
	partBytes = MaxPayload / 4
	longParts = longBytes / partBytes
)

// needed returns the meeting to which all ranks must have come before this rank writes its next entry with n bytes. A rank
// that does not wait looks one meeting further, so that the ranks that wait for it need not look themselves.
func (l *Local) needed(waits Waits, n int) (floor uint64) {
	next := l.seq + 1
	if waits == WaitsForNone {
		next++
	}
	if next >= EntriesKept {
		floor = next - EntriesKept + 1
	}
	if n > inline {
		at := l.place(n)
		for part := at / partBytes; part*partBytes < at+n && at%partBytes == 0; part++ {
			floor = max(floor, l.used[part])
		}
	}
	return floor
}

// place returns where the next long payload goes: behind the last one, if it fits into the same part; otherwise to one or
// several parts of its own.
func (l *Local) place(n int) int {
	at, whole := int(l.at), partBytes
	if at%partBytes != 0 && at%partBytes+n <= partBytes {
		return at
	}
	for whole < n {
		whole *= 2
	}
	at = (at + whole - 1) / whole * whole
	if at+whole > longBytes {
		return 0
	}
	return at
}

// take is place for the payload of a meeting.
func (l *Local) take(seq uint64, n int) int {
	at := l.place(n)
	for part := at / partBytes; part*partBytes < at+n; part++ {
		l.used[part] = seq + 1
	}
	l.at = uint64(at+n+63) / 64 * 64
	return at
}

// HasRoom reports whether this rank may lay down its next entry, with n bytes, as far as it knows.
func (b *Board) HasRoom(waits Waits, n int) bool { return b.local.floor >= b.local.needed(waits, n) }

// Progress is what MakeRoom finds.
type Progress int

const (
	// Room is there.
	Room Progress = iota
	// Behind is a rank that has not come yet.
	Behind
	// Astray is a rank that has made other calls.
	Astray
)

// MakeRoom looks whether the other ranks have come so far that this one may lay down its next entry, with n bytes. If not, it
// returns the rank that has not come, and the meeting; or the one that has come there with other calls. It looks for a meeting
// that leaves room for several entries.
func (b *Board) MakeRoom(waits Waits, n int) (p Progress, rank int, seq uint64) {
	l := b.local
	seq = l.needed(waits, n)
	if l.floor >= seq {
		return Room, -1, seq
	}
	if l.seq > EntriesKept/2 {
		seq = max(seq, l.seq-EntriesKept/2)
	}
	for rank := range b.size {
		e := b.entry(rank, seq)
		if atomic.LoadUint64(&e.seq) < seq {
			return Behind, rank, seq
		}
		if theirs, there := b.HistoryOf(rank, seq); there && theirs != b.entry(b.rank, seq).History {
			return Astray, rank, seq
		}
	}
	l.floor = seq
	return Room, -1, seq
}

// Confirm says that this rank waits for all others to come to a meeting from which it has gone on; 0: to none.
func (b *Board) Confirm(seq uint64) { atomic.StoreUint64(&b.slot(b.rank).confirms, seq) }

// Confirms reports whether a rank waits for that.
func (b *Board) Confirms(rank int, seq uint64) bool {
	return atomic.LoadUint64(&b.slot(rank).confirms) == seq
}

// AllCame says that all ranks have come to this meeting.
func (b *Board) AllCame() { b.local.floor = max(b.local.floor, b.local.seq) }

// Learn takes over what a rank that has come to this meeting knows of the others.
func (b *Board) Learn(rank int) {
	if e := b.Entry(rank); uint64(e.behind) <= b.local.seq {
		b.local.floor = max(b.local.floor, b.local.seq-uint64(e.behind))
	}
}
