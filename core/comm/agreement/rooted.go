package agreement

import (
	"slices"
	"time"

	"dtl/core/board"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// If ranks share memory, calls with a root do not wait for all of them. Root of a short broadcast writes its elements and goes
// on, and so do all ranks but root in a short reduction. So if ranks disagree, some may have gone on, and cannot come to a
// meeting to say what they have called. The rank that finds the disagreement tells all others at once (board.Split). It reads
// on the board what a rank that has gone on has called.

// Gone says for whom a rank waits in a call with a root, and which call that is.
type Gone struct {
	Waits board.Waits
	Root  int
	Call  *wire.Signature
}

// ComeFor is Come to the meeting of a call that may not wait for all ranks.
func (m *Shared) ComeFor(g Gone, s wire.Statement, brought Elements) (bool, error) {
	m.pending.call = board.Call{
		Operation: wire.Hash(g.Call.Op), Type: int64(g.Call.Type), Count: int64(g.Call.Count), Root: g.Call.Root,
	}
	if g.Call.Operator != "" {
		m.pending.call.Operator = wire.Hash(g.Call.Operator)
	}
	return m.come(s, board.Entry{Waits: g.Waits, Root: uint16(g.Root)}, brought)
}

// Refuse replaces ComeFor for a rank that would wait for none and cannot make its call. All others get its error.
func (m *Shared) Refuse(text string, code status.Code) (bool, error) {
	m.pending.refusal = text
	return m.come(wire.Statement{Code: int32(code)}, board.Entry{Waits: board.WaitsForNone}, Elements{})
}

// refuse completes Refuse, unless a rank has not yet learned of an earlier disagreement.
func (m *Shared) refuse() bool {
	if rank := m.board.Unsettled(); rank >= 0 {
		m.missing, m.missingAt = rank, m.pending.number
		return false
	}
	m.board.Split(m.pending.number, int(m.pending.entry.Code), m.pending.refusal)
	if _, yes := m.board.IsSplit(); yes {
		m.board.Hear()
	}
	return true
}

// BeginConfirm makes Wait and Agreed look at all ranks in the meeting that this rank has left, until EndConfirm. It returns the
// name of the call, and the call. gone is false if this rank has not gone on.
func (m *Shared) BeginConfirm() (op, call string, gone bool) {
	seq := m.board.Meetings()
	e, there := m.board.EntryOf(m.rank, seq)
	if !there || e.Waits != board.WaitsForNone && e.Waits != board.WaitsForRoot {
		return "", "", false
	}
	m.pending.number, m.waitsIn, m.missing = min(m.pending.number, seq), 0, -1
	m.confirms = true
	m.board.Confirm(seq)
	s := m.described(m.rank, seq)
	return s.Op, s.String(), true
}

// EndConfirm is the end of BeginConfirm.
func (m *Shared) EndConfirm() {
	m.confirms = false
	m.board.Confirm(0)
}

// SomeGone reports whether ranks that do not agree cannot all explain themselves: a rank has gone on, from this call or from
// an earlier one in which they differed.
func (m *Shared) SomeGone() bool {
	return m.confirms || m.differedBefore() >= 0 ||
		slices.ContainsFunc(m.others(), func(rank int) bool { return m.board.Entry(rank).Waits == board.WaitsForNone })
}

// differedBefore returns a rank that made other calls than this one before this meeting; -1: none has.
func (m *Shared) differedBefore() int {
	before := m.board.Meetings() - 1
	mine, there := m.board.HistoryOf(m.rank, before)
	for rank := range m.size {
		if theirs, known := m.board.HistoryOf(rank, before); there && known && theirs != mine {
			return rank
		}
	}
	return -1
}

// others returns the ranks beside this one that have come to this meeting.
func (m *Shared) others() (ranks []int) {
	for rank := range m.size {
		if rank != m.rank && m.board.Arrived(rank) {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// goneAstray reports whether a rank that has come to this meeting, and has gone on, makes another call than this one: then
// there is nothing to wait for.
func (m *Shared) goneAstray() bool {
	if m.pending.number > m.board.Meetings() {
		return false
	}
	return slices.ContainsFunc(m.others(), func(rank int) bool {
		return m.board.Entry(rank).Waits == board.WaitsForNone && !m.agrees(rank)
	})
}

// Split tells all ranks that they do not agree in this meeting, where some of them have gone on, and returns the error. text
// is what this rank called, or, with a code, why it cannot make its call.
func (m *Shared) Split(text string, code status.Code) error {
	const grace = 100 * time.Millisecond
	seq := m.board.Meetings()
	if code != status.OK {
		m.board.Split(seq, int(code), text)
		return m.told(seq)
	}
	if rank := m.differedBefore(); rank >= 0 {
		return m.splitFrom(rank, seq-1)
	}
	others := m.others()
	differs := func(rank int) bool { return !m.agrees(rank) }
	at := slices.IndexFunc(others, func(rank int) bool {
		return differs(rank) && m.board.Entry(rank).Waits == board.WaitsForNone
	})
	for until := time.Now().Add(grace); at < 0 && time.Now().Before(until); board.Yield() {
		if _, yes := m.board.IsSplit(); yes { // who differs is in its call, and has said which
			return m.told(seq)
		}
	}
	if at < 0 {
		at = slices.IndexFunc(others, differs)
	}
	texts := m.known(seq)
	texts[m.rank] = text
	if at >= 0 {
		texts[others[at]] = m.describe(others[at], seq)
	}
	m.board.Split(seq, int(status.Mismatch), watchdog.ByRanks(texts, "called "))
	return m.told(seq)
}

// splitFrom tells all ranks that another rank and this one made different calls, up to a meeting from which they have gone on,
// and returns the error.
func (m *Shared) splitFrom(rank int, seq uint64) error {
	first := m.firstDifference(rank, seq)
	texts := m.known(first)
	texts[m.rank], texts[rank] = m.describe(m.rank, first), m.describe(rank, first)
	m.board.Split(first, int(status.Mismatch), watchdog.ByRanks(texts, "called "))
	return m.told(m.number())
}

// firstDifference returns the first meeting, up to one, in which another rank and this one made different calls, as far as
// that is still on the board.
func (m *Shared) firstDifference(rank int, seq uint64) uint64 {
	for seq > 1 {
		mine, there := m.board.HistoryOf(m.rank, seq-1)
		theirs, known := m.board.HistoryOf(rank, seq-1)
		if !there || !known || mine == theirs {
			break
		}
		seq--
	}
	return seq
}

// known returns what each rank called that has come to a meeting and may have gone on from it.
func (m *Shared) known(seq uint64) []string {
	texts := make([]string, m.size)
	for rank := range texts {
		if e, there := m.board.EntryOf(rank, seq); there && (e.Waits == board.WaitsForNone || e.Waits == board.WaitsForRoot) {
			texts[rank] = m.describe(rank, seq)
		}
	}
	return texts
}

// describe returns what a rank called.
func (m *Shared) describe(rank int, seq uint64) string {
	if e, there := m.board.EntryOf(rank, seq); !there || e.Waits == board.WaitsForAll {
		return anotherOperation
	}
	s := m.described(rank, seq)
	return s.String()
}

// described returns what a rank called that may have gone on.
func (m *Shared) described(rank int, seq uint64) wire.Signature {
	c, there := m.board.CallOf(rank, seq)
	if !there { // its rank is overwriting it
		return wire.Signature{Op: anotherOperation}
	}
	return signatureOf(c.Operation, c.Operator, c.Type, c.Count, c.Root)
}

// anotherOperation stands for an operation of which no rank has kept the name.
const anotherOperation = "another operation"

// signatureOf returns a call from which its rank may have gone on, from the hashes of the names of its operation and operator.
func signatureOf(operation, operator uint64, elementType, count, root int64) wire.Signature {
	s := wire.Signature{Op: anotherOperation, Type: dtype.Type(elementType), Count: int(count), Root: root}
	for _, name := range []string{"broadcast", "scatter", "gather", "reduce"} {
		if wire.Hash(name) == operation {
			s.Op = name
		}
	}
	for op := range kernel.NOps {
		if wire.Hash(op.String()) == operator {
			s.Operator = op.String()
		}
	}
	return s
}

// heard returns the error that another rank tells all others, if this rank's call is meant or a later one, or if the rank that
// this one waits for has heard of it, and does not come.
func (m *Shared) heard() error {
	from, yes := m.board.IsSplit()
	if !yes {
		return nil
	}
	number := m.number()
	if missing, at := m.missing, m.missingAt; number < from {
		if missing < 0 || !m.board.HasHeard(missing) {
			return nil
		}
		if m.pending.number <= m.board.Meetings() && m.complete() { // it had come before
			return nil
		}
		if m.board.Came(missing, at) {
			return nil
		}
	}
	return m.told(number)
}

// told returns the error that a rank tells all, as this one sees it whose call is of a number.
func (m *Shared) told(number uint64) error {
	from, yes := m.board.IsSplit()
	if !yes {
		return nil
	}
	when := ""
	if number > from || m.confirms {
		when = whenGone(m.board.Number(), from)
	}
	rank, code, why := m.board.Hear()
	if status.Code(code) != status.Mismatch {
		return watchdog.InVain(status.New(status.Code(code), "rank %d%s: %s", rank, when, why))
	}
	return watchdog.InVain(disagree(when, why))
}
