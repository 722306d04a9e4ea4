package board

import (
	"sync/atomic"
	"unsafe"

	"dtl/core/status"
)

// A rank offers long elements to another, which copies them from where they lie: one copy, by the kernel, which lets a
// process read another's memory if it may trace it. The rank that waits for that meanwhile takes a share in the work.

// OffersKept is how many offers of a rank may be open at once.
const OffersKept = 16

// What becomes of an offer. Only its rank makes it, and frees its place; only who is told of it claims it.
const (
	free      uint32 = iota // there is none
	offered                 // until somebody claims it
	claimed                 // by somebody who copies
	shared                  // and lets the rank help
	taken                   // the elements may be used again
	failed                  // so they may, but nobody has them
	withdrawn               // before anybody came
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

// Withdraw takes an offer back, and reports whether it could: not once somebody copies. Its number stays taken until
// whoever was told of it comes for it.
func (b *Board) Withdraw(number int) bool {
	return atomic.CompareAndSwapUint32(&b.slot(b.rank).presence.offers[number].state, offered, withdrawn)
}

// Revoke takes an offer back that nobody was told of, or that those who were will not come for. Its number is free.
func (b *Board) Revoke(number int) {
	atomic.StoreUint32(&b.slot(b.rank).presence.offers[number].state, free)
}

// Collect fills memory here with what a rank offers under a number.
func (b *Board) Collect(rank, number int, into unsafe.Pointer, bytes int) error {
	if rank < 0 || rank >= b.size || number < 0 || number >= OffersKept {
		return status.New(status.Communication, "rank %d offers nothing under number %d", rank, number)
	}
	p := &b.slot(rank).presence
	o := &p.offers[number]
	if !atomic.CompareAndSwapUint32(&o.state, offered, claimed) {
		if atomic.CompareAndSwapUint32(&o.state, withdrawn, free) {
			return status.New(status.Communication, "rank %d gave the message up before it was received", rank)
		}
		return status.New(status.Communication, "rank %d offers nothing under number %d", rank, number)
	}
	var err error
	if o.bytes != int64(bytes) {
		err = status.New(status.Communication, "rank %d offers %d bytes where %d were announced", rank, o.bytes, bytes)
	} else if err = o.take(p, b.rank, into); err != nil {
		err = status.New(status.Communication, "the message of rank %d was lost: %w", rank, err)
	}
	if err != nil {
		atomic.StoreUint32(&o.state, failed)
		return err
	}
	atomic.StoreUint32(&o.state, taken)
	return nil
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
