package comm

import (
	"dtl/core/board"
	"dtl/core/comm/wire"
	"dtl/core/status"
)

// A deferred call is one that a program makes now and that runs later, on a duplicate communicator, so that it keeps no
// other waiting. Ranks that share a board post it as they post collectives that do not block, and so notice where others
// make another call, or a call that blocks.

// deferredWant is what posts of deferred calls want: other posts never do.
var deferredWant = wire.Hash("deferred") | 1

// DupFor is Dup for calls that op stands for, which is what ranks that do not make the same call are told. Collective.
func (c *Comm) DupFor(op string) (d *Comm, err error) {
	err = c.inTurn(op, func() (err error) {
		d, err = c.derive(wire.Signature{Op: op}, nil, c.main.Dup)
		return err
	})
	return d, err
}

// Defer tells the other ranks of a call that is to run later, and returns its number. All ranks make the same deferred
// calls in the same order, also among those that block. call says which, and place where in the program, for the error
// of ranks that do not. It waits for nobody.
func (c *Comm) Defer(call, place string) (seq uint64, err error) {
	if c.gone.Load() {
		return 0, closed()
	}
	if place != "" {
		place = " at " + place
	}
	if c.board == nil {
		return 0, nil
	}
	p, err := c.postOf(board.Post{Print: wire.Hash(call), Want: deferredWant, Bytes: []byte(call + place)}, nil)
	if p.enquiry != nil {
		c.posts.release(p.enquiry)
	}
	return p.seq, err
}

// release lets an enquiry that begins nothing have its turn.
func (p *posts) release(e *enquiry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.ready = true
}

// Serve says that what c does from now on is the deferred call of another communicator that has a number, so that it is
// waited for in vain where that was called off; 0 is none.
func (c *Comm) Serve(of *Comm, seq uint64) {
	if seq == 0 {
		c.serves.Store(nil)
	} else {
		of.posts.goOn()
		c.serves.Store(&posted{comm: of, seq: seq})
	}
}

// inVain says why a deferred call will not be made by all ranks, if so.
func (p posted) inVain() error {
	p.comm.posts.goOn()
	return p.check()
}

// overtaken says that a rank that this one waits for in a call that blocks has made a deferred call before, which this
// one has not: they wait for each other, or would.
func (c *Comm) overtaken(rank int, call string) error {
	c.posts.mu.Lock()
	theirs, there := c.board.PostOf(rank, c.posts.count+1)
	c.posts.mu.Unlock()
	if !there || theirs.Want != deferredWant || c.board.Arrived(rank) {
		return nil
	}
	why := status.New(status.Mismatch, "ranks disagree: rank %d called %s; rank %d called %s", rank, string(theirs.Bytes),
		c.rank, call)
	why.Op = "collective call"
	_, _ = c.postOf(board.Post{Code: int32(status.Mismatch), Bytes: []byte(why.Err.Error())}, why) // why is the error
	return why
}
