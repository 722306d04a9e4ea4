package agreement

import (
	"math/bits"
	"slices"
	"time"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
)

// traversal brings together what its members state of a call, and their elements, by recursive doubling: in each step two
// members exchange what they have gathered so far, so after as many steps as the number of members has binary digits each
// has everything. Where that number is no power of two, some members tell a neighbour what they state before the steps, and
// hear the outcome after them.
//
// Each message begins with a summary. Two that do not fit make one that says so, which goes on to all others, so all members
// learn of a difference and nobody reads elements that came with another call's summary.
//
// Nobody waits inside the backend, so a member that waits in vain can leave.
type traversal struct {
	on     backend.Communicator
	tag    int
	memory memory.Allocator
	steps  []step

	out, in *memory.Storage // the messages: what is gathered so far, and what comes
	notice  *memory.Storage // the message that says where this member is; nil: it has not been sent
	told    backend.Request // the same, under way
	brought Elements
	at      int  // the step under way
	begun   bool // the step has
	waits   bool // goOn has given up once
	recv    backend.Request
	send    backend.Request
	early   []earlyMessage
}

// step is what a member does with one other.
type step struct {
	peer     int // the other's rank
	sends    bool
	receives bool
	hears    bool // the other has not heard of this one before
	lower    bool // what comes is of members before those that this one has gathered from
	final    bool // what comes is the outcome
}

// summary is what some members state of a call.
type summary struct {
	number      uint64 // of the meeting
	fingerprint uint64
	want        uint64 // of those that state elements; 0: none does
	started     uint64 // the least Link.Started
	differs     uint32 // 1: they do not make the same call, or one of them cannot
	deadlock    uint32 // 1: one of them wants DeadlockWant
	bytes       uint64 // of the elements that follow
	only        uint64 // 1: the message says where its sender is, and is no part of the traversal
	_           [8]byte
}

const (
	summaryBytes = int(unsafe.Sizeof(summary{}))
	// MaxElements is how many bytes of elements a message carries at most.
	MaxElements  = 32 << 10
	messageBytes = summaryBytes + MaxElements
)

// earlyMessage is one from a member that was in the next meeting already when this one looked.
type earlyMessage struct {
	from   int
	bytes  int
	buffer *memory.Storage
}

// newTraversal returns the traversal of a member, which is at a position among ranks.
func newTraversal(link Link, ranks []int, position int) *traversal {
	steps := stepsOf(ranks, position)
	return &traversal{on: link.On, tag: link.Tag, memory: link.Memory, steps: steps, at: len(steps)}
}

// stepsOf returns the steps of the member at a position. With m the greatest power of two that is not more than the number
// of members, the first members stand in pairs, as many as there are beyond m: the first of a pair only tells the second.
func stepsOf(ranks []int, position int) (steps []step) {
	n := len(ranks)
	m := 1 << (bits.Len(uint(n)) - 1)
	pairs := n - m
	doubling := func(v int) int { return v + min(v+1, pairs) } // the position of the v-th of those that double
	if position < 2*pairs && position%2 == 0 {
		peer := ranks[position+1]
		return []step{{peer: peer, sends: true}, {peer: peer, receives: true, final: true}}
	}
	v := position - pairs
	if position < 2*pairs {
		v = position / 2
		steps = append(steps, step{peer: ranks[position-1], receives: true, lower: true, hears: true})
	}
	for width := 1; width < m; width *= 2 {
		other := v ^ width
		steps = append(steps, step{peer: ranks[doubling(other)], sends: true, receives: true, lower: other < v})
	}
	if position < 2*pairs {
		steps = append(steps, step{peer: ranks[position-1], sends: true})
	}
	return steps
}

// begin begins a meeting with what this member, or those that it speaks for, state and bring.
func (t *traversal) begin(s summary, brought Elements) error {
	for _, buffer := range []**memory.Storage{&t.out, &t.in} {
		if *buffer == nil {
			storage, err := memory.NewStorage(t.memory, messageBytes, memory.Alignment)
			if err != nil {
				return err
			}
			*buffer = storage
		}
	}
	t.brought, t.at, t.begun, t.waits = brought, 0, false, false
	s.bytes = uint64(brought.Bytes())
	*t.summary() = s
	copy(bytesAt(t.elements(), brought.Bytes()), bytesAt(brought.Addr, brought.Bytes()))
	return nil
}

