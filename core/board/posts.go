package board

import "sync/atomic"

// Posts tell of calls that a rank starts without waiting for the others, which look at them when they start or end the
// same call: the ranks count them. A rank keeps its last few.

const (
	// PostsKept is how many posts a rank keeps.
	PostsKept = 64
	fatesKept = 500 // words; a rank that is this far ahead of another may have started what that one refuses
	// MaxPost is the most bytes that a post carries.
	MaxPost = 216
)

// post is what a rank tells of one call.
type post struct {
	seq         uint64 // of the call; 0 while the rest is written
	print, want uint64
	code        int32
	length      int32
	bytes       [MaxPost]byte
	_           [8]byte
}

// Post is what a rank told of a call.
type Post struct {
	Print, Want uint64
	Code        int32 // why the rank cannot make the call; 0: it can
	Bytes       []byte
}

// Post tells of this rank's call number seq, which is at least 1. Bytes beyond the most are left out.
func (b *Board) Post(seq uint64, p Post) {
	e := &b.slot(b.rank).posts[seq%PostsKept]
	atomic.StoreUint64(&e.seq, 0)
	e.print, e.want, e.code = p.Print, p.Want, p.Code
	e.length = int32(copy(e.bytes[:], p.Bytes))
	atomic.StoreUint64(&e.seq, seq)
}

// PostOf returns what a rank told of its call number seq, and whether it has told, and not so many since that this one
// is lost. Its bytes stay until the rank tells of as many calls again as it keeps.
func (b *Board) PostOf(rank int, seq uint64) (Post, bool) {
	e := &b.slot(rank).posts[seq%PostsKept]
	if atomic.LoadUint64(&e.seq) != seq {
		return Post{}, false
	}
	p := Post{Print: e.print, Want: e.want, Code: e.code, Bytes: e.bytes[:min(max(e.length, 0), MaxPost)]}
	return p, atomic.LoadUint64(&e.seq) == seq
}

// A call's fate is one word, so that whoever changes it knows what went before: the call's number, whether it is off,
// and how many ranks have joined it.
const (
	offFlag   = 1 << 31
	joinsMask = offFlag - 1
)

// fate returns the word of call number seq, and whether it is that of a later call already.
func (b *Board) fate(seq uint64) (at *uint64, now uint64, late bool) {
	at = &b.head().fates[seq%fatesKept]
	for {
		now = atomic.LoadUint64(at)
		if whose := now >> 32; whose == seq&(1<<32-1) {
			return at, now, false
		} else if whose > seq&(1<<32-1) {
			return at, now, true
		}
		atomic.CompareAndSwapUint64(at, now, seq<<32)
	}
}

// Join counts this rank among those that start call number seq, and reports false if it is off: then nobody else joins.
func (b *Board) Join(seq uint64) bool {
	for {
		at, now, late := b.fate(seq)
		if late || now&offFlag != 0 {
			return late
		}
		if atomic.CompareAndSwapUint64(at, now, now+1) {
			return true
		}
	}
}

// CallOff ends call number seq for those that have not joined it, and returns how many have.
func (b *Board) CallOff(seq uint64) (joined int) {
	for {
		at, now, late := b.fate(seq)
		if late {
			return b.size
		}
		if atomic.CompareAndSwapUint64(at, now, now|offFlag) {
			return int(now & joinsMask)
		}
	}
}

// IsOff reports whether call number seq is off, and how many ranks have joined it nevertheless.
func (b *Board) IsOff(seq uint64) (off bool, joined int) {
	now := atomic.LoadUint64(&b.head().fates[seq%fatesKept])
	if now>>32 != seq&(1<<32-1) {
		return false, 0
	}
	return now&offFlag != 0, int(now & joinsMask)
}
