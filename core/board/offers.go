package board

import (
	"errors"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"dtl/core/status"
)

// A rank offers long elements to another, which copies them from where they lie: one copy, by the kernel, which lets a
// process read another's memory if it may trace it. The rank that waits for that meanwhile takes a share in the work.

// OffersKept is how many offers of a rank may be open at once.
const OffersKept = 16

// What becomes of an offer. Its rank makes it, and only who is told of it claims it. Whoever gives it up changes the state
// by a compare and swap, and the other finds that out when it changes it next: so it is never claimed twice, and what was
// copied counts only if its rank had not given it up before.
const (
	free      uint32 = iota // there is none
	offered                 // until somebody claims it
	claimed                 // by somebody who copies
	shared                  // and lets the rank help
	taken                   // the elements may be used again; the rank frees the number
	failed                  // so they may, but nobody has them
	withdrawn               // by its rank; who is told of it, or copies, frees the number
)

// offer is one of a rank's: what is where in its memory. It has a cache line of its own.
type offer struct {
	state    uint32
	taker    uint32 // the rank that claims it
	addr     uint64
	bytes    int64
	into     uint64 // in the taker's memory
	next     int64  // the part that nobody has begun
	finished int64  // how many bytes are there
	spoilt   uint32 // 1 where some are not
	_        [12]byte
}

// Offer lets a rank that learns the number have bytes from an address here, which stay there until Settled or Withdraw
// say otherwise. It reports false where too many offers are open.
func (b *Board) Offer(addr unsafe.Pointer, bytes int) (number int, ok bool) {
	for i := range b.slot(b.rank).presence.offers {
		o := &b.slot(b.rank).presence.offers[i]
		if atomic.LoadUint32(&o.state) == free && atomic.CompareAndSwapUint32(&o.state, free, withdrawn) {
			o.addr, o.bytes = uint64(uintptr(addr)), int64(bytes)
			atomic.StoreUint32(&o.state, offered)
			return i, true
		}
	}
	return 0, false
}

// Settled reports whether an offer of this rank is over, once: then its number is free. The error says that whoever
// claimed it has not got the elements. While somebody copies, this rank helps.
func (b *Board) Settled(number int) (over bool, err error) {
	o := &b.slot(b.rank).presence.offers[number]
	switch atomic.LoadUint32(&o.state) {
	case shared:
		if taker := int(o.taker); taker < b.size {
			o.give(&b.slot(taker).presence)
		}
		return false, nil
	case taken:
	case failed:
		err = status.New(status.Communication, "the receiver could not copy the elements")
	default:
		return false, nil
	}
	atomic.StoreUint32(&o.state, free)
	return true, err
}

// Withdraw takes an offer back: the elements may be used again, for who copies them now does not keep them. It does not
// wait for that process, which may be stopped.
func (b *Board) Withdraw(number int) {
	o := &b.slot(b.rank).presence.offers[number]
	for {
		switch state := atomic.LoadUint32(&o.state); state {
		case offered, claimed, shared:
			if atomic.CompareAndSwapUint32(&o.state, state, withdrawn) {
				return
			}
		default:
			atomic.StoreUint32(&o.state, free)
			return
		}
	}
}

// Revoke takes an offer back that nobody was told of, or that those who were will not come for. Its number is free.
func (b *Board) Revoke(number int) {
	atomic.StoreUint32(&b.slot(b.rank).presence.offers[number].state, free)
}

// Collect fills memory here with what a rank offers under a number. Where that rank still copies its share after a while,
// it returns a Collection to wait for.
func (b *Board) Collect(rank, number int, into unsafe.Pointer, bytes int) (*Collection, error) {
	if rank < 0 || rank >= b.size || number < 0 || number >= OffersKept {
		return nil, status.New(status.Communication, "rank %d offers nothing under number %d", rank, number)
	}
	c := &Collection{from: &b.slot(rank).presence, rank: rank, into: into}
	c.offer = &c.from.offers[number]
	if !atomic.CompareAndSwapUint32(&c.offer.state, offered, claimed) {
		if atomic.CompareAndSwapUint32(&c.offer.state, withdrawn, free) {
			return nil, c.givenUp()
		}
		return nil, status.New(status.Communication, "rank %d offers nothing under number %d", rank, number)
	}
	if c.offer.bytes != int64(bytes) {
		c.offer.settle(failed)
		return nil, status.New(status.Communication, "rank %d offers %d bytes where %d were announced", rank, c.offer.bytes, bytes)
	}
	if bytes <= leastPart {
		return nil, c.alone()
	}
	c.offer.share(b.rank, into)
	c.offer.copyParts(c.from, unix.ProcessVMReadv, into, c.offer.addr)
	for range briefLooks {
		if over, err := c.Test(); over {
			return nil, err
		}
		Pause()
	}
	return c, nil
}

// Collection is a copy that waits for the rank whose elements it takes to end its share.
type Collection struct {
	offer *offer
	from  *presence
	rank  int
	into  unsafe.Pointer
	looks int
}

// Test reports whether the copy is over. The error says that the elements are not there.
func (c *Collection) Test() (over bool, err error) {
	const looks = 4096
	if c.offer.outstanding() {
		if c.looks++; c.looks%looks != 0 || c.from.there() {
			return false, nil
		}
		c.offer.settle(failed)
		return true, c.lost(errors.New("its process has ended"))
	}
	if atomic.LoadUint32(&c.offer.spoilt) != 0 {
		return true, c.alone()
	}
	return true, c.end()
}

// GiveUp ends the wait. The other rank may write to the memory here until its process has ended.
func (c *Collection) GiveUp() { c.offer.settle(failed) }

// alone copies all of it without the other's help.
func (c *Collection) alone() error {
	if err := c.from.copy(unix.ProcessVMReadv, c.into, c.offer.addr, c.offer.bytes); err != nil {
		c.offer.settle(failed)
		return c.lost(err)
	}
	return c.end()
}

// end lets the other rank have its elements back, unless it has not waited for that.
func (c *Collection) end() error {
	if !c.offer.settle(taken) {
		return c.givenUp()
	}
	return nil
}

func (c *Collection) lost(why error) error {
	return status.New(status.Communication, "the message of rank %d was lost: %w", c.rank, why)
}

func (c *Collection) givenUp() error {
	return status.New(status.Communication, "rank %d gave the message up before it was received", c.rank)
}

// settle ends an offer for who has claimed it, and reports whether its rank was waiting for that.
func (o *offer) settle(as uint32) bool {
	for {
		state := atomic.LoadUint32(&o.state)
		if state == withdrawn {
			atomic.StoreUint32(&o.state, free)
			return false
		}
		if atomic.CompareAndSwapUint32(&o.state, state, as) {
			return true
		}
	}
}

// Copying reports whether a rank whose elements code outside Go collects still copies its share. The error says that its
// process has ended.
func (b *Board) Copying(rank, number int) (bool, error) {
	p := &b.slot(rank).presence
	if !p.offers[number].outstanding() {
		return false, nil
	}
	if !p.there() {
		return false, status.New(status.Communication, "the message of rank %d was lost: its process has ended", rank)
	}
	return true, nil
}

// offering reports whether an offer of this rank is open: somebody may look for it at any time.
func (b *Board) offering() bool {
	for i := range b.slot(b.rank).presence.offers {
		if atomic.LoadUint32(&b.slot(b.rank).presence.offers[i].state) != free {
			return true
		}
	}
	return false
}

// An offer is a whole cache line.
const _ = uint(64-unsafe.Sizeof(offer{})) + uint(unsafe.Sizeof(offer{})-64)
