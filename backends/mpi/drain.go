package mpi

// #include "calls.h"
import "C"

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// MPI gives the number of a communicator that was freed to the next one, on each rank by itself, and takes a message that
// comes late for one of the other communicator. So the ranks count what they have sent and received, and free a
// communicator when all that was sent has been received.

var _ backend.Drainer = (*Comm)(nil)

// draining is how far a rank has come in asking whether messages are under way.
type draining struct {
	mu    sync.Mutex
	round backend.Request // the sum over all ranks of what is under way, as of when each came to it; nil: none is
}

// messages returns the number by which C's functions for messages know the communicator: 0 if it has been freed.
func (c *Comm) messages() C.uint64_t {
	if c == nil || c.freed.Load() {
		return 0
	}
	return C.uint64_t(uintptr(unsafe.Pointer(c.traffic)))
}

// testsOfRound is how often a look tests whether the ranks have answered: an answer takes some steps, of which a test makes one.
const testsOfRound = 8

// Drained drops the short messages that have come by c and by another communicator of the same ranks, and reports whether
// none is under way to any rank. The ranks ask each other by collectives that do not block. Where a long message stays, the
// answer stays no.
func (c *Comm) Drained(other backend.Communicator) (bool, error) {
	if c.freed.Load() || c.m.finalized() {
		return true, nil
	}
	both := [2]*Comm{c, other.(*Comm)}
	d := &c.draining
	d.mu.Lock()
	defer d.mu.Unlock()
	var underWay int64
	for _, one := range both {
		if err := one.drop(); err != nil {
			return false, err
		}
		sent, received := (*int64)(&one.traffic.sent), (*int64)(&one.traffic.received)
		underWay += atomic.LoadInt64(sent) - atomic.LoadInt64(received)
	}
	if d.round == nil {
		c.traffic.under_way = C.int64_t(underWay)
		round, err := c.Iallreduce(number(&c.traffic.under_way), number(&c.traffic.of_all), kernel.Sum)
		if err != nil {
			return false, err
		}
		d.round = round
	}
	over, err := d.answered()
	return over && c.traffic.of_all == 0, err
}

// answered reports whether the round is over.
func (d *draining) answered() (over bool, err error) {
	for tests := 0; tests < testsOfRound && !over; tests++ {
		if _, over, err = d.round.Test(); err != nil {
			return false, err
		}
	}
	if over {
		d.round = nil
	}
	return over, nil
}

// drop receives and forgets the short messages that have come.
func (c *Comm) drop() error {
	for found := C.int(1); found != 0; {
		if rc := C.dtl_mpi_drop(c.m.c, c.messages(), &found); rc != 0 {
			return c.m.failure("MPI_Iprobe", rc)
		}
	}
	return nil
}

// number returns a number of C's as an element.
func number(at *C.int64_t) memory.Span {
	return memory.Span{Addr: unsafe.Pointer(at), Count: 1, Type: dtype.Int64}
}
