package agreement

import (
	"time"

	"dtl/core/backend"
	"dtl/core/comm/agreement/nodes"
	"dtl/core/comm/wire"
	"dtl/core/memory"
	"dtl/core/status"
)

// The calls with a root of ranks on several nodes. The first of a row of such calls meets all ranks, as every other call does:
// what follows it may need that all have come. From the second on, ranks go on, until the row is so long that the next begins.

// rooted is what Nodes keeps of such calls.
type rooted struct {
	records  *records       // nil: no rank goes on
	confirms bool           // see BeginConfirm
	astray   bool           // what has come of root is of another call
	settling *settling      // nil: ranks are not about to learn what all have called
	settled  *settling      // the last that is over
	held     []earlyMessage // root's elements of calls to which this rank has not come
	left     []sentRecords  // memory of messages of calls that not all made
}

// settling is how ranks that do not make the same call learn what each has called.
type settling struct {
	text    string // of this rank's last call, or why it cannot make it
	code    status.Code
	told    bool
	codes   []status.Code // of all ranks, when it is over
	texts   []string
	late    bool // this rank had gone on from the call
	number  uint64
	waiting bool // a rank waits for a collective that does not block
	first   uint64
}

// GoesOn reports whether ranks go on in calls with a root.
func (m *Nodes) GoesOn() bool { return m.records != nil }

// WithoutMeeting reports whether a call with a root is made without a meeting now.
func (m *Nodes) WithoutMeeting() bool { return m.records != nil && m.at.WithoutMeeting() }

// Passed reports whether the last call was made so.
func (m *Nodes) Passed() bool { return m.at.Role() != nodes.Meets }

// Scattered reports whether this rank has been given the elements that root scatters of some ranks alone, its own first.
func (m *Nodes) Scattered() bool { return m.at.Scattered() }

// EndRow has the next call with a root meet all ranks.
func (m *Nodes) EndRow() { m.at.EndRow() }

// BeginRow has the calls after the next, which is one with a root, go on, if elements of which each rank has so many bytes go to root
// without a meeting.
func (m *Nodes) BeginRow(w Way, bytes int) {
	if m.GoesOn() && bytes <= m.at.RoomToRoot(ways[w], true) {
		m.at.Rooted()
	}
}

// Passes reports whether root gives so many bytes to the others without a meeting.
func (m *Nodes) Passes(bytes int) bool { return m.GoesOn() && bytes <= m.at.Passing() }

// ComeFor makes a call with a root, without a meeting if there was another before it.
func (m *Nodes) ComeFor(g Gone, s wire.Statement, brought Elements) (bool, error) {
	if !m.WithoutMeeting() {
		if m.records != nil {
			m.at.Rooted()
		}
		return m.Come(s, brought)
	}
	if err := m.at.PrepareTree(); err != nil {
		return false, err
	}
	m.astray, m.turn = false, 0
	if s.Code != 0 {
		m.at.Refuse(s.Fingerprint)
		return true, nil
	}
	root := int(g.Call.Root) - 1
	call := nodes.Record{
		ElementsHash: s.ElementsHash, Operation: wire.Hash(g.Call.Op), Count: int64(g.Call.Count), Type: int32(g.Call.Type), Root: int32(g.Call.Root),
		Role: roleIn(brought.Way, root == m.link.On.Rank()),
	}
	if g.Call.Operator != "" {
		call.Operator = wire.Hash(g.Call.Operator)
	}
	if call.Role == nodes.Takes {
		brought.Span, brought.Head = memory.Span{}, 0
	}
	if err := m.records.listenNowAndThen(); err != nil || m.records.differs != 0 {
		return true, err
	}
	m.at.Pass(s.Fingerprint, call, brought.Span, brought.Head, ways[brought.Way], brought.Op)
	return m.goOn(m.link.Patience(), false)
}

// roleIn returns what a rank does in a call with a root in which elements go some way.
func roleIn(w Way, root bool) uint8 {
	switch {
	case w.fromRoot() && root:
		return nodes.Gives
	case w.fromRoot():
		return nodes.Takes
	case root:
		return nodes.Collects
	}
	return nodes.Brings
}

