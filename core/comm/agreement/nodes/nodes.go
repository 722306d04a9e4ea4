// Package nodes lets the ranks of several nodes meet: nodes.h says how.
package nodes

/*
#cgo noescape dtl_nodes_come_at
#cgo nocallback dtl_nodes_come_at
#cgo nocallback dtl_nodes_leave
#include "nodes.h"

// Numbers of core/dtype and core/kernel.
enum {
	DTL_NODES_FLOAT64 = 1, DTL_NODES_INT64 = 3, DTL_NODES_UINT8 = 10, DTL_NODES_SUM = 0, DTL_NODES_PROD = 1,
};

static inline int dtl_nodes_go_on_at(uintptr_t m, int64_t patience) { return dtl_nodes_go_on((dtl_nodes *)m, patience); }

static inline void dtl_nodes_come_at(dtl_nodes *m, const dtl_stated *s, dtl_nodes_elements brought, uintptr_t at) {
	brought.at = (const void *)at;
	dtl_nodes_come(m, s, &brought);
}

static inline void dtl_nodes_connect(dtl_nodes *m, uint64_t comm, uintptr_t send_for, uintptr_t recv_for, uintptr_t wait_for,
                                     uintptr_t cancel) {
	m->comm = comm;
	m->send_for = (void *)send_for;
	m->recv_for = (void *)recv_for;
	m->wait_for = (void *)wait_for;
	m->cancel = (void *)cancel;
}
*/
import "C"

import (
	"math/bits"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"dtl/core/backend"
	_ "dtl/core/board/cma" // whose header nodes.c includes
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
	_ "dtl/core/mix" // and whose
)

// The numbers of nodes.c are those of the core: a difference is a constant that does not fit.
const (
	_ = uint(C.DTL_NODES_FLOAT64-int(dtype.Float64)) + uint(int(dtype.Float64)-C.DTL_NODES_FLOAT64)
	_ = uint(C.DTL_NODES_INT64-int(dtype.Int64)) + uint(int(dtype.Int64)-C.DTL_NODES_INT64)
	_ = uint(C.DTL_NODES_UINT8-int(dtype.Uint8)) + uint(int(dtype.Uint8)-C.DTL_NODES_UINT8)
	_ = uint(C.DTL_NODES_SUM-int(kernel.Sum)) + uint(int(kernel.Sum)-C.DTL_NODES_SUM)
	_ = uint(C.DTL_NODES_PROD-int(kernel.Prod)) + uint(int(kernel.Prod)-C.DTL_NODES_PROD)
)

// The ways that elements go.
const (
	ToAll     = C.DTL_TO_ALL
	Combined  = C.DTL_COMBINED_FOR_ALL
	FromRoot  = C.DTL_FROM_ROOT
	Scattered = C.DTL_SCATTERED
)

// What GoOn returns, beside what it asks of who carries the messages.
const (
	Over     = C.DTL_NODES_OVER
	Late     = C.DTL_NODES_LATE
	Failed   = C.DTL_NODES_FAILED
	Early    = C.DTL_NODES_EARLY
	Sends    = C.DTL_NODES_SENDS
	Receives = C.DTL_NODES_RECEIVES
	Sending  = C.DTL_NODES_SENDING
	Astray   = C.DTL_NODES_ASTRAY
)

const statedBytes = int(unsafe.Sizeof(Stated{}))

// Stated is what some ranks state of a call: dtl_stated.
type Stated struct {
	Number, Fingerprint, ElementsHash, Started uint64
	Differs, Deadlock                          uint32
	Bytes, Only, Apart                         uint64
}

// Stated and dtl_stated have the same size.
const _ = uint(unsafe.Sizeof(Stated{})-C.sizeof_dtl_stated) + uint(C.sizeof_dtl_stated-unsafe.Sizeof(Stated{}))

// SharedBytes is how much memory so many ranks of a node share. It starts as zeros. goesOn is Link.GoesOn.
func SharedBytes(ranks int, goesOn bool) int {
	outcome, entry := sharedBytes(ranks, goesOn)
	return outcome + ranks*entry
}

