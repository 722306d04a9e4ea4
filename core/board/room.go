package board

import "sync/atomic"

// A rank may be ahead of others by as many meetings as a slot has entries. It overwrites an entry when all ranks have come
// to the following meeting. It learns this from meetings in which all wait for all, from the entries of ranks that know it,
// and by looking at all slots, which it does once in several meetings.

const (
	// EntriesKept is how many entries a slot has.
	EntriesKept = 32

	// Long payloads are in rings, too, in parts that become free one by one. A payload takes up to half of them.
	longBytes = 2 * MaxPayload
	ringParts = 8
)

// ring is where a rank puts payloads that do not fit into its entries.
type ring struct {
	at   uint64            // where the next one goes
	used [ringParts]uint64 // the meeting to which all ranks must have come before a part is written to
}

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
		r, size := l.ringFor(n)
		at := r.place(n, size)
		for part := at / size; part*size < at+n && at%size == 0; part++ {
			floor = max(floor, r.used[part])
		}
	}
	return floor
}

// ringFor returns the ring of payloads of n bytes, and how long its parts are.
func (l *Local) ringFor(n int) (r *ring, size int) {
	if n <= MaxPayload {
		return &l.payloads, longBytes / ringParts
	}
	return &l.longer, extensionSlot / ringParts
}

// place returns where the next payload goes: behind the last one, if it fits into the same part; otherwise to one or several
// parts of its own.
func (r *ring) place(n, size int) int {
	at, whole := int(r.at), size
	if at%size != 0 && at%size+n <= size {
		return at
	}
	for whole < n {
		whole *= 2
	}
	at = (at + whole - 1) / whole * whole
	if at+whole > ringParts*size {
		return 0
	}
	return at
}

// take finds a place, as place does, for the payload of a meeting.
func (l *Local) take(seq uint64, n int) int {
	r, size := l.ringFor(n)
	at := r.place(n, size)
	for part := at / size; part*size < at+n; part++ {
		r.used[part] = seq + 1
	}
	r.at = uint64(at+n+63) / 64 * 64
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
