package agreement

import (
	"sync/atomic"
	"time"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// Messages is the Meeter of ranks that share no memory. Every rank gets what every rank brings, a block of equal length, in
// as many rounds as the number of ranks has binary digits, in each of which it has twice as many as before (Bruck et al.,
// 1997). Nobody waits inside the backend, so a rank that waits in vain can leave.
type Messages struct {
	link       Link
	rank, size int
	number     atomic.Uint64   // of the meeting; a block begins with it
	bytes      int             // of a block
	room       *memory.Storage // for blocks, from this rank's on
	distance   int             // of the round under way; from the number of ranks on, all blocks are here
	begun      bool            // the round has
	recv       backend.Request // what is to come in this round, where it has not come at once
	sends      []backend.Request
	early      []earlyBlocks
}

var _ Meeter = (*Messages)(nil)

// Link is what the meetings of Messages go over.
type Link struct {
	On     backend.Communicator
	Tag    int    // of which no other message is
	Number uint64 // before the first meeting: another communicator's messages may be left behind that nobody received
	Memory memory.Allocator
	// Patience returns how long Come waits inside the backend.
	Patience func() time.Duration
	// Started returns how many collectives that do not block this rank has started.
	Started func() uint64
	// Departure says how a rank has left, and how often it met before.
	Departure func(rank int) watchdog.Departure
}

// statement is the block of a rank that comes to a meeting.
type statement struct {
	number  uint64 // of the meeting
	stated  wire.Statement
	started uint64 // Link.Started
	payload [MinRoom]byte
}

// explanation is the block of a rank in a meeting of Explain.
type explanation struct {
	number uint64 // of the meeting
	code   int32
	length int32
	text   [496]byte
}

const (
	// MinRoom is the least Room of a Meeter.
	MinRoom = 32

	statementBytes   = int(unsafe.Sizeof(statement{}))
	explanationBytes = int(unsafe.Sizeof(explanation{}))
	alignment        = 64
)

// earlyBlocks are from a rank that was in the next meeting already when this one looked.
type earlyBlocks struct {
	from   int
	bytes  int
	buffer *memory.Storage
}

// NewMessages returns the Meeter of ranks that are connected by a link.
func NewMessages(link Link) *Messages {
	m := &Messages{link: link, rank: link.On.Rank(), size: link.On.Size()}
	m.number.Store(link.Number)
	return m
}

// Come begins the exchange of statements.
func (m *Messages) Come(s wire.Statement, payload memory.Span) (bool, error) {
	at, err := m.open(statementBytes)
	if err != nil {
		return false, err
	}
	mine := (*statement)(at)
	mine.stated, mine.started = s, m.link.Started()
	copy(mine.payload[:], bytesAt(payload.Addr, payload.Bytes()))
	return m.Wait(m.link.Patience())
}

// Explain begins the exchange of texts.
func (m *Messages) Explain(text string, code status.Code) (bool, error) {
	at, err := m.open(explanationBytes)
	if err != nil {
		return false, err
	}
	mine := (*explanation)(at)
	mine.code, mine.length = int32(code), int32(copy(mine.text[:], text))
	return m.Wait(m.link.Patience())
}

// open begins the next meeting, with blocks of so many bytes, and returns where this rank's is.
func (m *Messages) open(bytes int) (unsafe.Pointer, error) {
	if m.room == nil || m.room.Size() < bytes*m.size {
		storage, err := memory.NewStorage(m.link.Memory, bytes*m.size, alignment)
		if err != nil {
			return nil, err
		}
		if m.room != nil {
			m.room.Release()
		}
		m.room = storage
	}
	m.bytes, m.distance, m.begun = bytes, 1, false
	*(*uint64)(m.at(0)) = m.number.Add(1)
	return m.at(0), nil
}

// at returns the address of the n-th block from this rank's on.
func (m *Messages) at(n int) unsafe.Pointer { return unsafe.Add(m.room.Addr(), n*m.bytes) }

// numbered returns of which meeting the n-th block is.
func (m *Messages) numbered(n int) uint64 { return *(*uint64)(m.at(n)) }

// of returns the address of a rank's block.
func (m *Messages) of(rank int) unsafe.Pointer { return m.at((rank - m.rank + m.size) % m.size) }

// stated returns a rank's statement.
func (m *Messages) stated(rank int) *statement { return (*statement)(m.of(rank)) }

// Wait goes on with the rounds for about so long.
func (m *Messages) Wait(d time.Duration) (bool, error) {
	for m.distance < m.size {
		if here, err := m.round(d); !here {
			return false, err
		}
		m.distance *= 2
		m.begun = false
	}
	for len(m.sends) > 0 {
		if _, done, err := m.sends[0].WaitFor(d); !done || err != nil {
			return false, err
		}
		m.sends = m.sends[1:]
	}
	return true, nil
}

// round sends the blocks that are here to the rank as far below as there are blocks, and receives as many from above.
func (m *Messages) round(d time.Duration) (here bool, err error) {
	n := min(m.distance, m.size-m.distance)
	from, to := (m.rank+m.distance)%m.size, (m.rank-m.distance+m.size)%m.size
	into := memory.Span{Addr: m.at(m.distance), Count: n * m.bytes, Type: dtype.Uint8}
	if !m.begun {
		first := memory.Span{Addr: m.at(0), Count: into.Count, Type: dtype.Uint8}
		r, err := m.link.On.SendFor(first, to, m.link.Tag, 0)
		if err != nil {
			return false, err
		}
		if r != nil {
			m.sends = append(m.sends, r)
		}
		m.begun = true
		if m.takeEarly(from, into) {
			return true, nil
		}
	}
	for {
		if m.recv == nil {
			_, m.recv, err = m.link.On.RecvFor(into, from, m.link.Tag, d)
		} else {
			var done bool
			if _, done, err = m.recv.WaitFor(d); done {
				m.recv = nil
			}
		}
		if err != nil || m.recv != nil {
			return false, err
		}
		if m.numbered(m.distance) == m.number.Load() { // else it is of a meeting that was given up
			return true, nil
		}
	}
}

// takeEarly fills into with what has come from a rank for this meeting already.
func (m *Messages) takeEarly(from int, into memory.Span) bool {
	for i, e := range m.early {
		if e.from != from {
			continue
		}
		m.early = append(m.early[:i], m.early[i+1:]...)
		copy(bytesAt(into.Addr, into.Bytes()), bytesAt(e.buffer.Addr(), e.bytes))
		e.buffer.Release()
		return m.numbered(m.distance) == m.number.Load()
	}
	return false
}

// InVain looks for ranks that left before this meeting: any of them keeps the others waiting for each other.
func (m *Messages) InVain(call string) error {
	for rank := range m.size {
		if d := m.link.Departure(rank); d.Why != "" && d.Meetings < m.number.Load() {
			return doesNotCome(rank, d.Why, call)
		}
	}
	return nil
}

// Leave takes back what is under way. What cannot be had back keeps the memory.
func (m *Messages) Leave() {
	if m.recv != nil {
		if _, over := backend.TakeBack(m.recv); !over {
			m.room = nil
		}
	}
	for _, r := range m.sends {
		if _, done, _ := r.WaitFor(backend.TakeBackWithin); !done {
			m.room = nil
		}
	}
	m.recv, m.sends, m.distance = nil, nil, m.size
}

// Agreed compares the statements.
func (m *Messages) Agreed() bool {
	agreement := wire.Agreement{Fingerprint: m.stated(0).stated.Fingerprint}
	for rank := range m.size {
		if !agreement.Includes(m.stated(rank).stated) {
			return false
		}
	}
	return true
}

// Payload returns where a rank's bytes are in its statement.
func (m *Messages) Payload(rank int) (unsafe.Pointer, int) {
	return unsafe.Pointer(&m.stated(rank).payload), MinRoom
}

// Deadlock looks at what the statements want.
func (m *Messages) Deadlock() (yes bool, first uint64) {
	least := m.stated(0).started
	for rank := range m.size {
		s := m.stated(rank)
		yes = yes || s.stated.Want == DeadlockWant
		least = min(least, s.started)
	}
	return yes, least + 1
}

// Explained reads the texts.
func (m *Messages) Explained() ([]status.Code, []string) {
	codes, texts := make([]status.Code, m.size), make([]string, m.size)
	for rank := range m.size {
		e := (*explanation)(m.of(rank))
		codes[rank], texts[rank] = status.Code(e.code), string(e.text[:min(max(int(e.length), 0), len(e.text))])
	}
	return codes, texts
}

// BlockedWithout receives what has come of the next meeting, which stays until then.
func (m *Messages) BlockedWithout(seq uint64) (yes bool) {
	for {
		b, err := memory.NewStorage(m.link.Memory, statementBytes*m.size, alignment)
		if err != nil {
			return false
		}
		into := memory.Span{Addr: b.Addr(), Count: statementBytes * m.size, Type: dtype.Uint8}
		st, there, err := m.link.On.TryRecv(into, backend.AnySource, m.link.Tag)
		if !there || err != nil {
			b.Release()
			break
		}
		m.early = append(m.early, earlyBlocks{from: st.Source, bytes: st.Bytes, buffer: b})
	}
	for _, e := range m.early {
		for i := range e.bytes / statementBytes {
			s := (*statement)(unsafe.Add(e.buffer.Addr(), i*statementBytes))
			yes = yes || s.number == m.number.Load()+1 && (s.started < seq || s.stated.Want == DeadlockWant)
		}
	}
	return yes
}

// Number returns the number that the blocks of the last meeting begin with.
func (m *Messages) Number() uint64 { return m.number.Load() }

// Room is that of a statement.
func (m *Messages) Room() int { return MinRoom }

// Close gives back the memory of blocks.
func (m *Messages) Close() {
	for _, e := range m.early {
		e.buffer.Release()
	}
	if m.room != nil {
		m.room.Release()
	}
	m.early, m.room = nil, nil
}
