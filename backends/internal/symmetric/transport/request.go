package transport

/*
#cgo noescape dtl_send_at
#cgo noescape dtl_receive_at
#cgo noescape dtl_try_receive_at
#cgo noescape dtl_wait_at
#cgo noescape dtl_schedule_at
#include "schedule.h"

// What a call leaves, by value: Go need not keep memory for it.
struct begun {
	int rc, over;
	struct dtl_request *request;
	struct dtl_arrived came;
};

static struct begun dtl_send_at(struct dtl_group *g, int channel, uintptr_t buf, int64_t bytes, int dest, int tag, int64_t patience) {
	struct begun b = {0};
	b.rc = dtl_send(g, channel, (const void *)buf, bytes, dest, tag, patience, &b.request);
	return b;
}

static struct begun dtl_receive_at(struct dtl_group *g, int channel, uintptr_t buf, int64_t bytes, int source, int tag,
                                   int64_t patience) {
	struct begun b = {0};
	b.rc = dtl_receive(g, channel, (void *)buf, bytes, source, tag, patience, &b.request, &b.came);
	return b;
}

static struct begun dtl_try_receive_at(struct dtl_group *g, uintptr_t buf, int64_t bytes, int source, int tag) {
	struct begun b = {0};
	b.rc = dtl_try_receive(g, (void *)buf, bytes, source, tag, &b.over, &b.request, &b.came);
	return b;
}

static struct begun dtl_schedule_at(struct dtl_group *g, int channel, int tag, const struct dtl_step *steps, int64_t n,
                                    int64_t patience) {
	struct begun b = {0};
	b.rc = dtl_schedule(g, channel, tag, steps, n, patience, &b.request);
	return b;
}

static struct begun dtl_wait_at(struct dtl_request *request, int64_t patience) {
	struct begun b = {.request = request};
	b.rc = dtl_wait(&b.request, patience, &b.over, &b.came);
	return b;
}
*/
import "C"

import (
	"sync"
	"time"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/status"
)

// Request is a send or receive, under way or complete.
type Request struct {
	engine   *Engine
	buf      memory.Span // which stays until it is complete
	receives bool
	mu       sync.Mutex
	c        *C.struct_dtl_request // nil: it is complete
	status   backend.Status
	err      error
	kept     bool
	ended    func() // called when somebody sees that it is complete; nil: nothing
}

var _ backend.NativeRequest = (*Request)(nil)

// unhurried is the patience of a call that only starts something.
const unhurried = time.Duration(-1)

// Send starts a send to a rank, and waits for about patience; a negative one is not to look.
func (g *Group) Send(on Channel, buf memory.Span, dest, tag int, patience time.Duration) *Request {
	b := C.dtl_send_at(g.c, C.int(on), C.uintptr_t(uintptr(buf.Addr)), C.int64_t(buf.Bytes()), C.int(dest), C.int(tag),
		C.int64_t(patience))
	return g.begun(b, buf, false)
}

// Receive starts a receive from a rank or backend.AnySource, and waits for about patience.
func (g *Group) Receive(on Channel, buf memory.Span, source, tag int, patience time.Duration) *Request {
	b := C.dtl_receive_at(g.c, C.int(on), C.uintptr_t(uintptr(buf.Addr)), C.int64_t(buf.Bytes()), C.int(source), C.int(tag),
		C.int64_t(patience))
	return g.begun(b, buf, true)
}

// TryReceive is Receive of a message that has come, and reports whether there is one.
func (g *Group) TryReceive(buf memory.Span, source, tag int) (*Request, bool) {
	b := C.dtl_try_receive_at(g.c, C.uintptr_t(uintptr(buf.Addr)), C.int64_t(buf.Bytes()), C.int(source), C.int(tag))
	if b.over == 0 && b.rc == C.DTL_WELL {
		return nil, false
	}
	return g.begun(b, buf, true), true
}

// Run starts a schedule, whose steps may be changed then, and waits for about patience. The messages have a tag that no other
// schedule under way on the channel has. ended is called when somebody sees that all is done.
func (g *Group) Run(on Channel, tag int, s *Schedule, patience time.Duration, ended func()) *Request {
	b := C.dtl_schedule_at(g.c, C.int(on), C.int(tag), unsafe.SliceData(s.steps), C.int64_t(len(s.steps)), C.int64_t(patience))
	r := g.begun(b, memory.Span{}, false)
	if r.c == nil {
		ended()
	} else {
		r.ended = ended
	}
	return r
}

