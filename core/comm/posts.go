package comm

import (
	"sync"
	"sync/atomic"
	"time"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/comm/wire"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// posts are the collectives that this rank has started without waiting for the others. Ranks that share a board post
// there what they are about to start, under the same number, and compare it with what the others posted. Who finds that
// it does not fit calls it off; those that have started it before see that while they wait.
//
// No rank is more than board.PostsKept calls ahead of another: a post would have to be written over that the other has
// not compared. What a rank starts beyond that gets in line, and begins when the others have come closer.
type posts struct {
	comm  *Comm
	mu    sync.Mutex
	count uint64
	room  uint64        // up to which call this rank may post, as far as it knows
	lost  error         // why the ranks are out of step: some have started what others did not
	first atomic.Uint64 // the call from which on they are, where there is no board; 0: they are in step
	line  []*enquiry    // whose operations have not begun, in the order of the calls
}

// posted is one of them. The zero posted is nobody's: it fits.
type posted struct {
	comm    *Comm
	seq     uint64
	form    wire.Signature
	enquiry *enquiry // what the operation waits for before it begins; nil: nothing
}

// post tells the other ranks of a collective that is about to start, unless this rank has an error of its own, mine. An
// error says that it must not start.
func (c *Comm) post(f wire.Signature, mine error) (posted, error) {
	if c.size == 1 || c.board == nil && c.enquiries.on == nil { // spell nothing
		return posted{}, mine
	}
	p, err := c.postOf(board.Post{Print: f.Fingerprint(), Want: f.Want(), Code: int32(status.CodeOf(mine)), Bytes: stated(&f, mine)}, mine)
	p.form = f
	return p, err
}

// postOf is post of what is spelled already.
func (c *Comm) postOf(post board.Post, mine error) (posted, error) {
	if c.size == 1 || c.board == nil && c.enquiries.on == nil || c.gone.Load() {
		return posted{}, mine
	}
	c.posts.mu.Lock()
	defer c.posts.mu.Unlock()
	p := posted{comm: c, seq: c.posts.count + 1}
	if err := p.outOfStep(); err != nil {
		return posted{}, errorOr(mine, err)
	}
	switch {
	case c.board == nil:
		a, err := c.ask(post)
		if err != nil {
			return posted{}, errorOr(mine, err)
		}
		p.enquiry = c.posts.queue(a)
	case len(c.posts.line) > 0 || !p.mayPost():
		p.enquiry = c.posts.queue(&postponed{p, post, mine})
	}
	c.posts.count++
	if c.board != nil {
		c.board.Started(p.seq)
	}
	if p.enquiry == nil {
		return p, p.publish(post, mine)
	}
	p.enquiry.ready = mine != nil
	return p, mine
}

// started returns how many this rank has started.
func (p *posts) started() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}

// cross says that the ranks are out of step from a call on, which some of them have started and wait for.
func (p *posts) cross(first uint64, why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost = errorOr(p.lost, why)
	if p.first.CompareAndSwap(0, first); p.comm.board != nil {
		p.comm.board.Lose(first)
	}
}

// outOfStepFrom returns the first call that not all ranks will start though some have; 0: there is none.
func (c *Comm) outOfStepFrom() uint64 {
	if c.board == nil {
		return c.posts.first.Load()
	}
	return c.board.Lost()
}

// startedBy reports whether a rank that has left had started the call.
func (p posted) startedBy(rank int) bool {
	if p.comm.board == nil {
		return p.comm.messages.Departure(rank).Started >= p.seq
	}
	return p.comm.board.StartedBy(rank) >= p.seq
}

// mayPost reports whether all other ranks have compared the post that this one will be written over. The caller holds the
// lock.
func (p posted) mayPost() bool {
	c := p.comm
	if p.seq > c.posts.room {
		least := p.seq - 1
		for rank := range c.size {
			if rank != c.rank {
				least = min(least, c.board.ComparedBy(rank))
			}
		}
		c.posts.room = least + board.PostsKept
	}
	return p.seq <= c.posts.room
}

// publish posts a call and compares it. An error says that it must not begin. The caller holds the lock.
func (p posted) publish(post board.Post, mine error) error {
	b := p.comm.board
	b.Post(p.seq, post)
	if mine == nil && p.fits(post) && b.Join(p.seq) {
		b.Compared(p.seq)
		return nil
	}
	joined := b.CallOff(p.seq)
	if mine == nil {
		mine = p.verdict()
	}
	if joined > 0 {
		p.lose(mine) // all posts of this call stay, for the others' verdict
	} else {
		b.Compared(p.seq)
	}
	return mine
}

// lose says that the ranks are out of step from this call on. The caller holds the lock.
func (p posted) lose(why error) {
	p.comm.board.Lose(p.seq)
	p.comm.posts.lost = why
}

// outOfStep is the error of calls after one that some ranks have started and others never will. The caller holds the lock.
func (p posted) outOfStep() error {
	c := p.comm
	if c.board != nil && c.posts.lost == nil {
		if lost := c.board.Lost(); lost != 0 && lost < p.seq {
			c.posts.lost = posted{comm: c, seq: lost}.verdict()
		}
	}
	if c.posts.lost == nil {
		return nil
	}
	return status.New(status.CodeOf(c.posts.lost), "an earlier call failed on some ranks only, so they are out of step; go on "+
		"with a dup of the context: %w", c.posts.lost)
}

// check says why the call is in vain, if it is.
func (p posted) check() error {
	if p.comm == nil || p.comm.gone.Load() {
		return nil
	}
	lost := p.comm.outOfStepFrom()
	if lost == 0 || lost > p.seq {
		return nil
	}
	p.comm.posts.mu.Lock()
	defer p.comm.posts.mu.Unlock()
	if lost < p.seq {
		return watchdog.InVain(p.outOfStep())
	}
	if p.comm.posts.lost == nil {
		p.comm.posts.lost = p.verdict()
	}
	return watchdog.InVain(p.comm.posts.lost)
}

// fits compares a post with what the other ranks have posted by now.
func (p posted) fits(mine board.Post) bool {
	agreement := wire.Agreement{Fingerprint: mine.Print, Want: mine.Want}
	for rank := range p.comm.size {
		theirs, there := p.comm.board.PostOf(rank, p.seq)
		if there && !agreement.Includes(theirs.Print, theirs.Want, theirs.Code) {
			return false
		}
	}
	return true
}

// verdict says what the ranks posted.
func (p posted) verdict() error {
	codes, texts := make([]status.Code, p.comm.size), make([]string, p.comm.size)
	for rank := range texts {
		theirs, there := p.comm.board.PostOf(rank, p.seq)
		if !there {
			texts[rank] = "nothing yet"
			continue
		}
		codes[rank], texts[rank] = status.Code(theirs.Code), string(theirs.Bytes)
		if theirs.Code == 0 && theirs.Want != deferredWant {
			texts[rank] = wire.DecodeSignature(texts[rank]).String()
		}
	}
	return verdict(codes, texts)
}

// stated is a signature, or why its call cannot be made, as a post carries it.
func stated(f *wire.Signature, mine error) []byte {
	if mine != nil {
		return []byte(mine.Error())
	}
	return f.Encode(make([]byte, 0, board.MaxPost))
}

// watched is a request of the backend that is waited for in vain where a post does not fit.
type watched struct {
	backend.Request
	posted posted
}

// WaitFor is that of the request, with an error where the wait is in vain.
func (w watched) WaitFor(d time.Duration) (backend.Status, bool, error) {
	if err := w.posted.check(); err != nil {
		return backend.Status{}, false, err
	}
	return w.Request.WaitFor(d)
}
