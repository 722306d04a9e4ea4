package comm

import (
	"dtl/core/comm/wire"
	"dtl/core/memory"
	"dtl/core/watchdog"
)

// One rank may wait for a collective that does not block while another is in a call that blocks and has not started that
// collective: each waits for the other. Who waits for the collective finds that out, and comes to the meeting of the call
// that blocks, to say what it has called instead. So all ranks hear of it.

// crossingWant is what ranks want that come to a meeting because they wait for a collective that does not block.
var crossingWant = wire.Hash("crossing") | 1

// crossed is the error of a call that this rank waits for in vain because another is in a call that blocks.
func (p posted) crossed() error {
	c := p.comm
	if c == nil || !c.tryTake() { // else another thread of this rank may be in the same call
		return nil
	}
	defer c.release()
	if c.gone.Load() || !c.metWithout(p.seq) {
		return nil
	}
	call := p.form.String()
	there, err := c.lay(p.form.Fingerprint(), crossingWant, nil, memory.Span{})
	if err == nil && !there {
		err = c.linger(call)
	}
	if err == nil {
		err = c.explain(call, nil)
	}
	return watchdog.InVain(err)
}

// metWithout reports whether a rank is in the next meeting that has not started a collective that this one has, or has
// come there to say so of another.
func (c *Comm) metWithout(seq uint64) (yes bool) {
	if c.board == nil {
		c.gathering.ahead(func(v *vote) { yes = yes || v.started < seq || v.want == crossingWant })
		return yes
	}
	for rank := range c.size {
		if e, there := c.board.Next(rank); there && (c.board.StartedBy(rank) < seq || e.Want == crossingWant) {
			return true
		}
	}
	return false
}

// crossing reports whether ranks came to the meeting because they wait for a collective that others have not started, and
// returns the first of those.
func (c *Comm) crossing() (yes bool, first uint64) {
	for rank := range c.size {
		var started, want uint64
		if c.board != nil {
			started, want = c.board.StartedBy(rank), c.board.Entry(rank).Want
		} else {
			started, want = c.voted(rank).started, c.voted(rank).want
		}
		yes = yes || want == crossingWant
		if rank == 0 || started < first {
			first = started
		}
	}
	return yes, first + 1
}