// sharedBytes returns how much of it the outcome and an entry take.
func sharedBytes(ranks int, goesOn bool) (outcome, entry int) {
	if goesOn && ranks <= C.DTL_NODES_FEW {
		return statedBytes + C.DTL_NODES_LONG, statedBytes + C.DTL_NODES_LONG
	}
	return statedBytes + C.DTL_NODES_ELEMENTS, statedBytes + C.DTL_NODES_PAYLOAD
}

// Meeting is one rank's view. Its methods are for one goroutine at a time, but for Number.
type Meeting struct {
	at   *C.dtl_nodes
	room *memory.Storage // for messages, and what is as long as there are ranks; nil: this rank has not met yet
	tree *memory.Storage // for what calls without a meeting need; nil: this rank has made none
	link Link
}

// Link is what the ranks of several nodes meet over.
type Link struct {
	On         backend.Communicator
	Tag        int
	TreeTag    int    // of root's elements in calls without a meeting
	GoesOn     bool   // there are such calls
	OneMachine bool   // all ranks are on one
	Number     uint64 // before the first meeting
	Memory     memory.Allocator
	Leaders    []int          // the first rank of each node, in order
	Slots      []int          // of each rank in the order of the nodes
	Shared     unsafe.Pointer // what the ranks of this node share; nil: this one is alone
	Place      int            // of this rank on its node
	Members    int            // of the node
	Looks      int            // how often to look for what another rank of the node lays down
}

// locals has the memory of meetings that have ended, for those that begin.
var locals memory.Fixed[C.dtl_nodes]

// New returns a rank's Meeting over a link.
func New(link Link) (*Meeting, error) {
	at, err := locals.Get()
	if err != nil {
		return nil, err
	}
	*at = C.dtl_nodes{
		number: C.uint64_t(link.Number), size: C.int32_t(link.On.Size()), looks: C.int32_t(link.Looks), members: 1, tag: C.int32_t(link.Tag),
		rank: C.int32_t(link.On.Rank()), tree_tag: C.int32_t(link.TreeTag), goes_on: C.int32_t(truth(link.GoesOn)),
	}
	at.verified, at.told, at.listened = at.number, at.number, at.number
	at.total, at.room, at.at_once = C.DTL_NODES_ELEMENTS, C.DTL_NODES_PAYLOAD, C.DTL_NODES_AT_ONCE_FAR
	if link.OneMachine {
		at.at_once = C.DTL_NODES_AT_ONCE
	}
	if link.GoesOn {
		at.passing = C.DTL_NODES_LONG
	}
	at.total_for_all = at.total
	if areFew(link) {
		at.total, at.room, at.total_for_all = C.DTL_NODES_LONG, C.DTL_NODES_LONG, C.DTL_NODES_LONG
	}
	if areAlone(link) {
		at.alone = 1
		if link.OneMachine { // which MPI copies once: a message of ours would be copied on either side
			at.total_for_all = C.DTL_NODES_ELEMENTS
		}
		at.flat = C.int32_t(truth(link.OneMachine && link.On.Size() <= C.DTL_NODES_FLAT))
	}
	if link.Shared != nil {
		outcome, entry := sharedBytes(link.Members, link.GoesOn)
		at.outcome, at.entry_bytes = (*C.dtl_nodes_message)(link.Shared), C.int64_t(entry)
		at.entries = (*C.char)(unsafe.Add(link.Shared, outcome))
		at.place, at.members = C.int32_t(link.Place), C.int32_t(link.Members)
	}
	if direct, ok := link.On.(backend.DirectCommunicator); ok {
		d := direct.Direct()
		C.dtl_nodes_connect(at, C.uint64_t(d.Comm), C.uintptr_t(d.SendFor), C.uintptr_t(d.RecvFor), C.uintptr_t(d.WaitFor), C.uintptr_t(d.Cancel))
	}
	return &Meeting{at: at, link: link}, nil
}

// areAlone reports whether each of a few ranks is alone on its node.
func areAlone(link Link) bool { return areFew(link) && len(link.Leaders) == link.On.Size() }