// advance goes on with a call of ranks that may go on, for about so long in the backend.
func (m *Nodes) advance(d time.Duration) (bool, error) {
	switch {
	case m.settling != nil:
		return m.goOnSettling()
	case m.records.differs != 0:
		return true, nil
	case m.confirms:
		return m.at.Verified() >= m.at.Number(), nil
	}
	return m.goOn(d, d > 0)
}

// waitTelling is Wait of ranks that may go on: those that wait for long, or hear of one that waits, tell the others of their calls.
func (m *Nodes) waitTelling(d time.Duration) (bool, error) {
	const look = time.Millisecond
	now := time.Now()
	if number := m.at.Number(); m.waitsIn != number {
		m.waitsIn, m.waitsSince = number, now
	}
	for until := now.Add(d); ; now = time.Now() {
		if all, err := m.advance(min(d, look)); all || err != nil {
			return all, err
		}
		if err := m.tellWaiting(now); err != nil {
			return false, err
		}
		if err := m.records.listen(); err != nil {
			return false, err
		}
		if d == 0 || now.After(until) {
			return m.advance(0)
		}
		if m.confirms || m.settling != nil {
			m.turn++
			m.pause(m.turn)
		}
	}
}

// tellAfter is how long a rank waits before it tells the others so, which may wait for it in another call. It is longer than ranks
// wait that share a processor with others.
const tellAfter = 10 * time.Millisecond

// tellWaiting tells the others of this rank's calls if it is time to.
func (m *Nodes) tellWaiting(now time.Time) error {
	number := m.at.Number()
	long := m.toldAt != number && now.Sub(m.waitsSince) >= tellAfter
	if long || m.records.asked && m.at.Told() != number {
		m.toldAt = number
		return m.records.tell(true)
	}
	return nil
}

// takeAstray keeps root's elements that are of a later call, and reports whether this rank may wait for those of its own.
func (m *Nodes) takeAstray() bool {
	came, _ := m.at.Taken()
	if came.Number <= m.at.Number() {
		m.astray = true
		return false
	}
	m.hold()
	return true
}

// hold keeps what has come of root.
func (m *Nodes) hold() {
	came, whole := m.at.Taken()
	bytes := noticeBytes + int(came.Bytes)
	room, err := memory.NewStorage(m.link.Memory, bytes, memory.Alignment)
	if err == nil { // else the call that it is of will wait in vain
		copy(bytesAt(room.Addr(), bytes), bytesAt(whole.Addr, bytes))
		m.held = append(m.held, earlyMessage{from: m.at.Parent(), bytes: bytes, buffer: room})
	}
	came.Number = 0
	m.at.Hold(len(m.held))
	m.at.LookedInTree()
}

// takeHeld takes what has come of root before this call.
func (m *Nodes) takeHeld() {
	m.at.LookedInTree()
	keep := m.held[:0]
	for _, e := range m.held {
		o := (*nodes.Stated)(e.buffer.Addr())
		switch {
		case o.Number < m.at.Number():
			e.buffer.Release()
		case o.Number == m.at.Number() && e.from == m.at.Parent():
			_, into := m.at.Taken()
			copy(bytesAt(into.Addr, e.bytes), bytesAt(e.buffer.Addr(), e.bytes))
			e.buffer.Release()
		default:
			keep = append(keep, e)
		}
	}
	m.held = keep
	m.at.Hold(len(m.held))
}

// Tell tells the others of calls that this rank has gone on from, and reports whether there were any that it had not told of.
func (m *Nodes) Tell() bool {
	if m.at.Told() == m.at.Number() || !m.Passed() {
		return false
	}
	_ = m.records.tell(false) // which is tried again
	return true
}

// Wake says whether somebody calls Tell when this rank does not come by, and Awake reports that.
func (m *Nodes) Wake(yes bool) { m.at.Wake(yes) }

// Awake reports whether somebody calls Tell.
func (m *Nodes) Awake() bool { return m.at.Awake() }

// Ahead reports whether this rank does not know yet that all others make its last call, or they have not been told of it.
func (m *Nodes) Ahead() bool {
	return m.Passed() && (m.at.Verified() != m.at.Number() || m.at.Told() != m.at.Number())
}

