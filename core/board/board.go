// Package board is memory that the ranks of one machine share, and in which they meet.
//
// Each rank has a slot, which only it writes. In each meeting it writes an entry: what it calls, and up to MaxPayload
// bytes that all ranks may read. A rank that has seen the entries that it waits for may read them until it writes its
// next one.
//
// A slot has a ring of entries, because not every call waits for all ranks: a rank that has written what the others
// need goes on (WaitsForNone). An entry is overwritten only when all ranks have come to the following meeting, so that
// all have read it: see room.go. A disagreement may be found when some ranks have gone on already: see split.go.
package board

import (
	"sync/atomic"
	"unsafe"

	"dtl/core/board/cma"
	"dtl/core/mix"
)

// MaxPayload is the most bytes that an entry carries: 8 KiB of elements with the header of their array. A board with an extension
// carries more: see extension.go.
const MaxPayload = 10240

// inline is how many of them lie in the entry's own cache line, which travels in one piece.
const inline = 32

// Waits says for which ranks a rank waits that has come to a meeting.
type Waits uint8

const (
	// WaitsForAll is of a rank that goes on when all have come.
	WaitsForAll Waits = iota
	// WaitsForNone is of a rank that goes on at once: root of a short broadcast, or a rank that sends root its elements for a
	// short reduction.
	WaitsForNone
	// WaitsForRoot is of a rank that goes on when root has come; or when all have, if root waits for all.
	WaitsForRoot
	// WaitsTogether is WaitsForAll in calls in which all ranks count themselves in groups: see together.go.
	WaitsTogether
)

// Entry is what a rank writes in a meeting.
type Entry struct {
	seq          uint64 // of the meeting; written last
	History      uint64 // of all calls up to this one: see Lay
	ElementsHash uint64 // fingerprint of what the rank stated of the elements; 0: nothing
	Code         int16  // why the rank cannot make the call; 0: it can
	Waits        Waits
	behind       uint8  // how many meetings ago all ranks are known to have come
	bytes        uint16 // how many elements has; more than inline: it says where they are
	Root         uint16 // the root for which a rank with WaitsForRoot waits
	elements     [inline]byte
}

// LongPayload is what the elements of an entry say of a payload that does not fit there.
type LongPayload struct{ at, bytes uint32 }

func (e *Entry) long() *LongPayload { return (*LongPayload)(unsafe.Pointer(&e.elements)) }

// Call describes a call for other ranks, which may need it when this rank has left the call: hashes of the names of its
// operation and operator, and what else tells it from others.
type Call struct {
	Operation, Operator uint64
	Type, Count, Root   int64
}

// textBytes is the room for a text, with its length.
const textBytes = 1024

// text is a text that a rank tells the others.
type text struct {
	length int64
	bytes  [textBytes - 8]byte
}

func (t *text) set(s string) {
	atomic.StoreInt64(&t.length, 0)
	n := copy(t.bytes[:], s)
	atomic.StoreInt64(&t.length, int64(n))
}

func (t *text) get() string {
	n := min(max(atomic.LoadInt64(&t.length), 0), int64(len(t.bytes)))
	return string(t.bytes[:n])
}

// slot is what one rank writes.
type slot struct {
	entries  [EntriesKept]Entry
	calls    [EntriesKept]Call
	split    split
	state    int64  // of the status
	compared uint64 // the last call whose posts the rank needs no more
	started  uint64 // how many calls the rank has started, of which it may have posted fewer
	confirms uint64 // the meeting that the rank has gone on from, and waits for all to come to; 0: none
	_        [32]byte
	presence cma.Presence
	account  text // of its call, where the ranks disagree
	status   text // where it is, where one of them asks
	posts    [PostsKept]post
	long     [longBytes]byte
}

// head is what all ranks write, seldom.
type head struct {
	broken int64  // one more than the rank that gave up
	split  uint64 // the last disagreement that some ranks had left: see split.go
	asked  int64  // how often somebody asked where the ranks are
	said   int64  // when a report was printed last, in the printing rank's nanoseconds
	lost   uint64 // the first call that some ranks have started and others never will
	fates  [fatesKept]uint64
	_      [4056 - 8*fatesKept]byte
}

const (
	headBytes = int(unsafe.Sizeof(head{}))
	slotBytes = (int(unsafe.Sizeof(slot{})) + 4095) &^ 4095
)

// Board is one rank's view of the memory. Its methods are for one goroutine at a time but for those of status.go and cma.
type Board struct {
	memory     []byte
	extension  []byte // nil: there is none
	rank, size int
	local      *Local
	cma.Presences
}

// Rank returns the caller's rank.
func (b *Board) Rank() int { return b.rank }

// Size returns the number of ranks.
func (b *Board) Size() int { return b.size }

// Meetings returns the number of the last meeting that this rank came to.
func (b *Board) Meetings() uint64 { return b.local.seq }

func (b *Board) head() *head { return (*head)(unsafe.Pointer(unsafe.SliceData(b.memory))) }

func (b *Board) slot(rank int) *slot {
	return (*slot)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.memory)), headBytes+rank*slotBytes))
}

func (b *Board) entry(rank int, seq uint64) *Entry {
	return &b.slot(rank).entries[seq%EntriesKept]
}

// Bytes returns how long the memory for so many ranks is.
func Bytes(ranks int) int { return headBytes + ranks*slotBytes + groups(ranks)*groupBytes }

