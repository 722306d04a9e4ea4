package agreement

import (
	"sync/atomic"
	"time"
	"unsafe"

	"dtl/core/board"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
	"dtl/core/status"
)

// Nodes is the Meeter of ranks of several nodes. Those of a node share memory: each lays down an entry on their board. The
// first rank of each node, its leader, combines these, and speaks to the other leaders for all of them (traversal). Then it
// lays down the outcome beside the board, where the others read it. What a rank brought is read there, too, until the leader
// lays down the next outcome, which is when all ranks of the node have come to the next meeting.
//
// Where the ranks do not agree, the explanations of all ranks go to all by messages.
type Nodes struct {
	link       Link
	rank, size int
	board      *board.Board // of this rank's node; nil: no other rank is on it
	slots      []int        // of each rank, where the elements of all are in the order of the nodes
	looks      int
	pause      func(turn int)
	number     atomic.Uint64 // of the meeting
	explained  explanations
	explains   bool // the meeting is one of Explain
	way        Way
	missing    int  // on a leader: the first rank of the node that has not been seen
	speaks     bool // on a leader: the traversal has begun
	turn       int

	among    *traversal // of the leaders; nil: this rank is none
	brought  Elements
	gathered *memory.Storage // on a leader of several ranks: the elements of its node
	outcome  *outcome
}

var _ Meeter = (*Nodes)(nil)

// outcome is what a leader lays down for the ranks of its node.
type outcome struct {
	number   uint64 // of the meeting; written last
	started  uint64
	bytes    uint64
	differs  uint32
	deadlock uint32
	_        [32]byte
	elements [MaxElements]byte
}

// OutcomeBytes is how much memory the ranks of a node need beside their board.
const OutcomeBytes = int(unsafe.Sizeof(outcome{}))

// Place says which node each rank is on.
type Place struct {
	Board   *board.Board // of this rank's node, with OutcomeBytes beside it; nil: no other rank is on it
	Leaders []int        // the first rank of each node, in order
	Slots   []int        // of each rank in the order of the nodes
}

// NewNodes returns the Meeter of ranks that are connected by a link, and of which some share memory. looks is how often Come
// looks for each other rank, and pause passes the time between two looks of Wait.
func NewNodes(link Link, place Place, looks int, pause func(turn int)) *Nodes {
	m := &Nodes{link: link, rank: link.On.Rank(), size: link.On.Size(), board: place.Board, slots: place.Slots, looks: looks, pause: pause}
	m.number.Store(link.Number)
	m.explained = explanations{link: link, rank: m.rank, size: m.size}
	for position, leader := range place.Leaders {
		if leader == m.rank {
			m.among = newTraversal(link, place.Leaders, position)
		}
	}
	if m.board != nil {
		m.outcome = (*outcome)(m.board.Beside())
	}
	return m
}

// Come lays down an entry on the board of the node; a leader goes on with those of the others.
func (m *Nodes) Come(s wire.Statement, brought Elements) (bool, error) {
	if brought.Way == FromRoot && brought.Root != m.rank {
		brought.Span = memory.Span{}
	}
	m.explains, m.way, m.speaks, m.missing, m.turn = false, brought.Way, false, 0, 0
	number := m.number.Add(1)
	if m.board == nil {
		s.Fingerprint = wire.Mix(0, s.Fingerprint) // as an entry has it
		if err := m.among.begin(summaryOf(s, number, m.link.Started()), brought); err != nil {
			return false, err
		}
		return m.among.goOn(m.link.Patience())
	}
	m.brought = brought
	m.board.Started(m.link.Started())
	m.board.AllCame() // to the last meeting, of which this rank has the outcome
	m.board.Forget()  // so that an entry has this call's fingerprint alone
	m.board.Lay(s.Fingerprint, board.Entry{Want: s.Want, Code: int16(s.Code)}, brought.Addr, brought.Bytes())
	if m.among != nil {
		return m.lead(m.link.Patience())
	}
	for range m.looks {
		if m.here() {
			return true, nil
		}
		board.Pause()
	}
	return false, nil
}

// here reports whether the outcome of the meeting is beside the board.
func (m *Nodes) here() bool { return atomic.LoadUint64(&m.outcome.number) == m.number.Load() }

// Explain begins the exchange of texts.
func (m *Nodes) Explain(text string, code status.Code) (bool, error) {
	m.explains = true
	if err := m.explained.begin(m.number.Add(1), text, code); err != nil {
		return false, err
	}
	return m.explained.goOn(m.link.Patience())
}

// Wait goes on with the meeting for about so long.
func (m *Nodes) Wait(d time.Duration) (bool, error) {
	switch {
	case m.explains:
		return m.explained.goOn(d)
	case m.board == nil:
		return m.among.goOn(d)
	case m.among == nil:
		return m.look(d, m.here), nil
	}
	return m.lead(d)
}

// look looks for what other ranks of the node do: once where d is 0, else for a while.
func (m *Nodes) look(d time.Duration, there func() bool) bool {
	for turns := 0; !there(); turns++ {
		if d == 0 || turns == waitTurns {
			return false
		}
		m.turn++
		m.pause(m.turn)
	}
	return true
}

