// Package cma is cross-memory attach: the kernel copies long elements from the process that has them to the one that
// needs them, if it may access the other's memory.
//
// What ranks write for each other for this is laid out in cma.h, and processed in cma.c, both for this package and for
// the code outside Go that sends and receives messages itself. A call into C takes longer than one of Go's, which does
// not matter beside a copy by the kernel.
package cma

/*
#cgo noescape dtl_process_read
#cgo noescape dtl_process_write
#cgo nocallback dtl_process_read
#cgo nocallback dtl_process_write
#cgo nocallback dtl_offer_make
#cgo nocallback dtl_offer_look
#cgo nocallback dtl_offer_withdraw
#cgo nocallback dtl_offer_free
#cgo nocallback dtl_offers_open
#cgo nocallback dtl_offer_claim
#cgo nocallback dtl_offer_discard
#cgo nocallback dtl_offer_copy
#cgo nocallback dtl_offer_outstanding
#cgo nocallback dtl_offer_finish
#cgo nocallback dtl_offer_fail
#include "cma.h"
*/
import "C"

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"sync/atomic"
	"syscall"
	"unsafe"

	"dtl/core/status"
)

// OffersKept is how many offers of a rank may be open at once.
const OffersKept = C.DTL_OFFERS

// The states of an offer for which Settled has not to call C.
const open, claimed = C.DTL_OFFER_OPEN, C.DTL_OFFER_CLAIMED

// Presence is what a rank lets others know of its process, and what it offers them. It lies in memory that they share.
type Presence C.dtl_presence

// Introduce tells the others of this process, and sets the key by which they know it, which stays where it is.
func (p *Presence) Introduce(process int, key *uint64) {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	*key = binary.LittleEndian.Uint64(random[:])
	p.key, p.lie = C.uint64_t(*key), C.uint64_t(uintptr(unsafe.Pointer(key)))
	atomic.StoreInt64((*int64)(&p.process), int64(process))
}

// there reports whether the process is that of its key, and can be read.
func (p *Presence) there() bool {
	key := ^p.key
	return C.dtl_process_read(p.process, unsafe.Pointer(&key), p.lie, 8) == 0 && key == p.key
}

// Presences is where one rank finds the presence of each.
type Presences struct{ c C.dtl_presences }

// At returns where a rank finds the presences of so many: the first, and the others so many bytes apart. They do not move.
func At(first *Presence, stride, rank, size int) Presences {
	return Presences{C.dtl_presences{
		first: C.uint64_t(uintptr(unsafe.Pointer(first))), stride: C.uint64_t(stride), rank: C.int32_t(rank), size: C.int32_t(size),
	}}
}

func (p *Presences) of(rank int) *Presence { return (*Presence)(C.dtl_presence_of(&p.c, C.int(rank))) }

func (p *Presences) offer(rank, number int) *C.dtl_offer { return &p.of(rank).offers[number] }

// TryReading finds out whether this rank can read the others' memory, and lets them know. All have introduced themselves.
func (p *Presences) TryReading() {
	for rank := range int(p.c.size) {
		if !p.of(rank).there() {
			return
		}
	}
	atomic.StoreUint32((*uint32)(&p.of(int(p.c.rank)).reads), 1)
}

// Reads reports whether a rank can read the memory of every other.
func (p *Presences) Reads(rank int) bool { return atomic.LoadUint32((*uint32)(&p.of(rank).reads)) != 0 }

// Alive reports whether a rank's process is there, where this one can read its memory; else yes.
func (p *Presences) Alive(rank int) bool { return !p.Reads(int(p.c.rank)) || p.of(rank).there() }

// Read copies bytes from an address in a rank's process.
func (p *Presences) Read(rank int, here unsafe.Pointer, there uint64, bytes int) error {
	return reached(rank, C.dtl_process_read(p.of(rank).process, here, C.uint64_t(there), C.int64_t(bytes)))
}

// Write copies bytes to an address in a rank's process.
func (p *Presences) Write(rank int, here unsafe.Pointer, there uint64, bytes int) error {
	return reached(rank, C.dtl_process_write(p.of(rank).process, here, C.uint64_t(there), C.int64_t(bytes)))
}

func reached(rank int, errno C.int) error {
	if errno == 0 {
		return nil
	}
	return status.New(status.Communication, "rank %d's memory: %w", rank, unreachable(errno))
}

func unreachable(errno C.int) error {
	return errors.Join(syscall.Errno(errno), errors.New("the memory of the other process cannot be reached"))
}

// Offer lets a rank that learns the number have bytes from an address here, which stay there until Settled or Withdraw
// say otherwise. It reports false where too many offers are open.
func (p *Presences) Offer(addr unsafe.Pointer, bytes int) (number int, ok bool) {
	number = int(C.dtl_offer_make(&p.c, addr, C.int64_t(bytes)))
	return max(number, 0), number >= 0
}

