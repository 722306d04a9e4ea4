package agreement

import (
	"fmt"

	"dtl/core/board"
	"dtl/core/comm/wire"
	"dtl/core/status"
)

// sharedStarts compares starts of ranks that share memory. Each rank posts on the board what it is about to start, under the
// start's number, and compares it with the posts of the others. A rank that finds a difference cancels the start; ranks that
// have begun it before notice that while they wait.
//
// No rank is more than board.PostsKept starts ahead of another, because it would overwrite a post that the other has not
// compared. Further starts are queued until the others have come closer.
type sharedStarts struct {
	board *board.Board
	limit uint64 // up to which start this rank may post, as far as it knows
}

var _ comparer = (*sharedStarts)(nil)

// CompareShared makes the ranks of a board compare their starts there from now on.
func (s *Starts) CompareShared(b *board.Board) { s.by = &sharedStarts{board: b} }

func (c *sharedStarts) state(s *Starts, post board.Post, mine error) (permission, error) {
	s.count++
	c.board.Started(s.count)
	if len(s.line) > 0 || !c.mayPost(s.count) {
		return &postLater{starts: s, by: c, seq: s.count, post: post, mine: mine}, nil
	}
	return nil, c.publish(s, s.count, post, mine)
}

// mayPost reports whether all other ranks have compared the post that this one overwrites.
func (c *sharedStarts) mayPost(seq uint64) bool {
	if seq > c.limit {
		least := seq - 1
		for rank := range c.board.Size() {
			if rank != c.board.Rank() {
				least = min(least, c.board.ComparedBy(rank))
			}
		}
		c.limit = least + board.PostsKept
	}
	return seq <= c.limit
}

// publish posts a start and compares it. An error says that it must not begin.
func (c *sharedStarts) publish(s *Starts, seq uint64, post board.Post, mine error) error {
	c.board.Post(seq, post)
	if mine == nil && c.fits(seq, post) && c.board.Join(seq) {
		c.board.Compared(seq)
		return nil
	}
	joined := c.board.CallOff(seq)
	if mine == nil {
		mine = s.verdict(seq)
	}
	if joined > 0 {
		c.lose(seq) // all posts of this start stay, for the others' verdict
		s.lost = mine
	} else {
		c.board.Compared(seq)
	}
	return mine
}

// fits compares a post with what the other ranks have posted by now.
func (c *sharedStarts) fits(seq uint64, mine board.Post) bool {
	agreement := wire.Agreement{Fingerprint: mine.Fingerprint, ElementsHash: mine.ElementsHash}
	for rank := range c.board.Size() {
		post, there := c.board.PostOf(rank, seq)
		if there && !agreement.Includes(wire.Statement{Fingerprint: post.Fingerprint, ElementsHash: post.ElementsHash, Code: post.Code}) {
			return false
		}
	}
	return true
}

func (c *sharedStarts) lostFrom() uint64          { return c.board.Lost() }
func (c *sharedStarts) lose(seq uint64)           { c.board.Lose(seq) }
func (c *sharedStarts) startedBy(rank int) uint64 { return c.board.StartedBy(rank) }
func (c *sharedStarts) posted(rank int, seq uint64) (board.Post, bool) {
	return c.board.PostOf(rank, seq)
}
func (c *sharedStarts) defers() bool   { return true }
func (c *sharedStarts) stop(s *Starts) { s.line = nil }
func (c *sharedStarts) free() error    { return nil }

// postLater is a start in line until this rank may post it.
type postLater struct {
	starts *Starts
	by     *sharedStarts
	seq    uint64
	post   board.Post
	mine   error
}

func (p *postLater) given() (bool, error) {
	if err := p.starts.outOfStep(p.seq); err != nil {
		return true, err
	}
	if !p.by.mayPost(p.seq) {
		return false, nil
	}
	err := p.by.publish(p.starts, p.seq, p.post, p.mine)
	if err != nil && p.mine == nil && p.post.ElementsHash == deferredHash {
		p.by.lose(p.seq) // it was to be an error of a call that has returned
		p.starts.lost = err
	}
	return true, err
}

// A deferred call is one that a program makes now and that runs later, on a duplicate communicator, so that it keeps no
// other waiting. Ranks that share memory post it as they post starts, and so notice where others make another call, or a
// call that blocks.

// deferredHash is the value of elementsHash in posts of deferred calls, which no other post has.
var deferredHash = wire.Hash("deferred") | 1

// Defer tells the other ranks of a call that is to run later, and returns its number; 0 where the ranks do not compare
// deferred calls. call says which, and place where in the program: " at app.py:41", or "".
func (s *Starts) Defer(call, place string) (seq uint64, err error) {
	if s.by == nil || !s.by.defers() {
		return 0, nil
	}
	st, err := s.begin(board.Post{Fingerprint: wire.Hash(call), ElementsHash: deferredHash, Bytes: []byte(call + place)}, nil)
	if st.Pending != nil {
		st.Pending.BeginWith(nil) // it has its turn in line, and begins nothing
	}
	return st.seq, err
}

// Deferred returns the start that Defer gave a number.
func (s *Starts) Deferred(seq uint64) Start { return Start{of: s, seq: seq} }

// InVain returns an error, which the watchdog's InVain has marked, if a deferred call will not be made by all ranks.
func (st Start) InVain() error {
	st.of.GoOn()
	return st.Check()
}

// overtaken says that a rank for which this one, me, waits in a call that blocks has made a deferred call before, which
// this one has not: they wait for each other, or would. arrived reports whether a rank has come to the meeting.
func (s *Starts) overtaken(rank int, arrived func(rank int) bool, me int, call string) error {
	s.mu.Lock()
	next := s.count + 1
	theirs, there := s.by.posted(rank, next)
	s.mu.Unlock()
	if first := s.by.lostFrom(); first != 0 && first < next {
		return nil // theirs is called off
	}
	if !there || theirs.ElementsHash != deferredHash || arrived(rank) {
		return nil
	}
	why := disagree("", fmt.Sprintf("rank %d called %s; rank %d called %s", rank, theirs.Bytes, me, call))
	_, _ = s.begin(board.Post{Code: int32(status.Mismatch), Bytes: []byte(why.Err.Error())}, why) // why is the error
	return why
}
