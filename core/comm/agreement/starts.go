package agreement

import (
	"sync"
	"sync/atomic"
	"time"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/comm/wire"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// Starts are the collectives that a rank starts without waiting for the others. All ranks start them in the same order, so
// they are numbered from 1 on, and compared number by number.
//
// If some ranks have begun an operation and others never will, the ranks are out of step from its number on: a wait for it
// returns an error, and so does each later start. Blocking calls still work.
//
// A start that may not begin yet is queued. Operations begin in the order of the calls, whichever the program waits for first.
type Starts struct {
	size    int
	watch   Watch
	stopped atomic.Bool

	mu    sync.Mutex
	by    comparer // nil: the ranks do not compare
	count uint64
	lost  error // why the ranks are out of step; nil: they are not, as far as this rank knows
	line  []*Pending
}

// Watch calls ask until it returns true, or d has passed, and lets the backend make progress meanwhile.
type Watch func(d time.Duration, ask func() (backend.Status, bool, error)) (backend.Status, bool, error)

// comparer is how ranks compare what they start. The caller of its methods holds the lock of s, but for lostFrom and
// startedBy.
type comparer interface {
	// state tells the other ranks of this rank's next start, and counts it unless they cannot be told. mine says why this rank
	// cannot make it. It returns what the start has to wait for. If that is nil, an error says that the start must not begin.
	state(s *Starts, post board.Post, mine error) (permission, error)
	// lostFrom returns the first start that some ranks have made and others never will; 0: there is none.
	lostFrom() uint64
	// lose says that there is one.
	lose(seq uint64)
	// startedBy returns how many starts a rank has made that has left.
	startedBy(rank int) uint64
	// posted returns what a rank has stated of a start, if this rank can look at it.
	posted(rank int, seq uint64) (board.Post, bool)
	// defers reports whether deferred calls are compared, too.
	defers() bool
	// stop is called when the communicator closes, and free when all ranks have closed it.
	stop(s *Starts)
	free() error
}

// A permission is what a queued start waits for.
type permission interface {
	// given reports whether it is known if the operation may begin; an error says that it must not.
	given() (bool, error)
}

// NewStarts returns the Starts of a communicator of so many ranks. They do not compare them before CompareShared or
// CompareByMessages says how.
func NewStarts(size int, watch Watch) *Starts { return &Starts{size: size, watch: watch} }

// Start is one of them. The zero Start is of ranks that do not compare: nothing is known of it.
type Start struct {
	of        *Starts
	seq       uint64
	Signature wire.Signature
	Pending   *Pending // what the operation waits for before it begins; nil: nothing
}

// Begin tells the other ranks of a collective that is about to start, unless this rank has an error of its own, mine. An
// error says that it must not start.
func (s *Starts) Begin(f wire.Signature, mine error) (Start, error) {
	if s.by == nil { // spell nothing
		return Start{}, mine
	}
	var text []byte
	if mine != nil {
		text = []byte(mine.Error())
	} else {
		text = f.Encode(make([]byte, 0, board.MaxPost))
	}
	st, err := s.begin(board.Post{Fingerprint: f.Fingerprint(), ElementsHash: f.ElementsHash(), Code: int32(status.CodeOf(mine)), Bytes: text}, mine)
	st.Signature = f
	return st, err
}

func (s *Starts) begin(post board.Post, mine error) (Start, error) {
	if s.by == nil || s.stopped.Load() {
		return Start{}, mine
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Start{of: s, seq: s.count + 1}
	if err := s.outOfStep(st.seq + 1); err != nil { // nor is the first that is lost to be begun any more
		return Start{}, errorOr(mine, err)
	}
	wait, err := s.by.state(s, post, mine)
	if wait == nil {
		return st, errorOr(mine, err)
	}
	st.Pending = &Pending{of: s, permission: wait, ready: mine != nil}
	s.line = append(s.line, st.Pending)
	return st, mine
}

// errorOr returns the first of two errors that there is.
func errorOr(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// Count returns how many starts this rank has made.
func (s *Starts) Count() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// Lose says that the ranks are out of step from a start on, and why, unless that is known.
func (s *Starts) Lose(first uint64, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = errorOr(s.lost, why)
	s.by.lose(first)
}

// InStep reports whether the ranks are.
func (s *Starts) InStep() bool { return s.by == nil || s.by.lostFrom() == 0 }

// outOfStep is the error of starts after one that some ranks have made and others never will. The caller holds the lock.
func (s *Starts) outOfStep(seq uint64) error {
	if first := s.by.lostFrom(); s.lost == nil && first != 0 && first < seq {
		s.lost = s.verdict(first)
	}
	if s.lost == nil {
		return nil
	}
	return status.New(status.CodeOf(s.lost), "an earlier call failed on some ranks only, so they are out of step; go on "+
		"with a dup of the context: %w", s.lost)
}

// Exists reports whether the ranks compare the start.
func (st Start) Exists() bool { return st.of != nil }

// Number returns the start's number.
func (st Start) Number() uint64 { return st.seq }

// Check returns an error, which the watchdog's InVain has marked, if the operation is not begun by all ranks.
func (st Start) Check() error {
	s := st.of
	if s == nil || s.stopped.Load() {
		return nil
	}
	first := s.by.lostFrom()
	if first == 0 || first > st.seq {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if first < st.seq {
		return watchdog.InVain(s.outOfStep(st.seq))
	}
	if s.lost == nil {
		s.lost = s.verdict(first)
	}
	return watchdog.InVain(s.lost)
}

// StartedBy reports whether a rank that has left had made the start.
func (st Start) StartedBy(rank int) bool { return st.of.by.startedBy(rank) >= st.seq }

// verdict says what the ranks stated of a start. The caller holds the lock.
func (s *Starts) verdict(seq uint64) error {
	codes, texts := make([]status.Code, s.size), make([]string, s.size)
	for rank := range texts {
		if post, there := s.by.posted(rank, seq); there {
			codes[rank], texts[rank] = status.Code(post.Code), callOf(post)
		} else {
			texts[rank] = "nothing yet"
		}
	}
	return Verdict(codes, texts, "")
}

// callOf says which call a post is of, or why its rank cannot make it.
func callOf(post board.Post) string {
	if post.Code != 0 || post.ElementsHash == deferredHash {
		return string(post.Bytes)
	}
	f := wire.DecodeSignature(string(post.Bytes))
	return f.String()
}