// lead is Wait on a leader of several ranks.
func (m *Nodes) lead(d time.Duration) (bool, error) {
	for ; m.missing < m.board.Size(); m.missing++ {
		here := func() bool { return m.board.Arrived(m.missing) }
		for looks := m.looks; looks > 0 && !here(); looks-- {
			board.Pause()
		}
		if !m.look(d, here) {
			return false, nil
		}
	}
	if !m.speaks {
		if err := m.speak(); err != nil {
			return false, err
		}
		m.speaks = true
	}
	over, err := m.among.goOn(d)
	if over {
		m.layDown()
	}
	return over, err
}

// speak begins the traversal with what the ranks of the node have laid down.
func (m *Nodes) speak() error {
	s := summaryOf(stated(m.board.Entry(0)), m.number.Load(), m.board.StartedBy(0))
	for rank := 1; rank < m.board.Size(); rank++ {
		s.add(summaryOf(stated(m.board.Entry(rank)), s.number, m.board.StartedBy(rank)))
	}
	brought := m.brought
	brought.Span = memory.Span{}
	if s.differs == 0 {
		var err error
		if brought, err = m.gather(); err != nil {
			return err
		}
	}
	return m.among.begin(s, brought)
}

// gather returns what the ranks of the node bring, combined or one behind the other.
func (m *Nodes) gather() (brought Elements, err error) {
	if m.gathered == nil {
		if m.gathered, err = memory.NewStorage(m.link.Memory, MaxElements, memory.Alignment); err != nil {
			return brought, err
		}
	}
	brought = m.brought
	bytes := 0
	for rank := range m.board.Size() {
		at, n := m.board.Payload(rank)
		if m.way == Combined && rank > 0 {
			into, from := m.brought.Span, m.brought.Span
			into.Addr, from.Addr = m.gathered.Addr(), at
			_ = reduce.Accumulate(into, from, m.brought.Op) // which has been checked
			continue
		}
		bytes += copy(bytesAt(unsafe.Add(m.gathered.Addr(), bytes), n), bytesAt(at, n))
	}
	brought.Addr = m.gathered.Addr()
	if m.way != Combined {
		brought.Span = memory.Span{Addr: brought.Addr, Count: bytes, Type: dtype.Uint8}
	}
	return brought, nil
}

// layDown tells the other ranks of the node what has come of the meeting.
func (m *Nodes) layDown() {
	s, o := m.among.summary(), m.outcome
	o.started, o.bytes, o.differs, o.deadlock = s.started, s.bytes, s.differs, s.deadlock
	copy(o.elements[:s.bytes], bytesAt(m.among.elements(), int(s.bytes)))
	atomic.StoreUint64(&o.number, s.number)
}

// InVain looks for ranks that left before this meeting: any of them keeps the others waiting for each other.
func (m *Nodes) InVain(call string) error { return m.link.inVain(m.number.Load(), m.size, call) }

// Leave takes back what is under way.
func (m *Nodes) Leave() {
	if m.among != nil {
		m.among.leave()
	}
	m.explained.leave()
}

// result returns what has come of the meeting, and the elements.
func (m *Nodes) result() (s summary, elements unsafe.Pointer) {
	if m.among != nil {
		return *m.among.summary(), m.among.elements()
	}
	o := m.outcome
	return summary{number: o.number, started: o.started, differs: o.differs, deadlock: o.deadlock, bytes: o.bytes}, unsafe.Pointer(&o.elements)
}

// Agreed reports whether no two summaries differed.
func (m *Nodes) Agreed() bool {
	s, _ := m.result()
	return s.differs == 0
}

// Payload returns a rank's part of what came of all, or root's elements.
func (m *Nodes) Payload(rank int) (unsafe.Pointer, int) {
	s, elements := m.result()
	if m.way == FromRoot {
		return elements, int(s.bytes)
	}
	bytes := int(s.bytes) / m.size
	return unsafe.Add(elements, m.slots[rank]*bytes), bytes
}

// Combination returns where the elements were combined.
func (m *Nodes) Combination() unsafe.Pointer {
	_, elements := m.result()
	return elements
}

// Deadlock is part of the summary.
func (m *Nodes) Deadlock() (yes bool, first uint64) {
	s, _ := m.result()
	return s.deadlock != 0, s.started + 1
}

// Explained reads the texts.
func (m *Nodes) Explained() ([]status.Code, []string) { return m.explained.read() }

// BlockedWithout looks for entries and messages of the next meeting.
func (m *Nodes) BlockedWithout(seq uint64) bool {
	for rank := 0; m.board != nil && rank < m.board.Size(); rank++ {
		if e, there := m.board.Next(rank); there && (m.board.StartedBy(rank) < seq || e.Want == DeadlockWant) {
			return true
		}
	}
	return m.among != nil && m.among.blockedWithout(m.number.Load()+1, seq)
}

// Number returns the number that the messages of the last meeting begin with.
func (m *Nodes) Number() uint64 { return m.number.Load() }

// Room is what an entry and a message carry.
func (m *Nodes) Room(w Way) int { return min(roomOfMessages(w, m.size), board.MaxPayload) }

// Close gives the memory of messages back. The board is not this package's.
func (m *Nodes) Close() {
	if m.among != nil {
		m.among.close()
	}
	if m.gathered != nil {
		m.gathered.Release()
		m.gathered = nil
	}
	m.explained.close()
}
