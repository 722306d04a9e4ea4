package comm

import (
	"errors"

	"dtl/core/board"
	"dtl/core/board/cma"
	"dtl/core/comm/wire"
	"dtl/core/memory"
	"dtl/core/status"
)

// Long elements between ranks that share a board are not sent: the header says under which number they are offered
// there, and the receiver, once it knows that they fit, copies them from the sender's memory.

// offer offers elements to dest, and returns the number; false where dest cannot copy them, or too many are open.
func (c *Comm) offer(value memory.Span, dest int64) (seq uint32, ok bool) {
	b, place := c.BoardWith(int(dest))
	if b == nil || !b.Reads(place) {
		return 0, false
	}
	number, ok := b.Offer(value.Addr, value.Bytes())
	return uint32(number), ok
}

// collectOffer copies the elements that source offers in a header. Where it gives up while source copies, that rank may
// write to them later: then nobody else may have the memory.
func (c *Comm) collectOffer(to *Result, source int, h wire.Header, what awaited) error {
	rest, err := c.collect(source, h, to.Span)
	if rest != nil {
		if _, err = c.await(c.pollRequest(rest.Test), what); err != nil {
			to.retain(rest)
		}
	}
	if err != nil {
		to.release()
		*to = Result{Retained: to.Retained}
	}
	return err
}

// collect begins to copy what source offers in a header, and returns what is left to wait for, if anything is.
func (c *Comm) collect(source int, h wire.Header, to memory.Span) (rest *cma.Collection, err error) {
	b, place := c.BoardWith(source)
	if b == nil {
		return nil, status.New(status.Internal, "rank %d offers elements, and shares no memory with this one", source)
	}
	return b.Collect(place, int(h.Number), to.Addr, to.Bytes())
}

// retain gives a copy up whose wait failed, unless it is over after all.
func (r *Result) retain(rest *cma.Collection) {
	if over, _ := rest.Test(); !over {
		rest.GiveUp()
		r.Storage, r.Retained = nil, true
	}
}

// offering is the wait for a receiver to copy what it was offered.
type offering struct {
	pollRequest
	board  *board.Board
	value  memory.Span // stays where it is meanwhile
	number int
}

// offering returns the request of what a header offers of value.
func (c *Comm) offering(h wire.Header, value memory.Span) *offering {
	b, _ := c.BoardWith(c.rank)
	o := &offering{board: b, value: value, number: int(h.Number)}
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

// broadcastOffers is one rank's elements on offer to every other rank of a board.
type broadcastOffers struct {
	pollRequest
	offers  []*offering
	numbers []byte // of each rank's offer
	left    int    // how many are not over
	failed  error
}

// offerOn offers elements to every other rank of a board, if there is one; nil where not all can copy them.
func (c *Comm) offerOn(b *board.Board, value memory.Span) *broadcastOffers {
	if b == nil || b.Size()-1 > cma.OffersKept/2 {
		return nil
	}
	d := &broadcastOffers{numbers: make([]byte, b.Size())}
	d.comm, d.ask = c, d.settled
	for place := range b.Size() {
		if place == b.Rank() {
			continue
		}
		number, ok := 0, b.Reads(place)
		if ok {
			number, ok = b.Offer(value.Addr, value.Bytes())
		}
		if !ok {
			d.revoke()
			return nil
		}
		d.numbers[place] = byte(number)
		d.offers = append(d.offers, c.offering(wire.Header{Number: uint32(number)}, value))
	}
	d.left = len(d.offers)
	return d
}

// revoke takes offers back of which nobody was told, or whom nobody will come for.
func (d *broadcastOffers) revoke() {
	if d == nil {
		return
	}
	for _, o := range d.offers {
		o.board.Revoke(o.number)
	}
}

// end waits until every rank has the elements.
func (d *broadcastOffers) end(op string) error {
	_, err := d.comm.await(d, named(op))
	if err != nil {
		for _, o := range d.offers {
			o.withdraw()
		}
	}
	return err
}

// settled looks once at each offer, and helps where somebody copies.
func (d *broadcastOffers) settled() (bool, error) {
	for _, o := range d.offers {
		if o.over {
			continue
		}
		if _, over, err := o.Test(); over {
			d.left--
			d.failed = errors.Join(d.failed, err)
		}
	}
	return d.left == 0, d.failed
}
