package mpi

/*
#include "calls.h"

#cgo noescape dtl_mpi_match
#cgo noescape dtl_mpi_take
*/
import "C"

import (
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/status"
)

// MPICH starts a receive from any source twice, in shared memory and in the network, and takes one of them back when the other
// has a message. Where ranks are on several nodes, some such receives of MPICH 5.0.2 never end: their message has come, which a
// probe finds, and they do not get it. There a receive from any source is a probe until its message has come. So is each receive
// that begins while such a one waits and could take its message: of two receives that match, MPI gives the message to the first.

// probes are the receives of a communicator that wait for a message by probing, in the order in which they began.
type probes struct {
	mu      sync.Mutex
	waiting []*probe
}

// probe is one of them.
type probe struct {
	comm        *Comm
	buf         memory.Span
	source, tag int
	over        bool
	status      backend.Status
	err         error
}

var _ backend.Request = (*probe)(nil)

// isMPICH reports whether a library is MPICH, or one that is made of it.
func isMPICH(m calls) bool { return strings.Contains(m.version(), "MPICH") }

// probing has receives of c from any source probe, where MPI may not complete them. Collective.
func probing(c *Comm, err error) (*Comm, error) {
	if err != nil || c.size == 1 || !isMPICH(c.m) {
		return c, err
	}
	node, err := c.SplitByNode()
	if err != nil {
		_ = c.Close() // the first error is the one to report
		return nil, err
	}
	if node.Size() < c.size {
		c.probes = &probes{}
	}
	return c, node.Close()
}

// probe begins a receive that probes; nil where MPI is to receive.
func (c *Comm) probe(buf memory.Span, source, tag int) *probe {
	if c.probes == nil || source == backend.ProcNull {
		return nil
	}
	p := &probe{comm: c, buf: buf, source: source, tag: tag}
	q := c.probes
	q.mu.Lock()
	defer q.mu.Unlock()
	if source != backend.AnySource && !slices.ContainsFunc(q.waiting, p.competes) {
		return nil
	}
	q.waiting = append(q.waiting, p)
	return p
}

// competes reports whether there are messages that both match.
func (p *probe) competes(other *probe) bool {
	meet := func(a, b, wildcard int) bool { return a == b || a == wildcard || b == wildcard }
	return meet(p.source, other.source, backend.AnySource) && meet(p.tag, other.tag, backend.AnyTag)
}

// matches reports whether the message that st describes is one for p.
func (p *probe) matches(st backend.Status) bool {
	return p.competes(&probe{source: st.Source, tag: st.Tag})
}

// Wait looks until the message has come.
func (p *probe) Wait() (backend.Status, error) {
	for {
		if st, over, err := p.WaitFor(time.Second); over {
			return st, err
		}
	}
}

// WaitFor looks until the message has come, or d has gone. Like MPI's own, it lets others have the core after a while.
func (p *probe) WaitFor(d time.Duration) (backend.Status, bool, error) {
	const looksAtOnce, selfish = 16, 100 * time.Microsecond
	var start time.Time
	for looks := 1; ; looks++ {
		if st, over, err := p.Test(); over || d <= 0 {
			return st, over, err
		}
		if looks%looksAtOnce != 0 {
			continue
		}
		if start.IsZero() {
			start = time.Now()
		}
		gone := time.Since(start)
		if gone >= d {
			return backend.Status{}, false, nil
		}
		if gone >= selfish {
			_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		}
	}
}

// Test looks once, for the messages of those that began before it, too.
func (p *probe) Test() (backend.Status, bool, error) {
	q := p.comm.probes
	q.mu.Lock()
	defer q.mu.Unlock()
	for !p.over {
		taker, err := q.deliver(p)
		if err != nil {
			q.end(p, backend.Status{}, err)
		}
		if taker == nil {
			break
		}
	}
	return p.status, p.over, p.err
}

// once looks once, and does not wait for what has not come.
func (p *probe) once() (backend.Status, bool, error) {
	st, over, err := p.Test()
	if !over {
		_ = p.Cancel()
	}
	return st, over, err
}

// Cancel takes the receive back, unless its message has come.
func (p *probe) Cancel() error {
	q := p.comm.probes
	q.mu.Lock()
	defer q.mu.Unlock()
	q.end(p, backend.Status{Cancelled: true}, nil)
	return nil
}

// deliver gives a message that p matches to the first receive that matches it, which is p or began before p, and returns that;
// nil if none has come. The caller holds the lock, as with end.
func (q *probes) deliver(p *probe) (*probe, error) {
	c := p.comm
	if c.freed.Load() {
		return nil, status.New(status.InvalidHandle, "the communicator has been closed")
	}
	var st C.struct_dtl_status
	var found C.int
	var message C.uint64_t
	rc := C.dtl_mpi_match(c.m.c, c.messages(), C.int(p.source), C.int(p.tag), &found, &message, &st)
	if rc != 0 || found == 0 {
		return nil, c.m.failure("MPI_Improbe", rc)
	}
	came := statusOf(&st)
	taker := q.waiting[slices.IndexFunc(q.waiting, func(one *probe) bool { return one.matches(came) })]
	rc = C.dtl_mpi_take(c.m.c, message, taker.buf.Addr, C.int64_t(taker.buf.Count), C.int(taker.buf.Type))
	q.end(taker, came, c.m.failure("MPI_Mrecv", rc))
	return taker, nil
}

// end ends a receive that is not over.
func (q *probes) end(p *probe, st backend.Status, err error) {
	if p.over {
		return
	}
	p.over, p.status, p.err = true, st, err
	q.waiting = slices.DeleteFunc(q.waiting, func(one *probe) bool { return one == p })
}
