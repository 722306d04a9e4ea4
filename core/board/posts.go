package board

import "sync/atomic"

// A post describes a call that a rank starts without waiting for the others. They look at the post when they start the call
// of the same number. A rank keeps its last few posts, and overwrites one only when all others have compared it.

const (
	// PostsKept is how many posts a rank keeps.
	PostsKept = 64
	fatesKept = 4 * PostsKept // words: two ranks are at most as far apart as a rank keeps posts
	// MaxPost is the most bytes that a post carries.
	MaxPost = 216
)

// post is what a rank tells of one call.
type post struct {
	seq                       uint64 // of the call; written last
	fingerprint, elementsHash uint64
	code                      int32
	length                    int32
	bytes                     [MaxPost]byte
	_                         [8]byte
}

// Post is what a rank told of a call.
type Post struct {
	Fingerprint, ElementsHash uint64
	Code                      int32 // why the rank cannot make the call; 0: it can
	Bytes                     []byte
}

// Post posts this rank's call number seq, which is at least 1. All others have compared the one PostsKept calls before.
// Bytes beyond MaxPost are left out.
func (b *Board) Post(seq uint64, p Post) {
	e := &b.slot(b.rank).posts[seq%PostsKept]
	e.fingerprint, e.elementsHash, e.code = p.Fingerprint, p.ElementsHash, p.Code
	e.length = int32(copy(e.bytes[:], p.Bytes))
	atomic.StoreUint64(&e.seq, seq)
}

// PostOf returns a rank's post of its call number seq, and whether there is one. It stays unchanged until this rank says
// that it has compared it.
func (b *Board) PostOf(rank int, seq uint64) (Post, bool) {
	e := &b.slot(rank).posts[seq%PostsKept]
	if atomic.LoadUint64(&e.seq) != seq {
		return Post{}, false
	}
	return Post{Fingerprint: e.fingerprint, ElementsHash: e.elementsHash, Code: e.code, Bytes: e.bytes[:min(max(e.length, 0), MaxPost)]}, true
}

// Started says how many calls this rank has started without waiting for the others.
func (b *Board) Started(calls uint64) { atomic.StoreUint64(&b.slot(b.rank).started, calls) }

// StartedBy returns how many a rank has.
func (b *Board) StartedBy(rank int) uint64 { return atomic.LoadUint64(&b.slot(rank).started) }

// Compared says that this rank will not look again at posts of call number seq and of those before it.
func (b *Board) Compared(seq uint64) { atomic.StoreUint64(&b.slot(b.rank).compared, seq) }

// ComparedBy returns up to which call a rank has compared posts.
func (b *Board) ComparedBy(rank int) uint64 { return atomic.LoadUint64(&b.slot(rank).compared) }

// Lose says that some ranks have started call number seq, and others never will.
func (b *Board) Lose(seq uint64) {
	for at := &b.head().lost; ; {
		now := atomic.LoadUint64(at)
		if now != 0 && now <= seq || atomic.CompareAndSwapUint64(at, now, seq) {
			return
		}
	}
}

// Lost returns the first call that some ranks have started and others never will; 0: there is none.
func (b *Board) Lost() uint64 { return atomic.LoadUint64(&b.head().lost) }

// The fate of a call is one word, so that it changes as a whole: the number of the call, whether it is cancelled, and how
// many ranks have joined it.
const (
	offFlag   = 1 << 31
	joinsMask = offFlag - 1
)

// fate returns the word of call number seq.
func (b *Board) fate(seq uint64) (at *uint64, now uint64) {
	at = &b.head().fates[seq%fatesKept]
	for {
		now = atomic.LoadUint64(at)
		if now>>32 == seq&(1<<32-1) {
			return at, now
		}
		atomic.CompareAndSwapUint64(at, now, seq<<32)
	}
}

// Join counts this rank among those that start call number seq. It returns false if the call is cancelled: then no further
// rank joins it.
func (b *Board) Join(seq uint64) bool {
	for {
		at, now := b.fate(seq)
		if now&offFlag != 0 {
			return false
		}
		if atomic.CompareAndSwapUint64(at, now, now+1) {
			return true
		}
	}
}

// CallOff cancels call number seq for the ranks that have not joined it, and returns how many have.
func (b *Board) CallOff(seq uint64) (joined int) {
	for {
		at, now := b.fate(seq)
		if atomic.CompareAndSwapUint64(at, now, now|offFlag) {
			return int(now & joinsMask)
		}
	}
}
