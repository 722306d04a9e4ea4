package watchdog

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/progress"
)

// Messages is the Channel of ranks that share no memory: they tell each other by short messages what ranks that do read
// there. Nobody waits for such a message; who waits for something else looks for them now and then.
type Messages struct {
	link  Link
	calls atomic.Pointer[string] // in which this process waits; nil or "": in none

	mu       sync.Mutex
	closed   bool
	room     *memory.Storage   // for a message that comes
	gone     map[int]Departure // by rank
	by       int               // who has given up; -1: nobody
	why      string
	asking   []int          // ranks that this one has not answered
	places   map[int]string // what the ranks answered
	reported time.Time
	reporter int // who said last that it reports
	sent     []sent
}

var _ Channel = (*Messages)(nil)

// Link is what Messages travel on.
type Link struct {
	On     backend.Communicator
	Tag    int    // of which no other message is
	Number uint64 // the communicator's: another may have left messages behind that nobody received
	Memory memory.Allocator
	Broken func() // is called when a rank has given up
	// Counts returns the number of the last meeting that this rank came to, and how many collectives that do not block it
	// has started.
	Counts func() (meetings, started uint64)
}

// Departure is how a rank left.
type Departure struct {
	Why               string // "": it has not
	Meetings, Started uint64 // what Link.Counts said there
}

// statusMessage is one of the messages.
type statusMessage struct {
	of       uint64 // Link.Number
	kind     int32
	length   int32
	meetings uint64
	started  uint64
	text     [480]byte
}

const (
	statusBytes = int(unsafe.Sizeof(statusMessage{}))
)

// The kinds of messages.
const (
	hasLeft int32 = iota + 1 // the rank makes no more calls; the text says why
	gaveUp                   // the rank has given up a collective call; the text says which, and why
	asks                     // where this rank is
	reports                  // the rank is about to print a report
	answers                  // the text says where the rank is
)

// sent are messages under way from the same memory.
type sent struct {
	room     *memory.Storage
	requests []backend.Request
}

// NewMessages returns the Channel of the ranks of a communicator.
func NewMessages(link Link) *Messages {
	return &Messages{link: link, gone: map[int]Departure{}, by: -1, places: map[int]string{}}
}

// span is the memory of a message.
func span(room *memory.Storage) memory.Span {
	return memory.Span{Addr: room.Addr(), Count: statusBytes, Type: dtype.Uint8}
}

// send sends a message to some ranks. What cannot be sent is left out: nobody depends on it.
func (m *Messages) send(kind int32, text string, to ...int) {
	content := statusMessage{of: m.link.Number, kind: kind}
	content.meetings, content.started = m.link.Counts()
	content.length = int32(copy(content.text[:], text))
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	storage, err := memory.NewStorage(m.link.Memory, statusBytes, memory.Alignment)
	if err != nil {
		return
	}
	*(*statusMessage)(storage.Addr()) = content
	s := sent{room: storage}
	for _, rank := range to {
		if r, err := m.link.On.SendFor(span(storage), rank, m.link.Tag, 0); err == nil && r != nil {
			s.requests = append(s.requests, r)
		}
	}
	m.sent = append(m.sent, s)
	m.settle(0)
}

// others are all ranks but this one.
func (m *Messages) others() []int {
	var ranks []int
	for step := 1; step < m.link.On.Size(); step++ {
		ranks = append(ranks, (m.link.On.Rank()+step)%m.link.On.Size())
	}
	return ranks
}

// settle gives the memory of messages back that have gone. The caller holds the lock.
func (m *Messages) settle(patience time.Duration) {
	m.sent = slices.DeleteFunc(m.sent, func(s sent) bool {
		for _, r := range s.requests {
			if _, done, _ := r.WaitFor(patience); !done {
				return false
			}
		}
		s.room.Release()
		return true
	})
}

// Tell keeps the calls for those that ask.
func (m *Messages) Tell(calls string) { m.calls.Store(&calls) }

// waitingIn returns the calls in which this process waits; "" where there are none.
func (m *Messages) waitingIn() string {
	if calls := m.calls.Load(); calls != nil {
		return *calls
	}
	return ""
}

// Listen takes notice of what has come, and says where this rank is to those that ask if it waits in a call.
func (m *Messages) Listen() {
	m.mu.Lock()
	m.receive()
	asking := m.asking
	m.mu.Unlock()
	if asking == nil {
		return
	}
	if calls := m.waitingIn(); calls != "" {
		m.Answer("in " + calls)
	}
}

