package comm

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/dtype"
	"dtl/core/status"
)

// posts are the collectives that this rank has started without waiting for the others. Ranks that share a board post
// there what they are about to start, under the same number, and compare it with what the others posted. Who finds that
// it does not fit calls it off; those that have started it before see that while they wait.
type posts struct {
	mu    sync.Mutex
	count uint64
	lost  error    // why the ranks are out of step: some have started what others did not
	early []posted // over on this rank before all ranks had started them: they may still be called off
}

// posted is one of them. The zero posted is nobody's: it fits.
type posted struct {
	comm    *Comm
	seq     uint64
	enquiry *board.Post // what the ranks ask each other before it begins, where they share no board
}

// post tells the other ranks of a collective that is about to start, unless this rank has an error of its own, mine. An
// error says that it must not start.
func (c *Comm) post(f form, mine error) (posted, error) {
	if c.size == 1 || c.board == nil && c.enquiries.on == nil { // spell nothing
		return posted{}, mine
	}
	post := board.Post{Print: f.print(), Want: f.want(), Code: int32(status.CodeOf(mine)), Bytes: f.told(mine)}
	if c.board != nil {
		return c.postOf(post, mine)
	}
	if mine == nil {
		return posted{enquiry: &post}, nil
	}
	if !c.gone.Load() {
		_, _ = c.ask(post, nil) // mine is the error
	}
	return posted{}, mine
}

// postOf is post of what is spelled already.
func (c *Comm) postOf(post board.Post, mine error) (posted, error) {
	if c.size == 1 || c.board == nil {
		return posted{}, mine
	}
	c.posts.mu.Lock()
	defer c.posts.mu.Unlock()
	c.lookBack()
	if c.posts.lost != nil {
		return posted{}, c.outOfStep()
	}
	c.posts.count++
	p := posted{comm: c, seq: c.posts.count}
	c.board.Post(p.seq, post)
	if mine == nil && p.fits(post) && c.board.Join(p.seq) {
		return p, nil
	}
	joined := c.board.CallOff(p.seq)
	if mine == nil {
		mine = p.verdict()
	}
	if joined > 0 {
		c.posts.lost = mine
	}
	return p, mine
}

// outOfStep is the error of calls after some that not all ranks have made. The caller holds the lock.
func (c *Comm) outOfStep() error {
	return status.New(status.CodeOf(c.posts.lost), "an earlier call failed on some ranks only, so they are out of step; go on "+
		"with a dup of the context: %w", c.posts.lost)
}

// lookBack finds out whether a call that was over here early has been called off since. The caller holds the lock.
func (c *Comm) lookBack() {
	p := &c.posts
	p.early = slices.DeleteFunc(p.early, func(e posted) bool {
		off, joined := c.board.IsOff(e.seq)
		if off && p.lost == nil {
			p.lost = e.verdict()
		}
		return off || joined == c.size || p.count-e.seq > board.PostsKept
	})
}

// end is check for a call that is over on this rank.
func (p posted) end() error {
	if p.comm == nil {
		return nil
	}
	off, joined := p.comm.board.IsOff(p.seq)
	if off {
		return p.check()
	}
	if joined < p.comm.size {
		p.comm.posts.mu.Lock()
		defer p.comm.posts.mu.Unlock()
		p.comm.posts.early = append(p.comm.posts.early, p)
	}
	return nil
}

// check says why the call is off, if it is.
func (p posted) check() error {
	if p.comm == nil {
		return nil
	}
	off, joined := p.comm.board.IsOff(p.seq)
	if !off {
		return nil
	}
	why := p.verdict()
	if joined > 0 {
		p.comm.posts.mu.Lock()
		defer p.comm.posts.mu.Unlock()
		p.comm.posts.lost = why
	}
	return why
}

// fits compares a post with what the other ranks have posted by now.
func (p posted) fits(mine board.Post) bool {
	want := mine.Want
	for rank := range p.comm.size {
		theirs, there := p.comm.board.PostOf(rank, p.seq)
		if there && (theirs.Code != 0 || theirs.Print != mine.Print || want != 0 && theirs.Want != 0 && theirs.Want != want) {
			return false
		}
		if there {
			want |= theirs.Want
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
			texts[rank] = formTold(texts[rank]).String()
		}
	}
	return verdict(codes, texts)
}

// told is a form, or why its call cannot be made, as a post carries it. Words take longer, and are seldom wanted.
func (f *form) told(mine error) []byte {
	if mine != nil {
		return []byte(mine.Error())
	}
	b := make([]byte, 0, board.MaxPost)
	b = append(append(append(b, f.op...), '|'), f.by...)
	for _, n := range [...]int64{int64(f.typ), int64(f.count), f.root, f.more} {
		b = strconv.AppendInt(append(b, '|'), n, 10)
	}
	return b
}

// formTold returns the form that was told.
func formTold(text string) form {
	parts := strings.Split(text, "|")
	if len(parts) != 6 {
		return form{op: text}
	}
	var n [4]int64
	for i := range n {
		n[i], _ = strconv.ParseInt(parts[2+i], 10, 64) // written by told
	}
	return form{op: parts[0], by: parts[1], typ: dtype.Type(n[0]), count: int(n[1]), root: n[2], more: n[3]}
}

// watched is a request of the backend that is waited for in vain where a post does not fit.
type watched struct {
	backend.Request
	posted posted
}

// WaitFor is that of the request, with an error where the wait is in vain.
func (w watched) WaitFor(d time.Duration) (backend.Status, bool, error) {
	st, done, err := w.Request.WaitFor(d)
	if !done && err == nil {
		err = w.posted.check()
	}
	return st, done, err
}
