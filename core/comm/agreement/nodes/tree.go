package nodes

/*
#cgo noescape dtl_nodes_pass_at
#cgo nocallback dtl_nodes_pass_at
#include "nodes.h"

static inline void dtl_nodes_pass_at(dtl_nodes *m, uint64_t fingerprint, const dtl_nodes_record *call, dtl_nodes_elements brought,
                                     uintptr_t at) {
	brought.head = (const void *)at;
	brought.at = (const char *)at + brought.head_bytes;
	dtl_nodes_pass(m, fingerprint, call, &brought);
}
*/
import "C"

import (
	"math/bits"
	"sort"
	"time"
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// Roles of ranks in calls.
const (
	Meets    = C.DTL_NODES_MEETS
	Gives    = C.DTL_NODES_GIVES
	Takes    = C.DTL_NODES_TAKES
	Brings   = C.DTL_NODES_BRINGS
	Collects = C.DTL_NODES_COLLECTS
	Bundles  = C.DTL_NODES_BUNDLES
)

const (
	// Kept is of how many of its last calls a rank has records.
	Kept = C.DTL_NODES_KEPT
	// MaxRanks is how many ranks may make calls without a meeting.
	MaxRanks = C.DTL_NODES_RANKS
)

// Record is what a rank keeps of one of its last calls: dtl_nodes_record.
type Record struct {
	Number, History, ElementsHash, Operation, Operator uint64
	Count                                              int64
	Type, Root                                         int32
	Role, Differs, Deadlock                            uint8
	_                                                  [5]uint8
}

// RecordBytes is how long a record is.
const RecordBytes = int(unsafe.Sizeof(Record{}))

// Record and dtl_nodes_record have the same size.
const _ = uint(unsafe.Sizeof(Record{})-C.sizeof_dtl_nodes_record) + uint(C.sizeof_dtl_nodes_record-unsafe.Sizeof(Record{}))

// WithoutMeeting reports whether a call with a root is to be made without a meeting.
func (m *Meeting) WithoutMeeting() bool { return C.dtl_nodes_without_meeting(m.at) != 0 }

// StayTogether has all calls with a root meet all ranks from now on. All ranks say so.
func (m *Meeting) StayTogether() { m.at.goes_on = 0 }

// Rooted says that the next meeting is of a call with a root.
func (m *Meeting) Rooted() { m.at.rooted = 1 }

// EndRow has the next call with a root meet all ranks.
func (m *Meeting) EndRow() { m.at.row = 0 }

// PrepareTree gets the memory that calls without a meeting need, at the first.
func (m *Meeting) PrepareTree() error {
	if m.tree != nil {
		return nil
	}
	folds, partials := foldsOf(m.link.Leaders, m.link.Slots)
	message := statedBytes + m.Passing()
	collected := 2 * message
	records := collected + m.Passing() + (partials-1)*m.RoomToRoot(Combined, true)
	room, err := memory.NewStorage(m.link.Memory, records+Kept*RecordBytes+len(folds)*int(unsafe.Sizeof(folds[0])), memory.Alignment)
	if err != nil {
		return err
	}
	m.tree = room
	m.at.given, m.at.taken = (*C.dtl_nodes_message)(room.Addr()), (*C.dtl_nodes_message)(unsafe.Add(room.Addr(), message))
	m.at.collected = (*C.char)(unsafe.Add(room.Addr(), collected))
	m.at.partials = (*C.char)(unsafe.Add(room.Addr(), collected+m.Passing()))
	m.at.records = (*C.dtl_nodes_record)(unsafe.Add(room.Addr(), records))
	m.at.folds = (*C.dtl_nodes_fold)(unsafe.Add(room.Addr(), records+Kept*RecordBytes))
	copy(unsafe.Slice(m.at.folds, len(folds)), folds)
	clear(unsafe.Slice(m.at.records, Kept))
	m.at.given.stated, m.at.taken.stated = C.dtl_stated{}, C.dtl_stated{}
	return nil
}

// foldsOf returns, for the ranks in the order of the nodes, what combines their elements in the order in which a meeting does: those of
// a node from left to right, and those of the nodes as stepsOf has them exchange. It also returns how many partial results there are
// at most.
func foldsOf(leaders, slots []int) (folds []C.dtl_nodes_fold, partials int) {
	n := len(leaders)
	m := 1 << (bits.Len(uint(n)) - 1)
	pairs := n - m
	folds = make([]C.dtl_nodes_fold, len(slots))
	kept := 0 // partial results
	for position, leader := range leaders {
		last := len(slots) - 1
		if position+1 < n {
			last = slots[leaders[position+1]] - 1
		}
		first, v, merges := slots[leader], position-pairs, 0
		if position < 2*pairs {
			v, merges = position/2, position%2
		}
		if position >= 2*pairs || position%2 == 1 {
			merges += bits.TrailingZeros(uint(v + 1)) // as many as a counter of what doubles carries
		}
		folds[first].begins = 1
		folds[last].merges = C.uint8_t(merges)
		if first != last || merges == 0 {
			partials = max(partials, kept+1)
		}
		kept += 1 - merges
	}
	return folds, partials
}

// Pass makes the next call of this rank's without a meeting. Of the call it needs all but number and history. The first head bytes
// of the elements describe the others.
func (m *Meeting) Pass(fingerprint uint64, call Record, elements memory.Span, head, way int, op kernel.Op) {
	brought := C.dtl_nodes_elements{
		head_bytes: C.int64_t(head), count: C.int64_t(elements.Count), bytes: C.int64_t(elements.Bytes() - head), way: C.int32_t(way),
		_type: C.int32_t(elements.Type), op: C.int32_t(op),
	}
	C.dtl_nodes_pass_at(m.at, C.uint64_t(fingerprint), (*C.dtl_nodes_record)(unsafe.Pointer(&call)), brought,
		C.uintptr_t(uintptr(elements.Addr)))
}

// Refuse is in the place of Pass for a rank that cannot make its call.
func (m *Meeting) Refuse(fingerprint uint64) {
	m.Pass(fingerprint, Record{Role: Meets, Root: 1, Differs: 1}, memory.Span{}, 0, FromRoot, 0)
	m.at.phase = C.DTL_NODES_ALL_HAVE
}

// InTree reports whether the call under way is one without a meeting.
func (m *Meeting) InTree() bool { return m.at.phase == C.DTL_NODES_TREE }

// Role is what this rank does in its last call.
func (m *Meeting) Role() int { return int(m.at.role) }

// Scattered reports whether this rank has been given the elements that root scatters of some ranks alone, its own first.
func (m *Meeting) Scattered() bool { return C.dtl_nodes_scattered(m.at) != 0 }

// Combined returns where the elements are that were combined.
func (m *Meeting) Combined() unsafe.Pointer { return unsafe.Pointer(C.dtl_nodes_combined(m.at)) }

// BesideOf returns the ranks of a rank's node.
func (m *Meeting) BesideOf(rank int) []int {
	var beside []int
	node := sort.Search(len(m.link.Leaders), func(i int) bool { return slotsEnd(m.link, i) > m.link.Slots[rank] })
	first, end := m.link.Slots[m.link.Leaders[node]], slotsEnd(m.link, node)
	for other, slot := range m.link.Slots {
		if slot >= first && slot < end {
			beside = append(beside, other)
		}
	}
	return beside
}

// Parent returns the rank from which elements come.
func (m *Meeting) Parent() int { return int(m.at.parent) }

// Taken is where root's elements come, with what is stated of them; nil: this rank has made no call without a meeting.
func (m *Meeting) Taken() (*Stated, memory.Span) {
	if m.tree == nil {
		return nil, memory.Span{}
	}
	whole := memory.Span{Addr: unsafe.Pointer(m.at.taken), Count: statedBytes + m.Passing(), Type: dtype.Uint8}
	return (*Stated)(unsafe.Pointer(&m.at.taken.stated)), whole
}

// Hold says how many of root's elements have come before their calls.
func (m *Meeting) Hold(n int) { m.at.held = C.int32_t(n) }

// LookedInTree says that those have been looked at for this call.
func (m *Meeting) LookedInTree() { m.at.looked = 1 }

// RecordOf returns the record of one of this rank's last calls.
func (m *Meeting) RecordOf(number uint64) *Record {
	return (*Record)(unsafe.Pointer(C.dtl_nodes_record_of(m.at, C.uint64_t(number))))
}

// Verified returns the last call that all ranks are known to have made alike.
func (m *Meeting) Verified() uint64 { return uint64(m.at.verified) }

// Verify says which that is.
func (m *Meeting) Verify(number uint64) { m.at.verified = C.uint64_t(number) }

// Told returns the last call whose record the others need not be sent any more.
func (m *Meeting) Told() uint64 { return uint64(m.at.told) }

// Tell says that the others have been sent the records up to the last call.
func (m *Meeting) Tell() { m.at.told = m.at.number }

// Listened says that this rank has looked for what others tell.
func (m *Meeting) Listened() { m.at.listened = m.at.number }

// ShouldListen reports whether it should again.
func (m *Meeting) ShouldListen() bool { return C.dtl_nodes_should_listen(m.at) != 0 }

// Wake says whether somebody sends this rank's records to the others if it does not come by.
func (m *Meeting) Wake(yes bool) { m.at.awake = C.int32_t(truth(yes)) }

// Awake reports that.
func (m *Meeting) Awake() bool { return m.at.awake != 0 }

// Place is what code outside Go knows the meeting by among those on which a process may be ahead: odd, unlike a board's number.
func (m *Meeting) Place() uint64 { return uint64(uintptr(unsafe.Pointer(m.at))) | 1 }

// PeerOfStep returns whom the step under way is with; -1: none is.
func (m *Meeting) PeerOfStep() int {
	if m.at.phase != C.DTL_NODES_STEPS || m.at.at >= m.at.step_count {
		return -1
	}
	return int(unsafe.Slice(m.at.steps, m.at.step_count)[m.at.at].peer)
}

// Abandon ends a call that not all ranks make, and counts on from a number, with no calls before it. What is under way and cannot
// be had back keeps its memory, which returns here.
func (m *Meeting) Abandon(patience time.Duration, from uint64) (left []*memory.Storage) {
	if C.dtl_nodes_abandon(m.at, C.int64_t(patience)) != 0 {
		left = []*memory.Storage{m.room, m.tree}
		m.Keep()
		m.at.recv, m.at.send, m.at.tree_recv = 0, 0, 0
		m.at.tree_sends = [2 * C.DTL_NODES_CHILDREN]C.uint64_t{}
	}
	m.at.number, m.at.verified, m.at.told, m.at.listened = C.uint64_t(from), C.uint64_t(from), C.uint64_t(from), C.uint64_t(from)
	m.at.history, m.at.row, m.at.rooted, m.at.role = 0, 0, 0, Meets
	return left
}
