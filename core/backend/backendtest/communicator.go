// Package backendtest has the suites that every backend passes unchanged. A backend's own test is one call for each
// contract that it implements.
package backendtest

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// Run calls body on every rank of one communicator that this process holds, each from a goroutine of its
// own, and returns when all are done. Where a process is a rank, it calls body once, and every process runs
// the same suite. Body reports with t.Errorf and never stops early, which would leave the others waiting.
type Run func(t *testing.T, body func(t *testing.T, c backend.ReducingCommunicator))

// suite is a part of Communicator.
type suite struct {
	name string
	body func(r *rank)
}

// messages are the suites of messages, in their order.
var messages = []suite{
	{"identity", identity},
	{"every type to the next rank", ring},
	{"messages keep their order", ordering},
	{"tags select", tags},
	{"largest tag", largestTag},
	{"wildcards", wildcards},
	{"the first receive that matches", firstOfReceives},
	{"receive what is there", tryRecv},
	{"shorter than the buffer", shorter},
	{"no elements", empty},
	{"test and wait", testAndWait},
	{"receive posted before the send", postedFirst},
	{"large messages head to head", headToHead},
	{"patience", patience},
	{"long sends", longSends},
	{"cancel", cancel},
	{"null process", nullProcess},
}

// groups are the suites of communicators that are made of others, and of their collectives.
var groups = []suite{
	{"dup is apart", dupApart},
	{"split by color and key", split},
	{"split with ranks left out", splitLeftOut},
	{"split by node", splitByNode},
	{"barrier", barrier},
	{"broadcast", broadcast},
	{"gather", gather},
	{"scatter", scatter},
	{"allgather", allgather},
	{"alltoall", alltoall},
	{"exchange", exchange},
	{"reductions", reductions},
	{"scans", scans},
	{"reduce and scatter", reduceScatter},
	{"NaN and the zeros", nans},
	{"operators that a type lacks", lacking},
}

// Communicator checks a backend's communicator against the contract of the interface: every element type,
// sizes from none to far beyond what is sent eagerly, and every root. It ends with no message pending.
func Communicator(t *testing.T, run Run) {
	Messages(t, run)
	pass(t, run, groups)
}

// Messages is the part of Communicator that is about messages.
func Messages(t *testing.T, run Run) { pass(t, run, messages) }

func pass(t *testing.T, run Run, suites []suite) {
	for _, suite := range suites {
		t.Run(suite.name, func(t *testing.T) {
			run(t, func(t *testing.T, c backend.ReducingCommunicator) {
				r := &rank{T: t, c: c}
				defer r.pins.Unpin()
				suite.body(r)
				r.ok("barrier", c.Barrier())
				left := r.room(dtype.Uint8, 8*large)
				if s, pending, err := c.TryRecv(left.Span, backend.AnySource, backend.AnyTag); pending || err != nil {
					r.Errorf("rank %d: left pending: %+v, %v", c.Rank(), s, err)
				}
				r.ok("barrier", c.Barrier())
			})
		})
	}
}

// rank is one rank's side of a test.
type rank struct {
	*testing.T
	c    backend.ReducingCommunicator
	pins runtime.Pinner

	from   memory.Allocator // of buffers; nil: they are Go's, and pinned
	blocks []memory.Block
}

// ok reports err, if any, as the failure of what.
func (r *rank) ok(what string, err error) {
	r.Helper()
	if err != nil {
		r.Errorf("rank %d of %d: %s: %v", r.c.Rank(), r.c.Size(), what, err)
	}
}

// is reports unless err has the code.
func (r *rank) is(what string, err error, code status.Code) {
	r.Helper()
	if !errors.Is(err, code) {
		r.Errorf("rank %d of %d: %s: %v, want an error that is %q", r.c.Rank(), r.c.Size(), what, err, code)
	}
}

// got reports unless got is want.
func got[T comparable](r *rank, what string, got, want T) {
	r.Helper()
	if got != want {
		r.Errorf("rank %d of %d: %s: %+v, want %+v", r.c.Rank(), r.c.Size(), what, got, want)
	}
}

// next and previous are the neighbours on a ring; on one rank, itself.
func (r *rank) next() int     { return (r.c.Rank() + 1) % r.c.Size() }
func (r *rank) previous() int { return (r.c.Rank() + r.c.Size() - 1) % r.c.Size() }

// isend starts a send, and returns what waits for it. Blocking sends could deadlock where nothing is buffered.
func (r *rank) isend(b buffer, dest, tag int) (wait func()) {
	r.Helper()
	req, err := r.c.Isend(b.Span, dest, tag)
	r.ok("isend", err)
	return func() {
		r.Helper()
		_, err := req.Wait()
		r.ok("wait for isend", err)
	}
}

// send sends and waits until b may be used again.
func (r *rank) send(b buffer, dest, tag int) {
	r.Helper()
	req, err := r.c.SendFor(b.Span, dest, tag, time.Millisecond)
	r.ok("send", err)
	if req != nil {
		_, err = req.Wait()
		r.ok("wait for send", err)
	}
}

// take receives into s.
func (r *rank) take(s memory.Span, source, tag int) backend.Status {
	r.Helper()
	st, req, err := r.c.RecvFor(s, source, tag, time.Millisecond)
	r.ok("recv", err)
	if req != nil {
		st, err = req.Wait()
		r.ok("wait for recv", err)
	}
	return st
}

// recv receives into b, and checks the status and that the message is what seed gives.
func (r *rank) recv(b buffer, source, tag int, seed uint64) {
	r.Helper()
	got(r, "status", r.take(b.Span, source, tag), backend.Status{Source: source, Tag: tag, Bytes: b.Bytes()})
	b.holds(r, "message", seed)
}

func identity(r *rank) {
	if n, size := r.c.Rank(), r.c.Size(); n < 0 || n >= size {
		r.Errorf("rank %d outside [0, %d)", n, size)
	}
	if n := r.c.TagBound(); n < 32768 {
		r.Errorf("tag bound %d, but MPI promises at least 32768 tags", n)
	}
}