// summary is what is gathered so far, in front of the elements.
func (t *traversal) summary() *summary { return (*summary)(t.out.Addr()) }

// elements returns the address of the elements gathered so far.
func (t *traversal) elements() unsafe.Pointer { return unsafe.Add(t.out.Addr(), summaryBytes) }

// goOn goes on with the steps for about so long, and reports whether they are over.
func (t *traversal) goOn(d time.Duration) (bool, error) {
	for ; t.at < len(t.steps); t.at, t.begun = t.at+1, false {
		if done, err := t.step(&t.steps[t.at], d); !done || err != nil {
			t.waits = true
			return false, err
		}
	}
	if t.notice != nil {
		if t.told != nil {
			if _, done, err := t.told.WaitFor(d); !done || err != nil {
				return false, err
			}
		}
		t.notice.Release()
		t.notice, t.told = nil, nil
	}
	return true, nil
}

// step goes on with one step, and reports whether it is over.
func (t *traversal) step(s *step, d time.Duration) (done bool, err error) {
	if !t.begun {
		if s.sends {
			first := memory.Span{Addr: t.out.Addr(), Count: summaryBytes + int(t.summary().bytes), Type: dtype.Uint8}
			if t.send, err = t.on.SendFor(first, s.peer, t.tag, 0); err != nil {
				return false, err
			}
		}
		t.begun = true
	}
	if s.receives && !t.here(s) {
		if err := t.tell(s); err != nil {
			return false, err
		}
		if here, err := t.receive(s, d); !here || err != nil {
			return false, err
		}
	}
	if t.send != nil {
		if _, done, err := t.send.WaitFor(d); !done || err != nil {
			return false, err
		}
		t.send = nil
	}
	if s.receives {
		t.include(s)
	}
	return true, nil
}

// came is the summary of the message that has come.
func (t *traversal) came() *summary { return (*summary)(t.in.Addr()) }

// here reports whether the message of a step is here already.
func (t *traversal) here(s *step) bool {
	if t.recv == nil && t.isNext() {
		return true
	}
	return t.recv == nil && t.takeEarly(s)
}

// receive waits for the message of a step for about so long. One of another meeting was left behind.
func (t *traversal) receive(s *step, d time.Duration) (here bool, err error) {
	for {
		if t.recv == nil {
			into := memory.Span{Addr: t.in.Addr(), Count: messageBytes, Type: dtype.Uint8}
			_, t.recv, err = t.on.RecvFor(into, s.peer, t.tag, d)
		} else {
			var done bool
			if _, done, err = t.recv.WaitFor(d); done {
				t.recv = nil
			}
		}
		if err != nil || t.recv != nil {
			return false, err
		}
		if t.isNext() {
			return true, nil
		}
	}
}

// isNext reports whether what has come is the message of this step.
func (t *traversal) isNext() bool { return t.came().number == t.summary().number && t.came().only == 0 }

// tell tells the other member of a step that this one waits for it, where it does not know: it may wait for this one in
// another call.
func (t *traversal) tell(s *step) (err error) {
	if !s.hears || !t.waits || t.notice != nil {
		return nil
	}
	if t.notice, err = memory.NewStorage(t.memory, summaryBytes, memory.Alignment); err != nil {
		return err
	}
	o := (*summary)(t.notice.Addr())
	*o = *t.summary()
	o.bytes, o.only = 0, 1
	t.told, err = t.on.SendFor(memory.Span{Addr: t.notice.Addr(), Count: summaryBytes, Type: dtype.Uint8}, s.peer, t.tag, 0)
	return err
}

// takeEarly takes what has come for a step before.
func (t *traversal) takeEarly(s *step) bool {
	for len(t.early) > 0 {
		i := slices.IndexFunc(t.early, func(e earlyMessage) bool { return e.from == s.peer })
		if i < 0 {
			return false
		}
		e := t.early[i]
		t.early = slices.Delete(t.early, i, i+1)
		copy(bytesAt(t.in.Addr(), messageBytes), bytesAt(e.buffer.Addr(), e.bytes))
		e.buffer.Release()
		if t.isNext() {
			return true
		}
	}
	return false
}

