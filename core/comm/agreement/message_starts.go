package agreement

import (
	"sync/atomic"
	"time"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// messageStarts compares starts of ranks that share no memory. A reduction over all ranks, on a communicator of their own, says
// whether they state the same of a start. All see the same, so either all of them begin an operation or none does. Only where
// they do not, each sends the others the text for the error.
type messageStarts struct {
	on        backend.AsyncCommunicator
	memory    memory.Allocator
	departure func(rank int) watchdog.Departure
	started   *uint64 // where meetings look how many there are
	lost      atomic.Uint64
	unsettled int // exchanges of texts of which something may be under way
}

var _ comparer = (*messageStarts)(nil)

// CompareByMessages has the ranks compare their starts by messages from now on, over a communicator that Free closes.
// departure says how a rank has left, and meetings look at started how many starts there are.
func (s *Starts) CompareByMessages(on backend.AsyncCommunicator, mem memory.Allocator, departure func(rank int) watchdog.Departure,
	started *uint64) {
	s.by = &messageStarts{on: on, memory: mem, departure: departure, started: started}
}

// compared is what a rank states of a start. Of each number, the greatest that any rank states is found.
type compared struct {
	fingerprint, notFingerprint   uint64 // the second has all bits turned: so the least is found, too
	elementsHash, notElementsHash uint64 // both 0 of a rank that states no elements
	fails                         uint64 // 1: it cannot
}

const comparedCount = int(unsafe.Sizeof(compared{}) / 8)

// stating returns what a post states.
func stating(post board.Post) compared {
	c := compared{fingerprint: post.Fingerprint, notFingerprint: ^post.Fingerprint}
	if post.ElementsHash != 0 {
		c.elementsHash, c.notElementsHash = post.ElementsHash, ^post.ElementsHash
	}
	if post.Code != 0 {
		c.fails = 1
	}
	return c
}

// agrees reports whether all ranks state the same, of which these are the greatest numbers.
func (c *compared) agrees() bool {
	return c.fails == 0 && c.fingerprint == ^c.notFingerprint && (c.elementsHash == 0 || c.elementsHash == ^c.notElementsHash)
}

// startText is what a rank says of a start in which the ranks differ.
type startText struct {
	code   int32
	length int32
	text   [board.MaxPost]byte
}

const (
	startTextBytes = int(unsafe.Sizeof(startText{}))
	// startTextTags is how many tags texts have, so that those of one start are not taken for those of another. Nothing else
	// is sent on the communicator.
	startTextTags = 1 << 14
	// startTextGrace is how long texts are waited for: a rank that computes sends its own in its next call.
	startTextGrace = time.Second
)

// comparing is a start in line until it is known what all ranks state of it.
type comparing struct {
	by      *messageStarts
	room    *memory.Storage // for what this rank states, and the greatest of all
	request backend.Request
	post    board.Post
	seq     uint64
	known   bool        // what all state
	texts   *startTexts // of all ranks, where they differ
}

func (c *messageStarts) state(s *Starts, post board.Post, mine error) (permission, error) {
	room, err := memory.NewStorage(c.memory, 2*8*comparedCount, memory.Alignment)
	if err != nil {
		return nil, err
	}
	g := &comparing{by: c, room: room, post: post, seq: s.count + 1}
	*(*compared)(room.Addr()) = stating(post)
	whole := memory.Span{Addr: room.Addr(), Count: 2 * comparedCount, Type: dtype.Uint64}
	g.request, err = c.on.Iallreduce(whole.Slice(0, comparedCount), whole.Slice(comparedCount, whole.Count), kernel.Max)
	if err != nil {
		room.Release()
		return nil, err
	}
	if post.Code != 0 { // this rank need not wait to hear that they differ, and may not
		g.texts, _ = c.exchange(g.seq, post) // which is tried again, where it fails
	}
	s.count++
	atomic.StoreUint64(c.started, s.count)
	return g, nil
}

func (g *comparing) given() (bool, error) {
	if !g.known {
		_, done, err := g.request.Test()
		if !done {
			return false, nil
		}
		g.known = true
		all := *(*compared)(unsafe.Add(g.room.Addr(), 8*comparedCount))
		g.room.Release()
		if err == nil && g.texts == nil && !all.agrees() {
			g.texts, err = g.by.exchange(g.seq, g.post)
		}
		if err != nil || g.texts == nil {
			return true, err
		}
		g.texts.until = time.Now().Add(startTextGrace)
	}
	return g.texts.verdict()
}

// startTexts are what all ranks say of a start in which they differ. Each sends its text to every other.
type startTexts struct {
	by    *messageStarts
	room  *memory.Storage
	recvs []backend.Request // by rank; nil: the text is here
	sends []backend.Request
	until time.Time // how long they are waited for
}

// exchange begins to exchange texts of a start.
func (c *messageStarts) exchange(seq uint64, post board.Post) (*startTexts, error) {
	tag := int(seq % startTextTags)
	size, me := c.on.Size(), c.on.Rank()
	room, err := memory.NewStorage(c.memory, startTextBytes*size, memory.Alignment)
	if err != nil {
		return nil, err
	}
	c.unsettled++
	x := &startTexts{by: c, room: room, recvs: make([]backend.Request, size)}
	mine := x.of(me)
	mine.code, mine.length = post.Code, int32(copy(mine.text[:], post.Bytes))
	whole := memory.Span{Addr: room.Addr(), Count: startTextBytes * size, Type: dtype.Uint8}
	at := func(rank int) memory.Span { return whole.Slice(rank*startTextBytes, (rank+1)*startTextBytes) }
	for step := 1; step < size; step++ {
		from, to := (me-step+size)%size, (me+step)%size
		*x.of(from) = startText{}
		if x.recvs[from], err = c.on.Irecv(at(from), from, tag); err != nil {
			return nil, err // the memory stays: what is under way may write there
		}
		sent, err := c.on.Isend(at(me), to, tag)
		if err != nil {
			return nil, err
		}
		x.sends = append(x.sends, sent)
	}
	return x, nil
}

// of returns a rank's text.
func (x *startTexts) of(rank int) *startText {
	return (*startText)(unsafe.Add(x.room.Addr(), rank*startTextBytes))
}

// verdict reports whether all texts are here, but for those of ranks that have left or take too long, and the error that they make.
func (x *startTexts) verdict() (bool, error) {
	whole := true
	for rank, r := range x.recvs {
		if r == nil {
			continue
		}
		_, done, err := r.Test()
		switch {
		case err != nil:
			return true, err
		case done:
			x.recvs[rank] = nil
		case x.by.departure(rank).Why == "" && time.Now().Before(x.until):
			return false, nil
		default:
			whole = false
		}
	}
	for _, r := range x.sends {
		if _, done, _ := r.Test(); !done {
			whole = false
		}
	}
	codes, texts := make([]status.Code, len(x.recvs)), make([]string, len(x.recvs))
	for rank := range texts {
		if t := x.of(rank); x.recvs[rank] == nil {
			codes[rank] = status.Code(t.code)
			texts[rank] = callOf(board.Post{Code: t.code, Bytes: t.text[:min(max(int(t.length), 0), len(t.text))]})
		} else {
			texts[rank] = "what it has not told yet"
		}
	}
	if whole { // else the memory stays: what is under way may use it
		x.by.unsettled--
		x.room.Release()
	}
	return true, Verdict(codes, texts, "")
}

func (c *messageStarts) lostFrom() uint64                      { return c.lost.Load() }
func (c *messageStarts) lose(seq uint64)                       { c.lost.CompareAndSwap(0, seq) }
func (c *messageStarts) startedBy(rank int) uint64             { return c.departure(rank).Started }
func (c *messageStarts) posted(int, uint64) (board.Post, bool) { return board.Post{}, false }
func (c *messageStarts) defers() bool                          { return false }
func (c *messageStarts) stop(*Starts)                          {} // the others may have begun what is in line

// free keeps a communicator on which a text may still come: see backend.Drainer.
func (c *messageStarts) free() error {
	if c.unsettled > 0 {
		return nil
	}
	return c.on.Close()
}