// areFew reports whether there are few ranks, and few on each node: then their meetings carry long elements, too.
func areFew(link Link) bool {
	n := link.On.Size()
	for position, leader := range link.Leaders {
		if slotsEnd(link, position)-link.Slots[leader] > C.DTL_NODES_FEW {
			return false
		}
	}
	return link.GoesOn && n > 1
}

// slotsEnd returns the slot behind those of a node.
func slotsEnd(link Link, node int) int {
	if node+1 < len(link.Leaders) {
		return link.Slots[link.Leaders[node+1]]
	}
	return len(link.Slots)
}

// Prepare gets the memory that meetings need, at the first.
func (m *Meeting) Prepare() error {
	if m.room != nil {
		return nil
	}
	var steps []C.dtl_nodes_step
	messages := 0
	if m.Leads() {
		steps, messages = stepsOf(m.link.Leaders, slices.Index(m.link.Leaders, m.link.On.Rank())), 2*m.MessageBytes()
	}
	slotsBytes, stepsBytes := 4*len(m.link.Slots), len(steps)*int(unsafe.Sizeof(C.dtl_nodes_step{}))
	room, err := memory.NewStorage(m.link.Memory, messages+stepsBytes+2*slotsBytes, memory.Alignment)
	if err != nil {
		return err
	}
	m.room = room
	if m.Leads() {
		m.at.out, m.at.in = (*C.dtl_nodes_message)(room.Addr()), (*C.dtl_nodes_message)(unsafe.Add(room.Addr(), m.MessageBytes()))
		m.at.out.stated, m.at.in.stated = C.dtl_stated{}, C.dtl_stated{}
		m.at.steps, m.at.step_count = (*C.dtl_nodes_step)(unsafe.Add(room.Addr(), messages)), C.int32_t(len(steps))
		copy(unsafe.Slice(m.at.steps, len(steps)), steps)
	}
	m.at.slots = (*C.int32_t)(unsafe.Add(room.Addr(), messages+stepsBytes))
	m.at.ranks = (*C.int32_t)(unsafe.Add(room.Addr(), messages+stepsBytes+slotsBytes))
	for rank, slot := range m.link.Slots {
		unsafe.Slice(m.at.slots, len(m.link.Slots))[rank] = C.int32_t(slot)
		unsafe.Slice(m.at.ranks, len(m.link.Slots))[slot] = C.int32_t(rank)
	}
	return nil
}

// stepsOf returns the steps of the member at a position among ranks. With m the greatest power of two that is not more than
// their number, the first members stand in pairs, as many as there are beyond m: the first of a pair only tells the second.
func stepsOf(ranks []int, position int) (steps []C.dtl_nodes_step) {
	n := len(ranks)
	m := 1 << (bits.Len(uint(n)) - 1)
	pairs := n - m
	doubling := func(v int) int { return v + min(v+1, pairs) } // the position of the v-th of those that double
	if position < 2*pairs && position%2 == 0 {
		peer := C.int32_t(ranks[position+1])
		return []C.dtl_nodes_step{{peer: peer, sends: 1}, {peer: peer, receives: 1, final: 1}}
	}
	v := position - pairs
	if position < 2*pairs {
		v = position / 2
		steps = append(steps, C.dtl_nodes_step{peer: C.int32_t(ranks[position-1]), receives: 1, lower: 1, hears: 1})
	}
	for width := 1; width < m; width *= 2 {
		s := C.dtl_nodes_step{peer: C.int32_t(ranks[doubling(v^width)]), sends: 1, receives: 1}
		if v^width < v {
			s.lower = 1
		}
		steps = append(steps, s)
	}
	if position < 2*pairs {
		steps = append(steps, C.dtl_nodes_step{peer: C.int32_t(ranks[position-1]), sends: 1})
	}
	return steps
}

// Leads reports whether this rank is the leader of its node.
func (m *Meeting) Leads() bool { return m.at.place == 0 }

// Come comes to the next meeting. Elements that are combined are combined with op.
func (m *Meeting) Come(s Stated, elements memory.Span, way int, op kernel.Op) {
	stated := (*C.dtl_stated)(unsafe.Pointer(&s))
	brought := C.dtl_nodes_elements{
		count: C.int64_t(elements.Count), bytes: C.int64_t(elements.Bytes()), way: C.int32_t(way), _type: C.int32_t(elements.Type),
		op: C.int32_t(op),
	}
	C.dtl_nodes_come_at(m.at, stated, brought, C.uintptr_t(uintptr(elements.Addr)))
}

