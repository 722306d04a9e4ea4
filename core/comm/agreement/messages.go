package agreement

import (
	"sync/atomic"
	"time"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/comm/wire"
	"dtl/core/memory"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// Messages is the Meeter of ranks that share no memory: what they state and bring travels by recursive doubling. Where they
// do not agree, the explanations of all ranks go to all.
type Messages struct {
	link       Link
	rank, size int
	number     atomic.Uint64 // of the meeting; each message begins with it
	stated     *traversal
	explained  explanations
	explains   bool // the meeting is one of Explain
}

var _ Meeter = (*Messages)(nil)

// Link is what the meetings of Messages go over.
type Link struct {
	On         backend.Communicator
	Tag        int    // of which no other message is
	ExplainTag int    // the same, of explanations
	Number     uint64 // before the first meeting: another communicator's messages may be left behind that nobody received
	Memory     memory.Allocator
	// Patience returns how long Come waits inside the backend.
	Patience func() time.Duration
	// Started returns how many collectives that do not block this rank has started.
	Started func() uint64
	// Departure says how a rank has left, and how often it met before.
	Departure func(rank int) watchdog.Departure
}

// MinRoom is the least Room of a Meeter of few ranks.
const MinRoom = 32

// NewMessages returns the Meeter of ranks that are connected by a link.
func NewMessages(link Link) *Messages {
	m := &Messages{link: link, rank: link.On.Rank(), size: link.On.Size()}
	m.number.Store(link.Number)
	ranks := make([]int, m.size)
	for rank := range ranks {
		ranks[rank] = rank
	}
	m.stated = newTraversal(link, ranks, m.rank)
	m.explained = explanations{link: link, rank: m.rank, size: m.size}
	return m
}

// Come begins the traversal of statements.
func (m *Messages) Come(s wire.Statement, brought Elements) (bool, error) {
	m.explains = false
	if brought.Way == FromRoot && brought.Root != m.rank {
		brought.Span = memory.Span{}
	}
	if err := m.stated.begin(summaryOf(s, m.number.Add(1), m.link.Started()), brought); err != nil {
		return false, err
	}
	return m.stated.goOn(m.link.Patience())
}

// summaryOf is the summary of one rank.
func summaryOf(s wire.Statement, number, started uint64) summary {
	o := summary{number: number, fingerprint: s.Fingerprint, want: s.Want, started: started}
	if s.Code != 0 {
		o.differs = 1
	}
	if s.Want == DeadlockWant {
		o.deadlock, o.differs = 1, 1
	}
	return o
}

// Explain begins the exchange of texts.
func (m *Messages) Explain(text string, code status.Code) (bool, error) {
	m.explains = true
	if err := m.explained.begin(m.number.Add(1), text, code); err != nil {
		return false, err
	}
	return m.explained.goOn(m.link.Patience())
}

// Wait goes on with the meeting for about so long.
func (m *Messages) Wait(d time.Duration) (bool, error) {
	if m.explains {
		return m.explained.goOn(d)
	}
	return m.stated.goOn(d)
}

// InVain looks for ranks that left before this meeting: any of them keeps the others waiting for each other.
func (m *Messages) InVain(call string) error { return m.link.inVain(m.number.Load(), m.size, call) }

// inVain returns an error if one of so many ranks left before a meeting.
func (l *Link) inVain(number uint64, size int, call string) error {
	for rank := range size {
		if d := l.Departure(rank); d.Why != "" && d.Meetings < number {
			return doesNotCome(rank, d.Why, call)
		}
	}
	return nil
}

// Leave takes back what is under way.
func (m *Messages) Leave() {
	m.stated.leave()
	m.explained.leave()
}

// Agreed reports whether no two summaries differed.
func (m *Messages) Agreed() bool { return m.stated.summary().differs == 0 }

// Payload returns a rank's part of what came of all, or root's elements.
func (m *Messages) Payload(rank int) (unsafe.Pointer, int) {
	if m.stated.brought.Way == FromRoot {
		return m.stated.elements(), int(m.stated.summary().bytes)
	}
	return m.stated.slot(rank, m.size)
}

// Combination returns where the elements were combined.
func (m *Messages) Combination() unsafe.Pointer { return m.stated.elements() }

// Deadlock is part of the summary.
func (m *Messages) Deadlock() (yes bool, first uint64) {
	s := m.stated.summary()
	return s.deadlock != 0, s.started + 1
}

// Explained reads the texts.
func (m *Messages) Explained() ([]status.Code, []string) { return m.explained.read() }

// BlockedWithout looks for messages of the next meeting.
func (m *Messages) BlockedWithout(seq uint64) (yes bool) {
	return m.stated.blockedWithout(m.number.Load()+1, seq)
}

// Number returns the number that the messages of the last meeting begin with.
func (m *Messages) Number() uint64 { return m.number.Load() }

// Room is what a message carries, of which each rank has its part where all elements go to all.
func (m *Messages) Room(w Way) int { return roomOfMessages(w, m.size) }

func roomOfMessages(w Way, size int) int {
	if w == ToAll {
		return MaxElements / size
	}
	return board.MaxPayload
}

// Close gives the memory of messages back.
func (m *Messages) Close() {
	m.stated.close()
	m.explained.close()
}