// include adds what has come to what is gathered.
func (t *traversal) include(s *step) {
	mine, theirs := t.summary(), *t.came()
	t.came().number = 0 // it is taken
	from := unsafe.Add(t.in.Addr(), summaryBytes)
	if s.final {
		*mine = theirs
		copy(bytesAt(t.elements(), int(theirs.bytes)), bytesAt(from, int(theirs.bytes)))
		return
	}
	mine.add(theirs)
	if mine.differs != 0 {
		mine.bytes = 0
		return
	}
	switch t.brought.Way {
	case ToAll:
		t.join(s, from, int(theirs.bytes))
	case Combined:
		t.combine(s, from)
	case FromRoot:
		if theirs.bytes > 0 {
			mine.bytes = uint64(copy(bytesAt(t.elements(), int(theirs.bytes)), bytesAt(from, int(theirs.bytes))))
		}
	}
}

// add includes what others state.
func (s *summary) add(o summary) {
	if o.differs != 0 || o.fingerprint != s.fingerprint || s.want != 0 && o.want != 0 && s.want != o.want {
		s.differs = 1
	}
	s.want |= o.want
	s.deadlock |= o.deadlock
	s.started = min(s.started, o.started)
}

// join puts the slots that have come before or behind those that are here.
func (t *traversal) join(s *step, from unsafe.Pointer, bytes int) {
	mine := t.summary()
	here := int(mine.bytes)
	all := bytesAt(t.elements(), here+bytes)
	if s.lower {
		copy(all[bytes:], all[:here])
		copy(all, bytesAt(from, bytes))
	} else {
		copy(all[here:], bytesAt(from, bytes))
	}
	mine.bytes = uint64(here + bytes)
}

// combine combines the elements that have come with those that are here: those of the members that come first are on the
// left, on every member, so all get the same bits.
func (t *traversal) combine(s *step, from unsafe.Pointer) {
	here, there := t.brought.Span, t.brought.Span
	here.Addr, there.Addr = t.elements(), from
	if s.lower {
		_ = reduce.Accumulate(there, here, t.brought.Op) // which has been checked
		memory.Copy(here, there)
	} else {
		_ = reduce.Accumulate(here, there, t.brought.Op)
	}
}

// slot returns the address of one of so many equal parts of the elements, and how long it is.
func (t *traversal) slot(n, slots int) (unsafe.Pointer, int) {
	bytes := int(t.summary().bytes) / slots
	return unsafe.Add(t.elements(), n*bytes), bytes
}

// leave takes back what is under way. What cannot be had back keeps the memory.
func (t *traversal) leave() {
	if t.recv != nil {
		if _, over := backend.TakeBack(t.recv); !over {
			t.in = nil
		}
	}
	if t.send != nil {
		if _, done, _ := t.send.WaitFor(backend.TakeBackWithin); !done {
			t.out = nil
		}
	}
	if t.told != nil {
		if _, done, _ := t.told.WaitFor(backend.TakeBackWithin); !done {
			t.notice = nil
		}
	}
	t.recv, t.send, t.told, t.at = nil, nil, nil, len(t.steps)
}

// blockedWithout receives what has come of the next meeting, which stays until then.
func (t *traversal) blockedWithout(next, seq uint64) (yes bool) {
	for {
		b, err := memory.NewStorage(t.memory, messageBytes, memory.Alignment)
		if err != nil {
			return false
		}
		into := memory.Span{Addr: b.Addr(), Count: messageBytes, Type: dtype.Uint8}
		st, there, err := t.on.TryRecv(into, backend.AnySource, t.tag)
		if !there || err != nil {
			b.Release()
			break
		}
		t.early = append(t.early, earlyMessage{from: st.Source, bytes: st.Bytes, buffer: b})
	}
	for _, e := range t.early {
		s := (*summary)(e.buffer.Addr())
		yes = yes || s.number == next && (s.started < seq || s.deadlock != 0)
	}
	return yes
}

// close gives the memory back.
func (t *traversal) close() {
	for _, e := range t.early {
		e.buffer.Release()
	}
	for _, buffer := range []*memory.Storage{t.out, t.in, t.notice} {
		if buffer != nil {
			buffer.Release()
		}
	}
	t.early, t.out, t.in, t.notice = nil, nil, nil, nil
}
