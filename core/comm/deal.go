package comm

import (
	"errors"

	"dtl/core/board/cma"
	"dtl/core/comm/wire"
	"dtl/core/memory"
)

// deal is one rank's elements on offer to every other rank of a board.
type deal struct {
	looking
	offers  []*offering
	numbers []byte // of each rank's offer
	left    int    // how many are not over
	failed  error
}

// deal offers elements to every other rank; nil where not all can copy them.
func (c *Comm) deal(value memory.Span) *deal {
	if c.board == nil || c.size-1 > cma.OffersKept/2 {
		return nil
	}
	d := &deal{numbers: make([]byte, c.size)}
	d.comm, d.ask = c, d.settled
	for rank := range c.size {
		if rank == c.rank {
			continue
		}
		number, ok := c.offer(value, int64(rank))
		if !ok {
			d.revoke()
			return nil
		}
		d.numbers[rank] = byte(number)
		d.offers = append(d.offers, c.offering(wire.Header{Number: number}, value))
	}
	d.left = len(d.offers)
	return d
}

// revoke takes offers back of which nobody was told, or whom nobody will come for.
func (d *deal) revoke() {
	if d == nil {
		return
	}
	for _, o := range d.offers {
		o.board.Revoke(o.number)
	}
}

// end waits until every rank has the elements.
func (d *deal) end(op string) error {
	_, err := d.comm.await(d, named(op))
	if err != nil {
		for _, o := range d.offers {
			o.withdraw()
		}
	}
	return err
}

// settled looks once at each offer, and helps where somebody copies.
func (d *deal) settled() (bool, error) {
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
