package comm

import (
	"time"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/board/cma"
	"dtl/core/comm/wire"
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

// collectOffer copies the elements that source offers in a header. Where it gives up while source copies, that rank may
// write to them later: then nobody else may have the memory.
func (c *Comm) collectOffer(to *Result, source int, h wire.Header, what awaited) error {
	rest, err := c.board.Collect(source, int(h.Number), to.Addr, to.Bytes())
	if rest != nil {
		if _, err = c.await(c.looking(rest.Test), what); err != nil {
			to.retain(rest)
		}
	}
	if err != nil {
		to.release()
		*to = Result{Retained: to.Retained}
	}
	return err
}

// retain gives a copy up whose wait failed, unless it is over after all.
func (r *Result) retain(rest *cma.Collection) {
	if over, _ := rest.Test(); !over {
		rest.GiveUp()
		r.Storage, r.Retained = nil, true
	}
}

// looking is a wait for what other ranks do in memory that they share, in the manner of a request of the backend.
type looking struct {
	comm *Comm
	ask  func() (over bool, err error) // nobody asks again when it is over
	over bool
	err  error
}

var _ backend.Request = (*looking)(nil)

func (c *Comm) looking(ask func() (bool, error)) *looking { return &looking{comm: c, ask: ask} }

// Test looks once.
func (l *looking) Test() (backend.Status, bool, error) {
	if !l.over {
		l.over, l.err = l.ask()
	}
	return backend.Status{}, l.over, l.err
}

// Wait looks until it is over.
func (l *looking) Wait() (backend.Status, error) {
	for {
		if st, over, err := l.WaitFor(time.Second); over {
			return st, err
		}
	}
}

// WaitFor looks until it is over, or d has gone. Meanwhile the backend goes on with what is under way.
func (l *looking) WaitFor(d time.Duration) (backend.Status, bool, error) {
	return l.comm.watch(d, l.Test)
}

// Cancel does nothing: only a receive is taken back.
func (l *looking) Cancel() error { return nil }

// offering is the wait for a receiver to copy what it was offered.
type offering struct {
	looking
	board  *board.Board
	value  memory.Span // stays where it is meanwhile
	number int
}

// offering returns the request of what a header offers of value.
func (c *Comm) offering(h wire.Header, value memory.Span) *offering {
	o := &offering{board: c.board, value: value, number: int(h.Number)}
	o.comm, o.ask = c, func() (bool, error) { return o.board.Settled(o.number) }
	return o
}

// withdraw takes the offer back, so that the caller may use the elements again.
func (o *offering) withdraw() {
	if !o.over {
		o.over = true
		o.board.Withdraw(o.number)
	}
}

// endOffer waits until the elements that a header offers may be used again. Where the header was not sent, failed says
// why; then nobody comes.
func (c *Comm) endOffer(h wire.Header, value memory.Span, failed error, dest, tag int64) error {
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