// GoOn goes on with the meeting, for at most about so long in the backend.
func (m *Meeting) GoOn(patience time.Duration) int {
	return int(C.dtl_nodes_go_on_at(C.uintptr_t(uintptr(unsafe.Pointer(m.at))), C.int64_t(patience)))
}

// InBackend reports whether the meeting waits for a message, rather than for another rank of the node.
func (m *Meeting) InBackend() bool { return m.at.phase == C.DTL_NODES_STEPS }

// Code returns the number of the backend's error.
func (m *Meeting) Code() int { return int(m.at.code) }

// Outcome returns what has come of the meeting, and where the elements are.
func (m *Meeting) Outcome() (*Stated, unsafe.Pointer) {
	o := C.dtl_nodes_outcome(m.at)
	return (*Stated)(unsafe.Pointer(&o.stated)), unsafe.Add(unsafe.Pointer(o), statedBytes)
}

// Brought returns the elements that a rank brought, or root's.
func (m *Meeting) Brought(rank int) (unsafe.Pointer, int) {
	var bytes C.int
	at := C.dtl_nodes_brought(m.at, C.int(rank), &bytes)
	return unsafe.Pointer(at), int(bytes)
}

// Number returns the number of the last meeting. It may be called from any goroutine.
func (m *Meeting) Number() uint64 { return atomic.LoadUint64((*uint64)(&m.at.number)) }

// Next is the meeting after the last, of texts, which is the caller's. The calls before it count as alike.
func (m *Meeting) Next() uint64 {
	m.at.explains, m.at.history, m.at.row = 1, 0, 0
	return atomic.AddUint64((*uint64)(&m.at.number), 1)
}

// Explains reports whether the last meeting was one of texts.
func (m *Meeting) Explains() bool { return m.at.explains != 0 }

// EntryOf returns what a rank of the node has laid down for the next meeting, if it has.
func (m *Meeting) EntryOf(place int) (s *Stated, there bool) {
	e := (*Stated)(unsafe.Add(unsafe.Pointer(m.at.entries), place*int(m.at.entry_bytes)))
	return e, atomic.LoadUint64(&e.Number) == m.Number()+1
}

// RoomOfEach is the most bytes that a rank brings to a meeting for all ranks to have.
func (m *Meeting) RoomOfEach(ranks int) int { return min(int(m.at.total)/ranks, int(m.at.room)) }

// Room is the most bytes that a rank brings to a meeting.
func (m *Meeting) Room() int { return int(m.at.room) }

// RoomOfRoot is the most bytes that root gives to the others in the next call, and Passing those without a meeting.
func (m *Meeting) RoomOfRoot() int { return int(C.dtl_nodes_room_of_root(m.at)) }

// Passing is the most bytes of elements in a message of a call without a meeting.
func (m *Meeting) Passing() int { return int(m.at.passing) }

// RoomToRoot is the most bytes that a rank brings to root in a call without a meeting, or with one.
func (m *Meeting) RoomToRoot(way int, without bool) int {
	return int(C.dtl_nodes_room_to_root(m.at, C.int(m.at.size), C.int(truth(way == Combined)), C.int(truth(without))))
}

// RoomForAll is Room for elements that go some way to all ranks.
func (m *Meeting) RoomForAll(way int) int {
	return int(C.dtl_nodes_room_for_all(m.at, C.int(m.at.size), C.int(truth(way == Combined))))
}

// Members returns how many ranks of the node share memory; 0: this one shares none.
func (m *Meeting) Members() int {
	if m.at.entries == nil {
		return 0
	}
	return int(m.at.members)
}

// Step returns whom the step under way is with, and whether that one has not heard of this one before and sends something.
func (m *Meeting) Step() (peer int, hears bool) {
	s := unsafe.Slice(m.at.steps, m.at.step_count)[m.at.at]
	return int(s.peer), s.hears != 0 && s.receives != 0
}

// What follows is for who carries the messages.