// Settled reports whether an offer of this rank is over, once: then its number is free. The error says that whoever
// claimed it has not got the elements. While somebody copies, this rank helps.
func (p *Presences) Settled(number int) (over bool, err error) {
	switch state := atomic.LoadUint32((*uint32)(&p.offer(int(p.c.rank), number).state)); state {
	case open, claimed: // most looks end here, without a call into C
		return false, nil
	}
	switch C.dtl_offer_look(&p.c, C.int(number)) {
	case C.DTL_OFFER_TAKEN:
		return true, nil
	case C.DTL_OFFER_FAILED:
		p.Revoke(number)
		return true, status.New(status.Communication, "the receiver could not copy the elements")
	}
	return false, nil
}

// Withdraw takes an offer back: the elements may be used again, for who copies them now does not keep them. It does not
// wait for that process, which may be stopped.
func (p *Presences) Withdraw(number int) { C.dtl_offer_withdraw(&p.c, C.int(number)) }

// Revoke takes an offer back that nobody was told of, or that those who were will not come for. Its number is free.
func (p *Presences) Revoke(number int) { C.dtl_offer_free(&p.c, C.int(number)) }

// Offering reports whether an offer of this rank is open: somebody may look for it at any time.
func (p *Presences) Offering() bool { return C.dtl_offers_open(&p.c) != 0 }

// briefLooks is how often a rank that has copied its parts looks whether the other has, too, before it waits in other ways:
// several times as long as that takes where the other rank runs.
const briefLooks = 20_000

// Collect fills memory here with what a rank offers under a number. Where that rank still copies its share after a while,
// it returns a Collection to wait for.
func (p *Presences) Collect(rank, number int, into unsafe.Pointer, bytes int) (*Collection, error) {
	if rank < 0 || rank >= int(p.c.size) || number < 0 || number >= OffersKept {
		return nil, status.New(status.Communication, "rank %d offers nothing under number %d", rank, number)
	}
	c := &Collection{all: p, offer: p.offer(rank, number), rank: rank, number: number, into: into}
	if C.dtl_offer_claim(c.offer) == 0 {
		if C.dtl_offer_discard(c.offer) != 0 {
			return nil, c.givenUp()
		}
		return nil, status.New(status.Communication, "rank %d offers nothing under number %d", rank, number)
	}
	if c.offer.bytes != C.int64_t(bytes) {
		C.dtl_offer_fail(c.offer)
		return nil, status.New(status.Communication, "rank %d offers %d bytes where %d were announced", rank, c.offer.bytes, bytes)
	}
	C.dtl_offer_copy(&p.c, C.int(rank), C.int(number), into, briefLooks)
	if over, err := c.Test(); over {
		return nil, err
	}
	return c, nil
}

// Collection is a copy that waits for the rank whose elements it takes to end its share.
type Collection struct {
	all          *Presences
	offer        *C.dtl_offer
	rank, number int
	into         unsafe.Pointer
	looks        int
}

// Test reports whether the copy is over. The error says that the elements are not there.
func (c *Collection) Test() (over bool, err error) {
	const looks = 4096
	if c.outstanding() {
		if c.looks++; c.looks%looks != 0 || c.all.of(c.rank).there() {
			return false, nil
		}
		C.dtl_offer_fail(c.offer)
		return true, c.lost(errors.New("its process has ended"))
	}
	switch failed := C.dtl_offer_finish(&c.all.c, C.int(c.rank), C.int(c.number), c.into); failed {
	case 0:
		return true, nil
	case C.DTL_GIVEN_UP:
		return true, c.givenUp()
	default:
		return true, c.lost(unreachable(failed))
	}
}

// outstanding is dtl_offer_outstanding, which is asked in a loop.
func (c *Collection) outstanding() bool {
	return atomic.LoadInt64((*int64)(&c.offer.finished)) < int64(c.offer.bytes)
}

// GiveUp ends the wait. The other rank may write to the memory here until its process has ended.
func (c *Collection) GiveUp() { C.dtl_offer_fail(c.offer) }

func (c *Collection) lost(why error) error {
	return status.New(status.Communication, "the message of rank %d was lost: %w", c.rank, why)
}

func (c *Collection) givenUp() error {
	return status.New(status.Communication, "rank %d gave the message up before it was received", c.rank)
}

// Copying reports whether a rank whose elements code outside Go collects still copies its share. The error says that its
// process has ended.
func (p *Presences) Copying(rank, number int) (bool, error) {
	if C.dtl_offer_outstanding(p.offer(rank, number)) == 0 {
		return false, nil
	}
	if !p.of(rank).there() {
		return false, status.New(status.Communication, "the message of rank %d was lost: its process has ended", rank)
	}
	return true, nil
}
