package comm

import (
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/progress"
	"dtl/core/status"
)

// Ranks that share no memory tell each other by short messages what ranks of a board read there: that one has left or
// given up and, when one of them asks, where they are. Who waits looks for such messages now and then.

// statusMessage is one.
type statusMessage struct {
	of       uint64 // the communicator's number: another may have left some behind that nobody received
	kind     int32
	length   int32
	meetings uint64 // the number of the last meeting that the rank came to
	started  uint64 // how many collectives that do not block it has started
	text     [480]byte
}

const statusBytes = int(unsafe.Sizeof(statusMessage{}))

// The kinds of notices.
const (
	hasLeft int32 = iota + 1 // the rank makes no more calls; the text says why
	gaveUp                   // the rank has given up a meeting; the text says which, and why
	asks                     // where this rank is
	reports                  // the rank is about to print a report
	answers                  // the text says where the rank is
)

// notices are what the ranks of a communicator have told this one; nil where they share a board.
type notices struct {
	comm *Comm
	of   uint64

	mu       sync.Mutex
	closed   bool
	room     *memory.Storage // for one that comes
	gone     []departure     // by rank
	by       int             // who has given up; -1: nobody
	why      string
	asking   []int    // ranks that this one has not answered
	places   []string // what the ranks answered, "" if they have not
	reported time.Time
	reporter int // who said last that it reports
	sent     []sent
}

// departure is how a rank left.
type departure struct {
	why               string // "": it has not
	meetings, started uint64
}

// sent are messages under way from the same memory.
type sent struct {
	room     *memory.Storage
	requests []backend.Request
}

func newNotices(c *Comm, of uint64) *notices {
	return &notices{comm: c, of: of, gone: make([]departure, c.size), by: -1, places: make([]string, c.size)}
}

// tell sends a notice to some ranks. What cannot be sent is left out: nobody depends on it.
func (n *notices) tell(kind int32, text string, to ...int) {
	c := n.comm
	content := statusMessage{of: n.of, kind: kind, meetings: c.gathering.number.Load(), started: c.posts.started()}
	content.length = int32(copy(content.text[:], text))
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	storage, err := memory.NewStorage(c.memory, statusBytes, alignment)
	if err != nil {
		return
	}
	*(*statusMessage)(storage.Addr()) = content
	s := sent{room: storage}
	for _, rank := range to {
		if r, err := c.payload.SendFor(span(storage, statusBytes), rank, c.lane(noticeLane), 0); err == nil && r != nil {
			s.requests = append(s.requests, r)
		}
	}
	n.sent = append(n.sent, s)
	n.settle(0)
}

// others are all ranks but this one.
func (n *notices) others() []int {
	var ranks []int
	for step := 1; step < n.comm.size; step++ {
		ranks = append(ranks, (n.comm.rank+step)%n.comm.size)
	}
	return ranks
}

// settle gives the memory of notices back that have gone. The caller holds the lock.
func (n *notices) settle(patience time.Duration) {
	n.sent = slices.DeleteFunc(n.sent, func(s sent) bool {
		for _, r := range s.requests {
			if _, done, _ := r.WaitFor(patience); !done {
				return false
			}
		}
		s.room.Release()
		return true
	})
}

// goOn takes notice of what has come, and says where this rank is to those that ask if it waits in a call.
func (n *notices) goOn() {
	if n == nil {
		return
	}
	n.mu.Lock()
	n.receive()
	asking := n.asking
	n.mu.Unlock()
	if asking == nil {
		return
	}
	if calls := waitingOn(n.comm); calls != "" {
		n.answer("in " + calls)
	}
}

// receive receives what has come. The caller holds the lock.
func (n *notices) receive() {
	c := n.comm
	if n.closed {
		return
	}
	if n.room == nil {
		storage, err := memory.NewStorage(c.memory, statusBytes, alignment)
		if err != nil {
			return
		}
		n.room = storage
	}
	for {
		st, there, err := c.payload.TryRecv(span(n.room, statusBytes), backend.AnySource, c.lane(noticeLane))
		if !there || err != nil {
			break
		}
		if m := (*statusMessage)(n.room.Addr()); st.Bytes == statusBytes && m.of == n.of {
			n.take(st.Source, m)
		}
	}
	n.settle(0)
}

// take takes notice of one. The caller holds the lock.
func (n *notices) take(from int, m *statusMessage) {
	text := string(m.text[:min(max(int(m.length), 0), len(m.text))])
	switch m.kind {
	case hasLeft:
		n.gone[from] = departure{why: text, meetings: m.meetings, started: m.started}
	case gaveUp:
		if n.by < 0 {
			n.by, n.why = from, text
		}
	case asks:
		n.asking = append(n.asking, from)
	case reports:
		n.reported, n.reporter = time.Now(), from
	case answers:
		n.places[from] = text
	}
}

// answer says where this rank is to those that ask.
func (n *notices) answer(place string) {
	n.mu.Lock()
	to := n.asking
	n.asking = nil
	n.mu.Unlock()
	if to != nil {
		n.tell(answers, place, to...)
	}
}

