package agreement

import (
	"time"
	"unsafe"

	"dtl/core/board"
	"dtl/core/comm/wire"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// Shared is the Meeter of ranks that share memory. Each lays down an entry on the board, and reads those of the others.
type Shared struct {
	board      *board.Board
	rank, size int
	looks      int
	group      *watchdog.Group
	starts     *Starts
	pause      func(turn int)

	// Of the wait in the meeting of a number, to which code outside Go may have come.
	waitsIn uint64
	missing int // the first rank that has not been seen
	turn    int
}

var _ Meeter = (*Shared)(nil)

// waitTurns is how often Wait looks.
const waitTurns = 64

// NewShared returns the Meeter of a rank of a board, whose ranks are a group and compare what they start. looks is how
// often Come looks for each other rank, and pause passes the time between two looks of Wait.
func NewShared(b *board.Board, group *watchdog.Group, starts *Starts, looks int, pause func(turn int)) *Shared {
	return &Shared{board: b, rank: b.Rank(), size: b.Size(), looks: looks, group: group, starts: starts, pause: pause}
}

// Come lays down an entry, and looks for those of the others.
func (m *Shared) Come(s wire.Statement, brought Elements) (bool, error) {
	m.board.Lay(s.Fingerprint, s.Want, s.Code, brought.Addr, brought.Bytes())
	for rank := range m.size {
		for looks := m.looks; !m.board.Arrived(rank); looks-- {
			if looks <= 0 {
				return false, nil
			}
			board.Pause()
		}
	}
	return true, nil
}

// Explain lays down a text beside the entry.
func (m *Shared) Explain(text string, code status.Code) (bool, error) {
	m.board.Account(text)
	return m.Come(wire.Statement{Fingerprint: explaining, Code: int32(code)}, Elements{})
}

// Wait looks for the entries that are missing: once where d is 0, else waitTurns times.
func (m *Shared) Wait(d time.Duration) (bool, error) {
	if number := m.board.Meetings(); m.waitsIn != number {
		m.waitsIn, m.missing, m.turn = number, 0, 0
	}
	for turns := 0; m.missing < m.size; m.missing++ {
		for !m.board.Arrived(m.missing) {
			if d == 0 || turns == waitTurns {
				return false, nil
			}
			turns++
			m.turn++
			m.pause(m.turn)
		}
	}
	return true, nil
}

// InVain looks whether the rank that is missing has left, or has deferred a call that this rank has not.
func (m *Shared) InVain(call string) error {
	if m.missing == m.size {
		return nil
	}
	if why := m.group.Left(m.missing); why != "" {
		return doesNotCome(m.missing, why, call)
	}
	return m.starts.overtaken(m.missing, m.board.Arrived, m.rank, call)
}

// Leave does nothing: the others see that this rank has given up.
func (m *Shared) Leave() {}

// Agreed compares the entries.
func (m *Shared) Agreed() bool {
	agreement := wire.Agreement{Fingerprint: m.board.Entry(0).Fingerprint}
	for rank := range m.size {
		if e := m.board.Entry(rank); !agreement.Includes(wire.Statement{Fingerprint: e.Fingerprint, Want: e.Want, Code: e.Code}) {
			return false
		}
	}
	return true
}

// Payload returns where a rank's bytes are on the board.
func (m *Shared) Payload(rank int) (unsafe.Pointer, int) { return m.board.Payload(rank) }

// Deadlock looks at what the entries want.
func (m *Shared) Deadlock() (yes bool, first uint64) {
	least := m.board.StartedBy(0)
	for rank := range m.size {
		yes = yes || m.board.Entry(rank).Want == DeadlockWant
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

// BlockedWithout looks for entries of the next meeting.
func (m *Shared) BlockedWithout(seq uint64) bool {
	for rank := range m.size {
		if e, there := m.board.Next(rank); there && (m.board.StartedBy(rank) < seq || e.Want == DeadlockWant) {
			return true
		}
	}
	return false
}

// Number returns how often this rank has laid down an entry.
func (m *Shared) Number() uint64 { return m.board.Meetings() }

// Combination is nil: every rank's elements are on the board.
func (m *Shared) Combination() unsafe.Pointer { return nil }

// Room is that of an entry, or less where many ranks would read long ones.
func (m *Shared) Room(w Way) int {
	if w == FromRoot {
		return board.MaxPayload
	}
	return min(board.MaxPayload, (64<<10)/m.size)
}

// Close does nothing: the board is not this package's.
func (m *Shared) Close() {}