// Lay lays down this rank's entry for the next meeting, for which there is Room: e's ElementsHash, Code, Waits and Root, and n bytes
// at payload, at most MostPayload. The fingerprint is the call's. The entry has that of all calls up to this one, so that
// ranks that differed in a call, and went on without a look at each other, see so when they meet again.
func (b *Board) Lay(fingerprint uint64, e Entry, payload unsafe.Pointer, n int) {
	l := b.local
	l.history = mix.Step(l.history, fingerprint)
	seq := l.seq + 1
	mine := b.overwrite(seq)
	atomic.StoreUint64(&mine.History, l.history) // not before the number, on any processor
	mine.ElementsHash, mine.Code, mine.Waits, mine.Root = e.ElementsHash, e.Code, e.Waits, e.Root
	mine.bytes, mine.behind = uint16(min(n, inline+1)), uint8(min(l.seq-min(l.floor, l.seq)+1, 255))
	switch {
	case n == 8 && uintptr(payload)&7 == 0:
		*(*uint64)(unsafe.Pointer(&mine.elements)) = *(*uint64)(payload)
	case n <= inline:
		copy(mine.elements[:n], unsafe.Slice((*byte)(payload), n))
	default:
		at := l.take(seq, n)
		*mine.long() = LongPayload{uint32(at), uint32(n)}
		copy(b.ring(b.rank, n)[at:at+n], unsafe.Slice((*byte)(payload), n))
	}
	l.seq = seq
	atomic.StoreUint64(&mine.seq, seq)
}

// overwrite says that this rank overwrites an entry, from now on, for a meeting. Until it has, the entry has the number of the meeting
// before, which no entry in its place ever has. Ranks that are behind may look at it meanwhile: they see that this rank has come so
// far, and take nothing of it for a part of the old entry.
func (b *Board) overwrite(seq uint64) *Entry {
	mine := b.entry(b.rank, seq)
	atomic.StoreUint64(&mine.seq, seq-1)
	return mine
}

// Forget has all ranks, which are in the same meeting, take the calls up to it for alike.
func (b *Board) Forget() { b.local.history = 0 }

// Describe says which call this rank's next entry is of. Lay follows: the entry in its place is overwritten from now on.
func (b *Board) Describe(c Call) {
	seq := b.local.seq + 1
	to := &b.slot(b.rank).calls[seq%EntriesKept]
	b.overwrite(seq)
	atomic.StoreUint64(&to.Operation, c.Operation)
	atomic.StoreUint64(&to.Operator, c.Operator)
	atomic.StoreInt64(&to.Type, c.Type)
	atomic.StoreInt64(&to.Count, c.Count)
	atomic.StoreInt64(&to.Root, c.Root)
}

// CallOf returns which call a rank described for a meeting, if its entry for that is still there.
func (b *Board) CallOf(rank int, seq uint64) (c Call, there bool) {
	from := &b.slot(rank).calls[seq%EntriesKept]
	c = Call{
		Operation: atomic.LoadUint64(&from.Operation), Operator: atomic.LoadUint64(&from.Operator),
		Type: atomic.LoadInt64(&from.Type), Count: atomic.LoadInt64(&from.Count), Root: atomic.LoadInt64(&from.Root),
	}
	_, there = b.EntryOf(rank, seq)
	return c, there
}

// HistoryOf returns the hash of all calls of a rank up to a meeting, if its entry for that is still there.
func (b *Board) HistoryOf(rank int, seq uint64) (history uint64, there bool) {
	e, there := b.EntryOf(rank, seq)
	if !there {
		return 0, false
	}
	history = atomic.LoadUint64(&e.History)
	return history, atomic.LoadUint64(&e.seq) == seq
}

// Came reports whether a rank has come to a meeting that this rank has not left, or to a later one.
func (b *Board) Came(rank int, seq uint64) bool {
	return atomic.LoadUint64(&b.entry(rank, seq).seq) >= seq
}

// Arrived reports whether a rank has come to this meeting.
func (b *Board) Arrived(rank int) bool {
	return atomic.LoadUint64(&b.entry(rank, b.local.seq).seq) == b.local.seq
}

// Entry returns what a rank that has arrived laid down.
func (b *Board) Entry(rank int) *Entry { return b.entry(rank, b.local.seq) }

// EntryOf returns what a rank laid down for a meeting, if that is still there. The rank may overwrite it at any time if all have
// come to the following meeting.
func (b *Board) EntryOf(rank int, seq uint64) (*Entry, bool) {
	e := b.entry(rank, seq)
	return e, atomic.LoadUint64(&e.seq) == seq
}

// Payload returns the bytes of a rank that has arrived.
func (b *Board) Payload(rank int) (unsafe.Pointer, int) {
	e := b.Entry(rank)
	if e.bytes <= inline {
		return unsafe.Pointer(&e.elements), int(e.bytes)
	}
	n := min(int(e.long().bytes), b.MostPayload())
	in := b.ring(rank, n)
	at := min(int(e.long().at), len(in)-n)
	return unsafe.Pointer(&in[at]), n
}

// ring returns where a rank lays down payloads of so many bytes that do not fit into an entry.
func (b *Board) ring(rank, n int) []byte {
	if n <= MaxPayload {
		return b.slot(rank).long[:]
	}
	return b.extension[rank*extensionSlot:][:extensionSlot]
}

// The offers begin on a cache line.
const _ = uint(0 - unsafe.Offsetof(slot{}.presence)%64)
