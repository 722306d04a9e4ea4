// Package board is memory that the ranks of one machine share, where they meet.
//
// Each rank has a slot that it alone writes. In each meeting it lays down an entry: who it is that calls what, and up
// to MaxPayload bytes that all may read. A rank that has seen every entry of a meeting may read them until it lays down
// its next one. Two entries a slot are enough for that: nobody lays down the next but one before all have laid down
// the next, and by then all have read this one.
package board

import (
	"sync/atomic"
	"unsafe"

	"dtl/core/board/cma"
)

// MaxPayload is the most bytes that an entry carries.
const MaxPayload = 8192

// inline is how many of them lie in the entry's own cache line, which travels in one piece.
const inline = 32

// Entry is what a rank lays down in a meeting.
type Entry struct {
	seq         uint64 // of the meeting; written last
	Fingerprint uint64 // of the call
	Want        uint64 // fingerprint of what the rank stated of the elements; 0: nothing
	Code        int32  // why the rank cannot make the call; 0: it can
	bytes       int32
	elements    [inline]byte
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
	entries  [2]Entry
	state    int64  // of the status
	compared uint64 // the last call whose posts the rank needs no more
	started  uint64 // how many calls the rank has started, of which it may have posted fewer
	_        [104]byte
	presence cma.Presence
	account  text // of its call, where the ranks disagree
	status   text // where it is, where one of them asks
	posts    [PostsKept]post
	long     [2][MaxPayload]byte
}

// head is what all ranks write, seldom.
type head struct {
	broken int64  // one more than the rank that gave up
	asked  int64  // how often somebody asked where the ranks are
	said   int64  // when a report was printed last, in the printing rank's nanoseconds
	lost   uint64 // the first call that some ranks have started and others never will
	fates  [fatesKept]uint64
	_      [4064 - 8*fatesKept]byte
}

const (
	headBytes = int(unsafe.Sizeof(head{}))
	slotBytes = (int(unsafe.Sizeof(slot{})) + 4095) &^ 4095
)

// Board is one rank's view of the memory. Its methods are for one goroutine at a time but for those of status.go and cma.
type Board struct {
	memory     []byte
	rank, size int
	local      *Local
	cma.Presences
}

// Rank returns the caller's rank.
func (b *Board) Rank() int { return b.rank }

// Size returns the number of ranks.
func (b *Board) Size() int { return b.size }

// Meetings returns how often this rank has laid down an entry.
func (b *Board) Meetings() uint64 { return b.local.seq }

func (b *Board) head() *head { return (*head)(unsafe.Pointer(unsafe.SliceData(b.memory))) }

func (b *Board) slot(rank int) *slot {
	return (*slot)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.memory)), headBytes+rank*slotBytes))
}

// Bytes returns how long the memory for so many ranks is.
func Bytes(ranks int) int { return headBytes + ranks*slotBytes }

// Lay lays down this rank's entry for the next meeting, with n bytes at payload, at most MaxPayload.
func (b *Board) Lay(fingerprint, want uint64, code int32, payload unsafe.Pointer, n int) {
	b.local.seq++
	mine := b.slot(b.rank)
	e := &mine.entries[b.local.seq&1]
	e.Fingerprint, e.Want, e.Code, e.bytes = fingerprint, want, code, int32(n)
	switch {
	case n == 8 && uintptr(payload)&7 == 0:
		*(*uint64)(unsafe.Pointer(&e.elements)) = *(*uint64)(payload)
	case n <= inline:
		copy(e.elements[:n], unsafe.Slice((*byte)(payload), n))
	default:
		copy(mine.long[b.local.seq&1][:n], unsafe.Slice((*byte)(payload), n))
	}
	atomic.StoreUint64(&e.seq, b.local.seq)
}

// Arrived reports whether a rank has come to this meeting.
func (b *Board) Arrived(rank int) bool {
	return atomic.LoadUint64(&b.slot(rank).entries[b.local.seq&1].seq) == b.local.seq
}

// Entry returns what a rank that has arrived laid down.
func (b *Board) Entry(rank int) *Entry { return &b.slot(rank).entries[b.local.seq&1] }

// Payload returns the bytes of a rank that has arrived.
func (b *Board) Payload(rank int) (unsafe.Pointer, int) {
	s := b.slot(rank)
	e := &s.entries[b.local.seq&1]
	n := min(max(int(e.bytes), 0), MaxPayload)
	if n <= inline {
		return unsafe.Pointer(&e.elements), n
	}
	return unsafe.Pointer(&s.long[b.local.seq&1]), n
}

// The offers begin on a cache line.
const _ = uint(0 - unsafe.Offsetof(slot{}.presence)%64)
