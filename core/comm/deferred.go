package comm

// A deferred call is one that a program makes now and that runs later, on a duplicate communicator, so that it keeps no
// other waiting.

// Defer tells the other ranks of a call that is to run later, and returns its number. All ranks make the same deferred
// calls in the same order, also among those that block. call says which, and place where in the program, for the error
// of ranks that do not. It waits for nobody, unless this rank has gone on from a call.
func (c *Comm) Defer(call, place string) (seq uint64, err error) {
	if err := c.ahead.confirm(nil, 0); err != nil {
		return 0, err
	}
	if c.gone.Load() {
		return 0, closed()
	}
	if place != "" {
		place = " at " + place
	}
	return c.starts.Defer(call, place)
}

// Serve says that what c does from now on is the deferred call of another communicator that has a number, so that it is
// waited for in vain where that was called off; 0 is none.
func (c *Comm) Serve(of *Comm, seq uint64) {
	if seq == 0 {
		c.serves.Store(nil)
		return
	}
	of.starts.GoOn()
	start := of.starts.Deferred(seq)
	c.serves.Store(&start)
}