// BeginConfirm has Wait and Agreed go by all ranks in the call that this rank has gone on from, until EndConfirm. It returns
// the name of the call, and the call. gone is false where this rank has not gone on.
func (m *Nodes) BeginConfirm() (op, call string, gone bool) {
	if !m.Ahead() {
		return "", "", false
	}
	m.confirms = true
	_ = m.records.tell(true) // which is tried again
	s := describedBy(m.at.RecordOf(m.at.Number()))
	return s.Op, s.String(), true
}

// EndConfirm is the end of BeginConfirm.
func (m *Nodes) EndConfirm() { m.confirms = false }

// beginSettling has each rank learn what all others have called.
func (m *Nodes) beginSettling(text string, code status.Code) (bool, error) {
	m.settling = &settling{text: text, code: code}
	if err := m.records.tell(true); err != nil {
		return false, err
	}
	if err := m.records.listen(); err != nil {
		return false, err
	}
	return m.goOnSettling()
}

// goOnSettling goes on with that, and reports whether it is over: then nothing of earlier calls is left.
func (m *Nodes) goOnSettling() (bool, error) {
	x, s := m.records, m.settling
	number := x.differs
	if number == 0 || x.missing(number) >= 0 {
		return false, nil
	}
	s.late = x.gone(x.rank, number)
	if !s.late && !s.told {
		if err := x.tellText(number, s.text, s.code); err != nil {
			return false, err
		}
		s.told = true
	}
	codes, texts := make([]status.Code, x.size), make([]string, x.size)
	for rank := range texts {
		r, _ := x.of(rank, number)
		s.waiting = s.waiting || r.Deadlock != 0
		if rank == x.rank && !s.late {
			codes[rank], texts[rank] = s.code, s.text
			continue
		}
		if x.gone(rank, number) {
			f := describedBy(r)
			texts[rank] = f.String()
			continue
		}
		t, there := x.textOf(rank, number)
		if !there {
			return false, nil
		}
		codes[rank], texts[rank] = t.code, t.text
	}
	s.codes, s.texts, s.number, s.first = codes, texts, number, x.leastStarted()
	m.settled, m.settling = s, nil
	return true, m.startOver(number)
}

// Settled returns what each rank has called, when that is known, and, if this rank had gone on from the call in which they
// differ, that it had. first is the first start that not all ranks have made, if one of them waits for a start.
func (m *Nodes) Settled() (codes []status.Code, texts []string, when string, waiting bool, first uint64) {
	s := m.settled
	if s.late {
		when = whenGone(m.at.Place(), s.number)
	}
	return s.codes, s.texts, when, s.waiting, s.first
}

// startOver ends all calls from one on in which the ranks differ, and counts on from a number to which nobody can have come.
func (m *Nodes) startOver(number uint64) error {
	peer := m.at.PeerOfStep()
	for _, room := range m.at.Abandon(backend.TakeBackWithin, number+nodes.Kept) {
		m.left = append(m.left, sentRecords{room: room})
	}
	m.records.startOver(number)
	m.astray, m.confirms = false, false
	if err := m.at.Prepare(); err != nil {
		return err
	}
	if peer >= 0 {
		m.keepEarly(peer)
	}
	if came, _ := m.at.Taken(); came != nil && came.Number > m.at.Number() {
		m.hold()
	}
	return nil
}

// keepEarly keeps a message of a later call that has come in place of what a call waited for that not all made.
func (m *Nodes) keepEarly(peer int) {
	o := (*nodes.Stated)(m.at.In().Addr)
	if o.Number <= m.at.Number() {
		return
	}
	bytes := noticeBytes + int(o.Bytes)
	room, err := memory.NewStorage(m.link.Memory, m.at.MessageBytes(), memory.Alignment)
	if err != nil {
		return // the call that it is of will wait in vain
	}
	copy(bytesAt(room.Addr(), bytes), bytesAt(m.at.In().Addr, bytes))
	o.Number = 0
	m.early = append(m.early, earlyMessage{from: peer, bytes: bytes, buffer: room})
	m.at.KeepEarly(len(m.early))
}

// awaits returns the call to which others have to come.
func (m *Nodes) awaits() uint64 {
	if m.records != nil && m.settling != nil && m.records.differs != 0 {
		return m.records.differs
	}
	return m.at.Number()
}
