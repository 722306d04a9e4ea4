package comm

import (
	"time"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/dtype"
	"dtl/core/memory"
)

// Long elements between ranks that share a board are not sent: the header says under which number they are offered
// there, and the receiver, once it knows that they fit, copies them from the sender's memory.

// offer offers elements to dest, and returns the number; false where dest cannot copy them, or too many are open.
func (c *Comm) offer(value memory.Span, dest int64) (seq uint32, ok bool) {
	if c.board == nil || !c.board.Reads(int(dest)) {
		return 0, false
	}
	number, ok := c.board.Offer(value.Addr, value.Bytes())
	return uint32(number), ok
}

// collectOffer copies the elements that source offers in a header.
func (c *Comm) collectOffer(to *Result, source int, h header) error {
	err := c.board.Collect(source, int(h.seq), to.Addr, to.Bytes())
	if err != nil {
		to.release()
		*to = Result{}
	}
	return err
}

// offering is the wait for a receiver to copy what it was offered, in the manner of a request of the backend.
type offering struct {
	comm   *Comm
	board  *board.Board
	value  memory.Span // stays where it is meanwhile
	number int
	over   bool
	err    error
}

var _ backend.Request = (*offering)(nil)

// offering returns the request of what a header offers of value.
func (c *Comm) offering(h header, value memory.Span) *offering {
	return &offering{comm: c, board: c.board, value: value, number: int(h.seq)}
}

// endOffer waits until the elements that a header offers may be used again. Where the header was not sent, failed says
// why; then nobody comes.
func (c *Comm) endOffer(h header, value memory.Span, failed error, dest, tag int64) error {
	o := c.offering(h, value)
	if failed != nil {
		o.withdraw()
		return failed
	}
	_, err := c.await(o, waiting("send", "dest", dest, tag))
	if err != nil {
		o.withdraw()
	}
	return err
}

// Test looks once.
func (o *offering) Test() (backend.Status, bool, error) {
	if !o.over {
		o.over, o.err = o.board.Settled(o.number)
	}
	return backend.Status{}, o.over, o.err
}

// Wait looks until it is over.
func (o *offering) Wait() (backend.Status, error) {
	for {
		if st, over, err := o.WaitFor(time.Second); over {
			return st, err
		}
	}
}

// WaitFor looks until it is over, or d has gone. Meanwhile the backend goes on with what is under way.
func (o *offering) WaitFor(d time.Duration) (backend.Status, bool, error) {
	return o.comm.watch(d, o.Test)
}

// watch asks until the answer is yes, or d has gone.
func (c *Comm) watch(d time.Duration, ask func() (backend.Status, bool, error)) (backend.Status, bool, error) {
	const selfish = 100 * time.Microsecond
	looks, start := max(c.spins/8, 1), time.Time{}
	for n := 1; ; n++ {
		if st, over, err := ask(); over {
			return st, over, err
		}
		if n%looks != 0 {
			board.Pause()
			continue
		}
		c.progress()
		if start.IsZero() {
			start = time.Now()
		}
		gone := time.Since(start)
		if gone >= d {
			return backend.Status{}, false, nil
		}
		if gone >= selfish || c.spins < patient {
			c.yield()
		}
	}
}

// Cancel does nothing: only a receive is taken back.
func (o *offering) Cancel() error { return nil }

// withdraw takes the offer back, so that nobody reads the elements when the caller uses them again. Who copies already
// may end first.
func (o *offering) withdraw() {
	if !o.over && !o.board.Withdraw(o.number) {
		_, _, _ = o.WaitFor(time.Second) // or that process has ended
	}
}

// progress lets the backend go on with what is under way.
func (c *Comm) progress() {
	_, _, _ = c.payload.TryRecv(memory.Span{Type: dtype.Uint8}, backend.AnySource, c.lane(idleLane))
}