// begun makes a request of what a call has left.
func (g *Group) begun(b C.struct_begun, buf memory.Span, receives bool) *Request {
	r := &Request{engine: g.engine, buf: buf, receives: receives, c: b.request}
	if b.request == nil {
		r.finish(b.rc, b.came)
	}
	return r
}

// finish records how the operation has ended.
func (r *Request) finish(rc C.int, came C.struct_dtl_arrived) {
	if rc == C.DTL_ENDED {
		select {} // as Engine.Lock does
	}
	r.c = nil
	r.err = failure(rc)
	if r.ended != nil {
		r.ended()
	}
	if !r.receives {
		return
	}
	r.status = backend.Status{
		Source: int(came.source), Tag: int(came.tag), Bytes: int(came.bytes), Cancelled: came.cancelled != 0,
	}
	if rc == C.DTL_TRUNCATED {
		r.err = status.New(status.Communication, "message of %d bytes from rank %d with tag %d truncated: the buffer has %d",
			r.status.Bytes, r.status.Source, r.status.Tag, r.buf.Bytes())
	}
}

// failure returns the error of what a call returned.
func failure(rc C.int) error {
	switch rc {
	case C.DTL_WELL:
		return nil
	case C.DTL_NO_MEMORY:
		return status.New(status.OutOfMemory, "no memory for a message")
	default:
		return status.New(status.Communication, "messages have ended in this process: error code %d", int(rc))
	}
}

// Keep has the buffer stay until the operation is complete, also where nobody has the request any more.
func (r *Request) Keep() *Request {
	if r.c != nil {
		r.engine.mu.Lock()
		defer r.engine.mu.Unlock()
		r.kept, r.engine.left[r] = true, true
	}
	return r
}

// Done reports whether the operation was complete when somebody looked last, and its result if so.
func (r *Request) Done() (backend.Status, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status, r.c == nil, r.err
}

// Wait blocks until the operation is complete.
func (r *Request) Wait() (backend.Status, error) {
	for {
		if s, done, err := r.WaitFor(time.Hour); done {
			return s, err
		}
	}
}

// WaitFor is Wait that gives up after d. Another goroutine that waits for the same operation waits for its turn.
func (r *Request) WaitFor(d time.Duration) (backend.Status, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.look(max(d, 0))
}

// Test moves what can be moved, and reports whether the operation is complete. It is not while another goroutine waits for it.
func (r *Request) Test() (backend.Status, bool, error) {
	if !r.mu.TryLock() {
		return backend.Status{}, false, nil
	}
	defer r.mu.Unlock()
	return r.look(0)
}

func (r *Request) look(patience time.Duration) (backend.Status, bool, error) {
	if r.c != nil {
		b := C.dtl_wait_at(r.c, C.int64_t(patience))
		if b.rc == C.DTL_WELL && b.over == 0 {
			return backend.Status{}, false, nil
		}
		r.finish(b.rc, b.came)
		if r.kept {
			r.engine.mu.Lock()
			delete(r.engine.left, r)
			r.engine.mu.Unlock()
		}
	}
	return r.status, true, r.err
}

// Cancel takes a receive back that no message has come to.
func (r *Request) Cancel() error {
	if !r.receives {
		return status.New(status.Unsupported, "only a receive can be cancelled")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.c != nil && C.dtl_cancel(r.c) == C.DTL_ENDED {
		select {}
	}
	return nil
}

// Native returns what code outside Go knows the operation by.
func (r *Request) Native() (number uint64, peek uintptr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.c == nil {
		return 0, 0
	}
	return uint64(uintptr(unsafe.Pointer(r.c))), uintptr(unsafe.Pointer(C.dtl_direct_peek))
}

// Direct returns the functions for messages of the group, for code outside Go.
func (g *Group) Direct() backend.Direct {
	return backend.Direct{
		Comm:    uint64(uintptr(unsafe.Pointer(g.c))),
		SendFor: uintptr(unsafe.Pointer(C.dtl_direct_send)), RecvFor: uintptr(unsafe.Pointer(C.dtl_direct_receive)),
		WaitFor: uintptr(unsafe.Pointer(C.dtl_direct_wait)), Cancel: uintptr(unsafe.Pointer(C.dtl_direct_cancel)),
	}
}

// Adopt returns the request of a send that Direct's SendFor has started, whose buffer is the caller's to keep.
func (g *Group) Adopt(native uint64) *Request {
	return &Request{engine: g.engine, c: *(**C.struct_dtl_request)(unsafe.Pointer(&native))}
}

// Failure returns the error of Direct's SendFor.
func (g *Group) Failure(rc int) error { return failure(C.int(rc)) }