// Out is the message that a step sends, and In where what it receives goes.
func (m *Meeting) Out() memory.Span {
	return memory.Span{Addr: unsafe.Pointer(m.at.out), Count: statedBytes + int(m.at.out.stated.bytes), Type: dtype.Uint8}
}

// In is where what a step receives goes.
func (m *Meeting) In() memory.Span { return m.MessageAt(unsafe.Pointer(m.at.in)) }

// MessageBytes is how much memory a message of a meeting takes at most.
func (m *Meeting) MessageBytes() int { return statedBytes + int(m.at.total) }

// MessageAt is the memory of such a message.
func (m *Meeting) MessageAt(at unsafe.Pointer) memory.Span {
	return memory.Span{Addr: at, Count: m.MessageBytes(), Type: dtype.Uint8}
}

// Sent says that the step's message has been sent, and whether that goes on.
func (m *Meeting) Sent(goesOn bool) { m.at.sent, m.at.send = 1, truth(goesOn) }

// Receiving says whether the receive goes on.
func (m *Meeting) Receiving(goesOn bool) { m.at.recv = truth(goesOn) }

func truth(yes bool) C.uint64_t {
	if yes {
		return 1
	}
	return 0
}

// KeepEarly says how many messages have been received before their meeting.
func (m *Meeting) KeepEarly(n int) { m.at.early = C.int32_t(n) }

// Looked says that the messages that came early have been looked at for this step.
func (m *Meeting) Looked() { m.at.looked = m.at.at + 1 }

// What follows is for code outside Go.

// Turn returns where it says whose turn it is. It may be used until Recycle.
func (m *Meeting) Turn() *uint64 { return (*uint64)(&m.at.turn) }

// Started returns where it says how many collectives that do not block this rank has started.
func (m *Meeting) Started() *uint64 { return (*uint64)(&m.at.started) }

// Break says that there is no meeting any more.
func (m *Meeting) Break() { atomic.StoreInt32((*int32)(&m.at.broken), 1) }

// OpenFastPath lets code outside Go meet, which knows the owner by a number, and returns where; nil where Go carries the messages. Where
// something is queued, it leaves long waits to Go.
func (m *Meeting) OpenFastPath(owner int64, queued *atomic.Int32) unsafe.Pointer {
	if m.at.send_for == nil || m.Prepare() != nil {
		return nil
	}
	m.at.queued = (*C.int32_t)(unsafe.Pointer(queued))
	atomic.StoreInt64((*int64)(&m.at.owner), owner)
	return unsafe.Pointer(m.at)
}

// CloseFastPath has only Go meet from now on, and returns the owner's number; 0 where there was none.
func (m *Meeting) CloseFastPath() (owner int64) { return atomic.SwapInt64((*int64)(&m.at.owner), 0) }

// Leave takes back what is under way with the backend. What cannot be had back keeps the memory.
func (m *Meeting) Leave(patience time.Duration) {
	if C.dtl_nodes_leave(m.at, C.int64_t(patience)) == 0 {
		m.Keep()
	}
}

// Keep leaves the memory to what is under way.
func (m *Meeting) Keep() {
	m.room, m.tree = nil, nil
	m.at.given, m.at.taken, m.at.records = nil, nil, nil
}

// Close gives the memory back. Nobody meets any more.
func (m *Meeting) Close() {
	for _, room := range []*memory.Storage{m.room, m.tree} {
		if room != nil {
			room.Release()
		}
	}
	m.Keep()
}

// Recycle lets another Meeting have what code outside Go looks at, after Close.
func (m *Meeting) Recycle() {
	*m.at = C.dtl_nodes{}
	locals.Put(m.at)
}

//export dtl_nodes_accumulate
func dtl_nodes_accumulate(into, from C.uintptr_t, count C.int64_t, elementType, op C.int32_t) {
	dst := memory.Span{Addr: pointer(into), Count: int(count), Type: dtype.Type(elementType)}
	src := memory.Span{Addr: pointer(from), Count: int(count), Type: dtype.Type(elementType)}
	_ = reduce.Accumulate(dst, src, kernel.Op(op)) // which has been checked
}

// pointer returns an address of memory that is not Go's.
func pointer(at C.uintptr_t) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }
