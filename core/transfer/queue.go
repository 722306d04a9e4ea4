package transfer

import (
	"errors"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/phase"
)

const (
	// lane keeps a transfer's messages apart from those of comm.Exchange.
	lane = 1
	// depth is how many messages of a direction are under way at most.
	depth = 64
)

// queue is what this rank sends, or what it receives, in the order that all ranks follow.
type queue struct {
	comm   *comm.Comm
	flows  []*flow
	step   int // of the next message
	buffer unsafe.Pointer
	slot   int64 // bytes of a buffer
	slots  int64
	used   int64  // buffers that have been handed out
	taken  int64  // of these, those that are out now
	out    []item // messages under way, in order
	bytes  int64  // of these
	failed error
}

// item is a message under way.
type item struct {
	message
	flow    *flow
	step    int
	packed  bool
	request backend.Request
}

// more returns the flow of the next message, or nil if there is none.
func (q *queue) more() *flow {
	for ; q.step < len(q.flows); q.step++ {
		if f := q.flows[q.step]; f != nil && f.left > 0 {
			return f
		}
	}
	return nil
}

// free reports whether the next message, one of f's, can be put under way now.
func (q *queue) free(f *flow) bool {
	if memory.Limit() > 0 && q.bytes >= memory.Piece { // pages of files that are under way are resident
		return false
	}
	return len(q.out) < depth && (!f.packed || q.taken < q.slots)
}

// cut takes the next message from f, and a buffer for it if it needs one.
func (q *queue) cut(f *flow) item {
	it := item{message: f.next(), flow: f, step: q.step, packed: f.packed}
	if it.packed {
		it.addr = unsafe.Add(q.buffer, q.used%q.slots*q.slot)
		q.used++
		q.taken++
	}
	return it
}

// note keeps an error for the end.
func (q *queue) note(err error) {
	if err != nil {
		q.failed = errors.Join(q.failed, err)
	}
}

// put records what was started, or why it was not: then the item is complete, and holds nothing.
func (q *queue) put(it item, request backend.Request, err error) {
	q.note(err)
	it.request = request
	q.out = append(q.out, it)
	q.bytes += it.n
}

// pop waits for the oldest message, and returns whether it came through. Its buffer is free from then on.
func (q *queue) pop() (it item, ok bool) {
	it = q.out[0]
	q.out = q.out[1:]
	q.bytes -= it.n
	if it.packed {
		q.taken--
	}
	if it.request == nil {
		return it, false
	}
	_, err := q.comm.Await(it.request)
	q.note(err)
	memory.Ease()
	return it, err == nil
}

func (it *item) span() memory.Span {
	return memory.Span{Addr: it.addr, Count: int(it.n), Type: dtype.Uint8}
}

// at returns the address n bytes into a storage.
func at(s *memory.Storage, n int64) unsafe.Pointer { return unsafe.Add(s.Addr(), n) }

// sender is the queue of what this rank sends.
type sender struct {
	queue
	number int // of the next message within its step
	within int // the step that number belongs to
}

// post packs and starts the next message, one of f's, once there is room.
func (s *sender) post(f *flow) {
	for !s.free(f) {
		s.pop()
	}
	if s.within != s.step {
		s.within, s.number = s.step, 0
	}
	s.number++
	it := s.cut(f)
	if it.packed {
		s.note(f.move(it.addr, it.n)) // and sends what is there, for the other rank waits for it
	}
	request, err := s.comm.StartSend(it.span(), f.peer, lane)
	s.put(it, request, err)
}

// reach sends all messages up to number n of step k.
func (s *sender) reach(k, n int) {
	for f := s.more(); f != nil && s.before(k, n); f = s.more() {
		s.post(f)
	}
}

// before reports whether the next message is at most number n of step k.
func (s *sender) before(k, n int) bool {
	if s.step != k {
		return s.step < k
	}
	return s.within != k || s.number <= n
}

// ahead sends what it can without waiting.
func (s *sender) ahead() {
	for f := s.more(); f != nil; f = s.more() {
		for !s.free(f) {
			if !s.done() {
				return
			}
			s.pop()
		}
		s.post(f)
	}
}

// done reports whether the oldest message has gone.
func (s *sender) done() bool {
	r := s.out[0].request
	if r == nil {
		return true
	}
	_, done, _ := r.Test()
	return done
}

// finish waits for everything that was sent.
func (s *sender) finish() {
	for len(s.out) > 0 {
		s.pop()
	}
}

// receiver is the queue of what this rank receives.
type receiver struct {
	queue
	phase *phase.Phase
}

// fill starts as many receives as there is room for.
func (r *receiver) fill() {
	for f := r.more(); f != nil && r.free(f); f = r.more() {
		it := r.cut(f)
		request, err := r.comm.StartRecv(it.span(), f.peer, lane)
		r.put(it, request, err)
	}
}

// take waits for the next message and unpacks it, if it is one of step k. Reports whether it was.
func (r *receiver) take(k int) bool {
	if len(r.out) == 0 || r.out[0].step != k {
		return false
	}
	it, ok := r.pop()
	if it.packed && ok {
		r.note(it.flow.move(it.addr, it.n))
	}
	r.phase.Add(it.n)
	return true
}
