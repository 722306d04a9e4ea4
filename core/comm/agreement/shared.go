package agreement

import (
	"time"
	"unsafe"

	"dtl/core/board"
	"dtl/core/comm/wire"
	"dtl/core/kernel/reduce"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// Shared is the Meeter of ranks that share memory. Each lays down an entry on the board, and reads those of the others.
//
// Not every call waits for all ranks, here. ComeFor says for which; rooted.go has what follows where ranks disagree about
// such a call.
type Shared struct {
	board      *board.Board
	rank, size int
	looks      int
	group      *watchdog.Group
	starts     *Starts
	pause      func(turn int)

	// What this rank is about to lay down, for the meeting of a number, until there is room.
	pending struct {
		number      uint64
		fingerprint uint64
		entry       board.Entry
		call        board.Call
		brought     Elements
		refusal     string // why it cannot make its call, where it lays down nothing
	}

	confirms bool // see BeginConfirm

	// Of the wait in the meeting of a number, to which code outside Go may have come.
	waitsIn   uint64
	seen      int    // so many ranks, from the first on, have come
	missing   int    // the rank that is waited for; -1: none is
	missingAt uint64 // where it has not come yet
	turn      int
	looked    int
}

var _ Meeter = (*Shared)(nil)

// waitTurns is how often Wait looks.
const waitTurns = 64

// NewShared returns the Meeter of a rank of a board, whose ranks are a group and compare what they start. looks is how
// often Come looks for each other rank, and pause passes the time between two looks of Wait.
func NewShared(b *board.Board, group *watchdog.Group, starts *Starts, looks int, pause func(turn int)) *Shared {
	return &Shared{board: b, rank: b.Rank(), size: b.Size(), looks: looks, group: group, starts: starts, pause: pause, missing: -1}
}

// Come lays down an entry, and looks for those of the others.
func (m *Shared) Come(s wire.Statement, brought Elements) (bool, error) {
	e := board.Entry{}
	if m.board.Groups() {
		e.Waits = board.WaitsTogether
	}
	return m.come(s, e, brought)
}

func (m *Shared) come(s wire.Statement, e board.Entry, brought Elements) (bool, error) {
	e.ElementsHash, e.Code = s.ElementsHash, int16(s.Code)
	p := &m.pending
	p.number, p.fingerprint, p.entry, p.brought = m.board.Meetings()+1, s.Fingerprint, e, brought
	if err := m.heard(); err != nil {
		return false, err
	}
	for looks := m.looks; ; looks-- {
		if there, err := m.look(); there || err != nil || looks <= 0 {
			return there, err
		}
		board.Pause()
	}
}

// Explain lays down a text beside the entry.
func (m *Shared) Explain(text string, code status.Code) (bool, error) {
	m.board.Account(text)
	m.board.Forget()
	return m.come(wire.Statement{Fingerprint: explaining, Code: int32(code)}, board.Entry{}, Elements{})
}

// Wait looks for the entries that are missing: once where d is 0, else waitTurns times.
func (m *Shared) Wait(d time.Duration) (bool, error) {
	if number := m.number(); m.waitsIn != number {
		m.waitsIn, m.turn = number, 0
	}
	for turns := 0; ; turns++ {
		if there, err := m.look(); there || err != nil {
			return there, err
		}
		if err := m.heard(); err != nil || d == 0 || turns == waitTurns {
			return err == nil && m.goneAstray(), err
		}
		m.turn++
		m.pause(m.turn)
	}
}

// number returns that of the meeting to which this rank comes, or has come.
func (m *Shared) number() uint64 { return max(m.pending.number, m.board.Meetings()) }

// look lays down the entry if there is room, and reports whether those are there that this rank waits for.
func (m *Shared) look() (bool, error) {
	if m.pending.number > m.board.Meetings() {
		if m.pending.entry.Code != 0 && m.pending.entry.Waits == board.WaitsForNone {
			return m.refuse(), nil
		}
		if room, err := m.makeRoom(); err != nil || !room {
			return false, err
		}
		m.lay()
	}
	return m.complete(), nil
}

// makeRoom reports whether there is room for the entry, for which others may have to go on. An error says that one of them has
// made other calls.
func (m *Shared) makeRoom() (bool, error) {
	waits, n := m.pending.entry.Waits, m.pending.brought.Bytes()
	if m.board.HasRoom(waits, n) {
		return true, nil
	}
	if rank := m.board.Unsettled(); rank >= 0 {
		m.missing, m.missingAt = rank, m.pending.number
		return false, nil
	}
	switch progress, rank, seq := m.board.MakeRoom(waits, n); progress {
	case board.Behind:
		m.missing, m.missingAt = rank, seq
		return false, nil
	case board.Astray:
		return false, m.splitFrom(rank, seq)
	}
	return true, nil
}

func (m *Shared) lay() {
	p := &m.pending
	if p.entry.Waits == board.WaitsForNone || p.entry.Waits == board.WaitsForRoot {
		m.board.Describe(p.call)
	}
	m.board.Lay(p.fingerprint, p.entry, p.brought.Addr, p.brought.Bytes())
	if p.entry.Waits == board.WaitsTogether {
		m.board.ComeTogether(combiner(p.brought))
	}
	p.brought = Elements{}
	m.seen, m.looked = 0, 0
}

// combiner returns what adds elements to others where they are Combined, else nil.
func combiner(e Elements) func(into, from unsafe.Pointer) {
	if e.Way != Combined || e.Addr == nil || e.Bytes() > board.MaxPayload { // for which a group has no room
		return nil
	}
	return func(into, from unsafe.Pointer) {
		to, more := e.Span, e.Span
		to.Addr, more.Addr = into, from
		_ = reduce.Accumulate(to, more, e.Op) // which the caller has checked
	}
}

// complete reports whether all are there for which this rank waits.
func (m *Shared) complete() bool {
	b, mine := m.board, m.board.Entry(m.rank)
	m.missing = -1
	if m.confirms {
		return m.each()
	}
	switch mine.Waits {
	case board.WaitsForNone:
		return true
	case board.WaitsForRoot:
		root := min(int(mine.Root), m.size-1)
		if !b.Arrived(root) {
			m.missing, m.missingAt = root, b.Meetings()
			return false
		}
		if b.Entry(root).Waits == board.WaitsForNone {
			b.Learn(root)
			return true
		}
	case board.WaitsTogether:
		if there, agreed := b.Together(); there && agreed {
			b.AllCame()
			return true
		}
		if m.looked++; m.looked%looksAtEach != 0 {
			return false
		}
	}
	return m.each()
}

// looksAtEach is how often a rank that meets in groups looks before it looks at each rank, for one that may have made another
// call.
const looksAtEach = 64

// together is the board's, where this rank waits for that.
func (m *Shared) together() (there, agreed bool) {
	if m.board.Entry(m.rank).Waits != board.WaitsTogether {
		return true, false
	}
	return m.board.Together()
}

// each reports whether each rank has come.
func (m *Shared) each() bool {
	b := m.board
	for m.seen = 0; m.seen < m.size; m.seen++ {
		if !b.Arrived(m.seen) {
			m.missing, m.missingAt = m.seen, b.Meetings()
			return false
		}
	}
	if there, _ := m.together(); !there && m.Agreed() { // the last one is about to publish the outcome, unless it has ended
		for rank := range m.size {
			if m.group.Left(rank) != "" {
				m.missing, m.missingAt = rank, b.Meetings()+1
			}
		}
		return false
	}
	b.AllCame()
	return true
}

// InVain looks whether the rank that is missing has left, or has deferred a call that this rank has not.
func (m *Shared) InVain(call string) error {
	if m.missing < 0 {
		return nil
	}
	came := func(rank int) bool { return m.board.Came(rank, m.missingAt) }
	if why := m.group.Left(m.missing); why != "" && !came(m.missing) {
		return doesNotCome(m.missing, why, call)
	}
	return m.starts.overtaken(m.missing, came, m.rank, call)
}

// Leave does nothing: the others see that this rank has given up.
func (m *Shared) Leave() {}

// Agreed compares the entries.
func (m *Shared) Agreed() bool {
	mine := m.board.Entry(m.rank)
	if m.confirms {
		return m.allAgree()
	}
	switch mine.Waits {
	case board.WaitsForNone:
		return true
	case board.WaitsForRoot:
		if root := min(int(mine.Root), m.size-1); m.board.Arrived(root) && m.board.Entry(root).Waits == board.WaitsForNone {
			return m.agrees(root)
		}
	case board.WaitsTogether:
		if there, agreed := m.together(); there {
			return agreed
		}
	}
	return m.allAgree()
}

// allAgree compares the entries of all.
func (m *Shared) allAgree() bool {
	agreement := wire.Agreement{Fingerprint: m.board.Entry(m.rank).History}
	for rank := range m.size {
		if !m.board.Arrived(rank) || !agreement.Includes(stated(m.board.Entry(rank))) {
			return false
		}
	}
	return true
}

// stated returns the statement of an entry. Its fingerprint is that of all calls up to this one.
func stated(e *board.Entry) wire.Statement {
	return wire.Statement{Fingerprint: e.History, ElementsHash: e.ElementsHash, Code: int32(e.Code)}
}

// agrees reports whether this rank and another one that has come make the same call.
func (m *Shared) agrees(rank int) bool {
	mine := m.board.Entry(m.rank)
	agreement := wire.Agreement{Fingerprint: mine.History}
	return agreement.Includes(stated(mine)) && agreement.Includes(stated(m.board.Entry(rank)))
}

// Payload returns where a rank's bytes are on the board.
func (m *Shared) Payload(rank int) (unsafe.Pointer, int) { return m.board.Payload(rank) }

// Deadlock looks at the hashes of elements in the entries.
func (m *Shared) Deadlock() (yes bool, first uint64) {
	least := m.board.StartedBy(0)
	for rank := range m.size {
		yes = yes || m.board.Arrived(rank) && m.board.Entry(rank).ElementsHash == DeadlockHash
		least = min(least, m.board.StartedBy(rank))
	}
	return yes, least + 1
}

// Explained reads the texts.
func (m *Shared) Explained() ([]status.Code, []string) {
	codes, texts := make([]status.Code, m.size), make([]string, m.size)
	for rank := range m.size {
		codes[rank], texts[rank] = status.Code(m.board.Entry(rank).Code), m.board.AccountOf(rank)
	}
	return codes, texts
}

// BlockedWithout looks for entries of the next meetings, of ranks that wait there for this one.
func (m *Shared) BlockedWithout(seq uint64) bool {
	for rank := range m.size {
		e, at := m.last(rank)
		if e == nil {
			continue
		}
		goesOn := e.Waits == board.WaitsForNone || e.Waits == board.WaitsForRoot && int(e.Root) != m.rank
		if goesOn && !m.board.Confirms(rank, at) {
			continue
		}
		if m.board.StartedBy(rank) < seq || e.ElementsHash == DeadlockHash {
			return true
		}
	}
	return false
}

// last returns the last entry that a rank has laid down, which may have gone on from some, for meetings to which this one has
// not come, and of which it is; nil if there is none.
func (m *Shared) last(rank int) (last *board.Entry, seq uint64) {
	for seq = m.board.Meetings(); ; seq++ {
		e, there := m.board.EntryOf(rank, seq+1)
		if !there {
			return last, seq
		}
		last = e
	}
}

// Number returns how often this rank has laid down an entry.
func (m *Shared) Number() uint64 { return m.board.Meetings() }

// Combination is there where the ranks meet in groups. Else it is nil: every rank's elements are on the board.
func (m *Shared) Combination() unsafe.Pointer { return m.board.Combination() }

// Room returns how many bytes a rank may bring: as many as an entry holds, or fewer where every rank reads the entries of many.
func (m *Shared) Room(w Way) int {
	if w.fromRoot() || w == Combined && m.board.Groups() {
		return board.MaxPayload
	}
	return min(board.MaxPayload, (64<<10)/m.size)
}

// Close does nothing: the board is not this package's.
func (m *Shared) Close() {}