// asked reports whether a rank that this one has not answered asks where it is.
func (n *notices) asked() bool {
	if progress.Limited() {
		return false
	}
	n.goOn()
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asking != nil
}

// left says how a rank has left; "" if it has not.
func (n *notices) left(rank int) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.gone[rank].why
}

// startedBy returns how many collectives that do not block a rank has started that has left.
func (n *notices) startedBy(rank int) uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.gone[rank].started
}

// meetsInVain says which rank has left before it came to a meeting, if one has.
func (n *notices) meetsInVain(number uint64, call string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for rank, d := range n.gone {
		if d.why != "" && d.meetings < number {
			return vain{status.New(status.Communication, "rank %d %s, and does not come to %s", rank, d.why, call)}
		}
	}
	return nil
}

// giveUp says that this rank has given up a meeting: nobody can meet any more.
func (n *notices) giveUp(why string) {
	n.mu.Lock()
	if n.by < 0 {
		n.by, n.why = n.comm.rank, why
	}
	n.mu.Unlock()
	n.tell(gaveUp, why, n.others()...)
}

// broken returns the rank that gave up first, as far as this one knows, and why; -1 if none did.
func (n *notices) broken() (rank int, why string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.by, n.why
}

// claim reports whether this rank is to print a report: no other says so, now or in the last so long. Of several that do
// at once, the lowest reports.
func (n *notices) claim(since time.Duration) bool {
	const crossing = 100 * time.Millisecond
	if n == nil {
		return true
	}
	heard := func(after time.Time, below int) bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.receive()
		return n.reported.After(after) && n.reporter < below
	}
	begun := time.Now()
	if heard(begun.Add(-since*3/4), n.comm.size) {
		return false
	}
	n.tell(reports, "", n.others()...)
	for time.Since(begun) < crossing {
		time.Sleep(crossing / 10)
		if heard(begun, n.comm.rank) {
			return false
		}
	}
	return true
}

// where asks the ranks where they are, and returns what they say for about so long.
func (n *notices) where(patience time.Duration) []string {
	n.mu.Lock()
	clear(n.places)
	n.mu.Unlock()
	n.tell(asks, "", n.others()...)
	texts := make([]string, n.comm.size)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline) && slices.Contains(texts, ""); time.Sleep(10 * time.Millisecond) {
		n.mu.Lock()
		n.receive()
		copy(texts, n.places)
		for rank, d := range n.gone {
			if texts[rank] == "" {
				texts[rank] = d.why
			}
		}
		n.mu.Unlock()
		if calls := waitingOn(n.comm); calls != "" {
			texts[n.comm.rank] = "in " + calls
		}
		n.goOn() // others may ask, too
	}
	return texts
}

// leave tells the others that this rank makes no more calls, and why.
func (n *notices) leave(why string) {
	if n != nil {
		n.tell(hasLeft, why, n.others()...)
	}
}

// close gives the memory back but for that of notices that are still under way, and reports whether all others have left,
// too, now or within so long.
func (n *notices) close(patience time.Duration) bool {
	if n == nil {
		return true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = false // or this is not the first time
	for until := time.Now().Add(patience); ; yield() {
		n.receive()
		if n.alone() || !time.Now().Before(until) {
			break
		}
	}
	n.settle(patience)
	n.closed = true
	if n.room != nil {
		n.room.Release()
		n.room = nil
	}
	return n.alone()
}

// alone reports whether all others have left. The caller holds the lock.
func (n *notices) alone() bool {
	for rank, d := range n.gone {
		if rank != n.comm.rank && d.why == "" {
			return false
		}
	}
	return true
}

// lingering are communicators that this rank has closed and others have not, or on which it still asks them. To free one
// while a message may come on it is no option: the library may take that for a message of another communicator, which gets
// the same number.
var lingering struct {
	mu   sync.Mutex
	list []*Comm
}

// free frees the communicators, now or when all other ranks have closed them.
func (c *Comm) free() error {
	const orderly = 20 * time.Millisecond
	freeLingering()
	if c.notices.close(orderly) && c.posts.answered() {
		return c.freeNow()
	}
	lingering.mu.Lock()
	defer lingering.mu.Unlock()
	lingering.list = append(lingering.list, c)
	return nil
}

// freeLingering frees those that all other ranks have closed by now.
func freeLingering() {
	lingering.mu.Lock()
	defer lingering.mu.Unlock()
	lingering.list = slices.DeleteFunc(lingering.list, func(c *Comm) bool {
		if !c.notices.close(0) || !c.posts.answered() {
			return false
		}
		_ = c.freeNow() // there is nobody to tell
		return true
	})
}

// waitingOn says in which calls this process waits, as far as a communicator's ranks are concerned.
func waitingOn(c *Comm) string {
	vigils.mu.Lock()
	defer vigils.mu.Unlock()
	return strings.Join(c.waits(), " and in ")
}
