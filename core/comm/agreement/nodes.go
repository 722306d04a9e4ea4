package agreement

import (
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/comm/agreement/nodes"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// Nodes is the Meeter of ranks that do not all share memory: those of a node may. Package nodes says how they meet. Here is
// what takes longer than a call should: waits, messages of meetings that this rank has not come to, and messages of backends
// that only Go calls.
//
// Where the ranks do not agree, the explanations of all ranks go to all by messages.
type Nodes struct {
	link      Link
	at        *nodes.Meeting
	size      int
	pause     func(turn int)
	turn      int
	explained explanations
	rooted

	toldAt     uint64 // the call in which this rank has told the others that it waits
	waitsIn    uint64 // the call in which it waits
	waitsSince time.Time
	early      []earlyMessage
	notice     *memory.Storage // the message that says where this rank is; nil: it has not been sent
	told       backend.Request // the same, under way
	send       backend.Request // where Go carries the messages, what is under way
	recv       backend.Request
}

var _ Meeter = (*Nodes)(nil)

// earlyMessage is one from a leader that was in the next meeting already when this one looked.
type earlyMessage struct {
	from   int
	bytes  int
	buffer *memory.Storage
}

// Link is what the meetings of Nodes go over.
type Link struct {
	On         backend.Communicator
	Tag        int    // of which no other message is
	ExplainTag int    // the same, of explanations
	TreeTag    int    // the same, of root's elements in calls without a meeting
	RecordTag  int    // the same, of what ranks tell of their calls
	GoesOn     bool   // ranks go on from calls with a root in which they need no other
	OneMachine bool   // all ranks are on one, and share no memory
	Number     uint64 // before the first meeting: another communicator's messages may be left behind that nobody received
	Memory     memory.Allocator
	// Patience returns how long Come waits inside the backend.
	Patience func() time.Duration
	// Departure says how a rank has left, and how often it met before.
	Departure func(rank int) watchdog.Departure
}

// Place says which node each rank is on.
type Place struct {
	Board   *board.Board // of this rank's node, with BesideBytes beside it; nil: no other rank is on it
	Leaders []int        // the first rank of each node, in order
	Slots   []int        // of each rank in the order of the nodes
}

// BesideBytes is how much memory so many ranks of a node need beside their board. goesOn is Link.GoesOn.
func BesideBytes(ranks int, goesOn bool) int { return nodes.SharedBytes(ranks, goesOn) }

// MinRoom is the least Room of a Meeter of few ranks.
const MinRoom = 32

// Apart is the Place of ranks of which each is on a node of its own.
func Apart(ranks int) Place {
	all := make([]int, ranks)
	for rank := range all {
		all[rank] = rank
	}
	return Place{Leaders: all, Slots: all}
}

// NewNodes returns the Meeter of ranks that are connected by a link, and of which some may share memory. looks is how often
// to look for each other rank of the node at once, and pause passes the time between two looks of Wait.
func NewNodes(link Link, place Place, looks int, pause func(turn int)) (*Nodes, error) {
	l := nodes.Link{
		On: link.On, Tag: link.Tag, TreeTag: link.TreeTag, GoesOn: link.GoesOn, Number: link.Number, Memory: link.Memory,
		Leaders: place.Leaders, Slots: place.Slots, Looks: looks, OneMachine: link.OneMachine,
	}
	if b := place.Board; b != nil {
		l.Shared, l.Place, l.Members = b.Beside(), b.Rank(), b.Size()
	}
	at, err := nodes.New(l)
	if err != nil {
		return nil, err
	}
	m := &Nodes{link: link, at: at, size: link.On.Size(), pause: pause}
	m.explained = explanations{link: link, rank: link.On.Rank(), size: m.size}
	if link.GoesOn {
		m.records = newRecords(link, at)
	}
	return m, nil
}

// Fast returns what code outside Go may meet by, and what it shares with Go.
func (m *Nodes) Fast() *nodes.Meeting { return m.at }

// Come comes to the next meeting.
func (m *Nodes) Come(s wire.Statement, brought Elements) (bool, error) {
	if err := m.at.Prepare(); err != nil {
		return false, err
	}
	if brought.Way.fromRoot() && brought.Root != m.link.On.Rank() {
		brought.Span = memory.Span{}
	}
	stated := nodes.Stated{Fingerprint: s.Fingerprint, ElementsHash: s.ElementsHash, Started: atomic.LoadUint64(m.at.Started())}
	if s.ElementsHash == DeadlockHash {
		stated.Deadlock = 1
	}
	if s.Code != 0 || s.ElementsHash == DeadlockHash {
		stated.Differs = 1
	}
	m.turn, m.astray = 0, false
	if m.records != nil {
		m.settling = nil
		if err := m.records.listenNowAndThen(); err != nil {
			return false, err
		}
	}
	m.at.Come(stated, brought.Span, ways[brought.Way], brought.Op)
	return m.goOn(m.link.Patience(), false)
}

// ways translates a Way into the number that package nodes has of it.
var ways = [...]int{ToAll: nodes.ToAll, Combined: nodes.Combined, FromRoot: nodes.FromRoot, Scattered: nodes.Scattered}

// Explain begins the exchange of texts.
func (m *Nodes) Explain(text string, code status.Code) (bool, error) {
	if m.records != nil {
		return m.beginSettling(text, code)
	}
	if err := m.explained.begin(m.at.Next(), text, code); err != nil {
		return false, err
	}
	return m.explained.goOn(m.link.Patience())
}

// Wait goes on with the meeting for about so long.
func (m *Nodes) Wait(d time.Duration) (bool, error) {
	if m.at.Explains() {
		return m.explained.goOn(d)
	}
	if m.records != nil {
		return m.waitTelling(d)
	}
	return m.goOn(d, d > 0)
}

// goOn goes on with the meeting for about so long in the backend, and reports whether all have come. Where this rank waits for
// another one of its node, it looks once, or, where it stays, for a while.
func (m *Nodes) goOn(d time.Duration, stays bool) (bool, error) {
	for turns := 0; ; {
		switch asked := m.at.GoOn(d); asked {
		case nodes.Over:
			return m.settle(d)
		case nodes.Late:
			if m.at.InBackend() {
				return false, m.tell()
			}
			if m.at.InTree() {
				return false, nil
			}
			if turns++; !stays || turns > waitTurns {
				return false, nil
			}
			m.turn++
			m.pause(m.turn)
		case nodes.Failed:
			return false, m.link.On.(backend.DirectCommunicator).Failure(m.at.Code())
		case nodes.Astray:
			if !m.takeAstray() {
				return true, nil
			}
		case nodes.Early:
			if m.at.InTree() {
				m.takeHeld()
			} else {
				m.takeEarly()
			}
		default:
			if done, err := m.carry(asked, d); !done || err != nil {
				return false, errorOr(err, m.tell())
			}
		}
	}
}

// carry sends and receives for a step of a meeting where C cannot.
func (m *Nodes) carry(asked int, d time.Duration) (done bool, err error) {
	peer, _ := m.at.Step()
	switch asked {
	case nodes.Sends:
		m.send, err = m.link.On.SendFor(m.at.Out(), peer, m.link.Tag, 0)
		m.at.Sent(m.send != nil)
		return true, err
	case nodes.Receives:
		if m.recv == nil {
			_, m.recv, err = m.link.On.RecvFor(m.at.In(), peer, m.link.Tag, d)
		} else if _, done, err = m.recv.WaitFor(d); done {
			m.recv = nil
		}
		m.at.Receiving(m.recv != nil)
		return m.recv == nil, err
	}
	if _, done, err = m.send.WaitFor(d); done {
		m.send = nil
		m.at.Sent(false)
	}
	return done, err
}

// tell tells the other leader of a step that this one waits for it, where it does not know: it may wait for this one in another
// call. Ranks that go on tell all others.
func (m *Nodes) tell() (err error) {
	peer, hears := m.at.Step()
	if !hears || m.notice != nil || m.records != nil {
		return nil
	}
	if m.notice, err = memory.NewStorage(m.link.Memory, noticeBytes, memory.Alignment); err != nil {
		return err
	}
	o := (*nodes.Stated)(m.notice.Addr())
	*o = *(*nodes.Stated)(m.at.Out().Addr)
	o.Bytes, o.Only = 0, 1
	m.told, err = m.link.On.SendFor(memory.Span{Addr: m.notice.Addr(), Count: noticeBytes, Type: dtype.Uint8}, peer, m.link.Tag, 0)
	return err
}

const noticeBytes = int(unsafe.Sizeof(nodes.Stated{}))

// settle ends what tell has begun, when all have come.
func (m *Nodes) settle(d time.Duration) (bool, error) {
	if m.notice == nil {
		return true, nil
	}
	if m.told != nil {
		if _, done, err := m.told.WaitFor(d); !done || err != nil {
			return false, err
		}
	}
	m.notice.Release()
	m.notice, m.told = nil, nil
	return true, nil
}

// takeEarly takes what has come for a step before.
func (m *Nodes) takeEarly() {
	peer, _ := m.at.Step()
	for {
		i := slices.IndexFunc(m.early, func(e earlyMessage) bool { return e.from == peer })
		if i < 0 {
			m.at.Looked()
			break
		}
		e := m.early[i]
		m.early = slices.Delete(m.early, i, i+1)
		copy(bytesAt(m.at.In().Addr, e.bytes), bytesAt(e.buffer.Addr(), e.bytes))
		e.buffer.Release()
		if o := (*nodes.Stated)(m.at.In().Addr); o.Number == m.at.Number() && o.Only == 0 {
			break
		}
	}
	m.at.KeepEarly(len(m.early))
}

// InVain looks for ranks that left before this meeting: any of them keeps the others waiting for each other.
func (m *Nodes) InVain(call string) error {
	for rank := range m.size {
		if d := m.link.Departure(rank); d.Why != "" && d.Meetings < m.awaits() {
			return doesNotCome(rank, d.Why, call)
		}
	}
	return nil
}

// Leave takes back what is under way.
func (m *Nodes) Leave() {
	m.at.Leave(backend.TakeBackWithin)
	if m.recv != nil {
		if _, over := backend.TakeBack(m.recv); !over {
			m.at.Keep()
		}
	}
	if m.send != nil {
		if _, done, _ := m.send.WaitFor(backend.TakeBackWithin); !done {
			m.at.Keep()
		}
	}
	if m.told != nil {
		if _, done, _ := m.told.WaitFor(backend.TakeBackWithin); !done {
			m.notice = nil
		}
	}
	m.recv, m.send, m.told = nil, nil, nil
	m.settling = nil
	m.explained.leave()
}

// Agreed reports whether no two ranks state what differs.
func (m *Nodes) Agreed() bool {
	if m.records != nil && (m.astray || m.records.differs != 0) {
		return false
	}
	if m.Passed() {
		return true
	}
	s, _ := m.at.Outcome()
	return s.Differs == 0
}

// Payload returns a rank's part of what came of all, or root's elements.
func (m *Nodes) Payload(rank int) (unsafe.Pointer, int) { return m.at.Brought(rank) }

// Combination returns where the elements were combined.
func (m *Nodes) Combination() unsafe.Pointer { return m.at.Combined() }

// Deadlock is part of what all state.
func (m *Nodes) Deadlock() (yes bool, first uint64) {
	s, _ := m.at.Outcome()
	return s.Deadlock != 0, s.Started + 1
}

// Explained reads the texts.
func (m *Nodes) Explained() ([]status.Code, []string) {
	return m.explained.read()
}

// BlockedWithout looks for what other ranks of the node have laid down for the next meeting, and for messages of it, which
// stay until then.
func (m *Nodes) BlockedWithout(seq uint64) (yes bool) {
	without := func(s *nodes.Stated) bool { return s.Started < seq || s.Deadlock != 0 }
	if m.records != nil && m.records.listen() == nil {
		yes = m.records.blockedWithout(seq)
	}
	for place := range m.at.Members() {
		s, there := m.at.EntryOf(place)
		yes = yes || there && without(s)
	}
	if !m.at.Leads() {
		return yes
	}
	m.receiveEarly()
	for _, e := range m.early {
		s := (*nodes.Stated)(e.buffer.Addr())
		yes = yes || s.Number == m.at.Number()+1 && without(s)
	}
	return yes
}

// receiveEarly receives what has come of the next meeting.
func (m *Nodes) receiveEarly() {
	for {
		b, err := memory.NewStorage(m.link.Memory, m.at.MessageBytes(), memory.Alignment)
		if err != nil {
			return
		}
		st, there, err := m.link.On.TryRecv(m.at.MessageAt(b.Addr()), backend.AnySource, m.link.Tag)
		if !there || err != nil {
			b.Release()
			return
		}
		m.early = append(m.early, earlyMessage{from: st.Source, bytes: st.Bytes, buffer: b})
		m.at.KeepEarly(len(m.early))
	}
}

// Number returns the number that the messages of the last meeting begin with.
func (m *Nodes) Number() uint64 { return m.at.Number() }

// RoomForAll is Room for elements whose outcome goes to all ranks. Longer ones are moved by the backend after the meeting.
func (m *Nodes) RoomForAll(w Way) int { return m.at.RoomForAll(ways[w]) }

// RoomToRoot is Room for what each rank brings to root in the next call.
func (m *Nodes) RoomToRoot(w Way) int { return m.at.RoomToRoot(ways[w], m.WithoutMeeting()) }

// Room is what an entry and a message carry, of which each rank has its part where all elements go to all. What root gives to the
// others in the next call may be longer, if they go on.
func (m *Nodes) Room(w Way) int {
	switch {
	case w == ToAll:
		return m.at.RoomOfEach(m.size)
	case w.fromRoot():
		return m.at.RoomOfRoot()
	}
	return m.at.Room()
}

// Close gives the memory of messages back. The board is not this package's.
func (m *Nodes) Close() {
	for _, e := range append(m.early, m.held...) {
		e.buffer.Release()
	}
	if m.records != nil {
		m.records.close()
	}
	m.held = nil
	if m.notice != nil {
		m.notice.Release()
	}
	m.early, m.notice = nil, nil
	m.at.KeepEarly(0)
	m.at.Close()
	m.explained.close()
}

// Recycle lets others have what code outside Go looks at, after Close.
func (m *Nodes) Recycle() { m.at.Recycle() }