// receive receives what has come. The caller holds the lock.
func (m *Messages) receive() {
	if m.closed {
		return
	}
	if m.room == nil {
		storage, err := memory.NewStorage(m.link.Memory, statusBytes, memory.Alignment)
		if err != nil {
			return
		}
		m.room = storage
	}
	for {
		st, there, err := m.link.On.TryRecv(span(m.room), backend.AnySource, m.link.Tag)
		if !there || err != nil {
			break
		}
		if came := (*statusMessage)(m.room.Addr()); st.Bytes == statusBytes && came.of == m.link.Number {
			m.take(st.Source, came)
		}
	}
	m.settle(0)
}

// take takes notice of one message. The caller holds the lock.
func (m *Messages) take(from int, came *statusMessage) {
	text := string(came.text[:min(max(int(came.length), 0), len(came.text))])
	switch came.kind {
	case hasLeft:
		m.gone[from] = Departure{Why: text, Meetings: came.meetings, Started: came.started}
	case gaveUp:
		m.breakBy(from, text)
	case asks:
		m.asking = append(m.asking, from)
	case reports:
		m.reported, m.reporter = time.Now(), from
	case answers:
		m.places[from] = text
	}
}

// breakBy takes notice that a rank has given up. The caller holds the lock.
func (m *Messages) breakBy(rank int, why string) {
	if m.by < 0 {
		m.by, m.why = rank, why
		m.link.Broken()
	}
}

// Answer says where this rank is to those that ask.
func (m *Messages) Answer(place string) {
	m.mu.Lock()
	to := m.asking
	m.asking = nil
	m.mu.Unlock()
	if to != nil {
		m.send(answers, place, to...)
	}
}

// Asked reports whether a rank that this one has not answered asks where it is.
func (m *Messages) Asked() bool {
	if progress.Limited() {
		return false
	}
	m.Listen()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asking != nil
}

// Left says how a rank has left.
func (m *Messages) Left(rank int) string { return m.Departure(rank).Why }

// Departure says how a rank has left, and what it had done by then.
func (m *Messages) Departure(rank int) Departure {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gone[rank]
}

// GiveUp says that this rank has given up a collective call.
func (m *Messages) GiveUp(why string) {
	m.mu.Lock()
	m.breakBy(m.link.On.Rank(), why)
	m.mu.Unlock()
	m.send(gaveUp, why, m.others()...)
}

// GaveUp returns the rank that gave up first, as far as this one knows, and why; -1 if none did.
func (m *Messages) GaveUp() (rank int, why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.by, m.why
}

// Claim reports whether this rank is to print a report: no other says so, now or in the last so long. Of several that do
// at once, the lowest reports.
func (m *Messages) Claim(since time.Duration) bool {
	const crossing = 100 * time.Millisecond
	heard := func(after time.Time, below int) bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.receive()
		return m.reported.After(after) && m.reporter < below
	}
	begun := time.Now()
	if heard(begun.Add(-since*3/4), m.link.On.Size()) {
		return false
	}
	m.send(reports, "", m.others()...)
	for time.Since(begun) < crossing {
		time.Sleep(crossing / 10)
		if heard(begun, m.link.On.Rank()) {
			return false
		}
	}
	return true
}

// Places asks the ranks where they are.
func (m *Messages) Places() []string {
	m.mu.Lock()
	clear(m.places)
	m.mu.Unlock()
	m.send(asks, "", m.others()...)
	texts := make([]string, m.link.On.Size())
	for deadline := time.Now().Add(answering); time.Now().Before(deadline) && slices.Contains(texts, ""); time.Sleep(10 * time.Millisecond) {
		m.mu.Lock()
		m.receive()
		for rank, text := range m.places {
			texts[rank] = text
		}
		for rank, d := range m.gone {
			if texts[rank] == "" {
				texts[rank] = d.Why
			}
		}
		m.mu.Unlock()
		if calls := m.waitingIn(); calls != "" {
			texts[m.link.On.Rank()] = "in " + calls
		}
		m.Listen() // others may ask, too
	}
	return texts
}

// Leave tells the others that this rank makes no more calls, and why.
func (m *Messages) Leave(why string) { m.send(hasLeft, why, m.others()...) }

// Close gives the memory back but for that of messages that are still under way, and reports whether all others have left,
// too, now or within so long. It may be called again.
func (m *Messages) Close(patience time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = false
	for until := time.Now().Add(patience); ; board.Yield() {
		runtime.Gosched() // the other ranks may be goroutines of this process
		m.receive()
		if m.alone() || !time.Now().Before(until) {
			break
		}
	}
	m.settle(patience)
	m.closed = true
	if m.room != nil {
		m.room.Release()
		m.room = nil
	}
	return m.alone()
}

// alone reports whether all others have left. The caller holds the lock.
func (m *Messages) alone() bool { return len(m.gone) == m.link.On.Size()-1 }
