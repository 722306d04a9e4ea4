package watchdog

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/goroutine"
	"dtl/core/status"
)

// until waits for what another goroutine does.
func until(yes func() bool) {
	for !yes() {
		runtime.Gosched()
	}
}

func TestOneThreadAtATimeAsksForPlaces(t *testing.T) {
	asked, answer := make(chan bool, 9), make(chan string)
	Program.WhereIs = func(int) string {
		asked <- true
		return <-answer
	}
	defer func() { Program.WhereIs = nil }()
	for range 3 { // nobody answers
		assert.Empty(t, threadPlace(1))
	}
	assert.Len(t, asked, 1)
	answer <- "app.py:1"
	until(func() bool { return !naming.Load() })
	go func() { answer <- "app.py:2" }()
	assert.Equal(t, " at app.py:2", threadPlace(1))
}

func TestTextsAreNamedOnce(t *testing.T) {
	for _, row := range []struct {
		name, verb, want string
		texts            []string
	}{
		{"one text", "", "ranks 0-2 in barrier()", []string{"in barrier()", "in barrier()", "in barrier()"}},
		{"a rank that gave none", "called ", "rank 1 called f", []string{"", "f", ""}},
		{"ranks apart", "", "ranks 0, 2-3 in f; rank 1 in g", []string{"in f", "in g", "in f", "in f"}},
		{"nothing", "", "", []string{"", ""}},
	} {
		t.Run(row.name, func(t *testing.T) { assert.Equal(t, row.want, ByRanks(row.texts, row.verb)) })
	}
}

func TestErrorsInVainAreKnown(t *testing.T) {
	err := status.New(status.Communication, "rank 1 has left")
	assert.False(t, IsInVain(err))
	assert.True(t, IsInVain(status.In("recv", InVain(err))))
	assert.ErrorIs(t, InVain(err), status.Communication)
	assert.NoError(t, InVain(nil))
}

func TestHandlersAreCounted(t *testing.T) {
	me := goroutine.ID()
	handlers.run(func() bool {
		assert.EqualValues(t, 1, HandlerDepth(me))
		assert.Zero(t, HandlerDepth(me+1))
		return handlers.run(func() bool {
			assert.EqualValues(t, 2, HandlerDepth(me))
			return false
		})
	})
	assert.Zero(t, HandlerDepth(me))
}

// said is a Channel whose other ranks say what a test wants.
type said struct {
	tells  []string
	left   map[int]string
	places []string
	claims bool
}

func (s *said) Tell(calls string)          { s.tells = append(s.tells, calls) }
func (s *said) Listen()                    {}
func (s *said) Asked() bool                { return false }
func (s *said) Answer(string)              {}
func (s *said) Places() []string           { return s.places }
func (s *said) Claim(time.Duration) bool   { return s.claims }
func (s *said) GiveUp(string)              {}
func (s *said) GaveUp() (int, string)      { return -1, "" }
func (s *said) Leave(string)               {}
func (s *said) Left(rank int) (why string) { return s.left[rank] }

func TestRanksAreAbsentThatHaveLeft(t *testing.T) {
	const why = "has ended its program"
	all := map[int]string{0: why, 1: why}
	for _, row := range []struct {
		name, want string
		left       map[int]string
		peer       int
	}{
		{"the peer", "rank 1 has ended its program", map[int]string{1: why}, 1},
		{"another", "", map[int]string{1: why}, 0},
		{"one of any", "", map[int]string{1: why}, backend.AnySource},
		{"all of any", "ranks 0-1 has ended its program", all, backend.AnySource},
		{"no one rank's", "", all, NoPeer},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, NewGroup(2, 3, false, &said{left: row.left}).Absent(row.peer))
		})
	}
	g := NewGroup(2, 3, false, &said{left: all})
	assert.Equal(t, "rank 1 has ended its program", g.AbsentFrom(func(rank int) bool { return rank == 0 }))
	assert.Empty(t, NewGroup(0, 1, false, nil).Absent(backend.AnySource), "alone")
}

func TestAbsenceLastsForAWhile(t *testing.T) {
	a, now := Absence{}, time.Now()
	check := func(after time.Duration, absent string) error {
		a.checked = now.Add(after)
		return a.Check(absent, "recv()")
	}
	assert.NoError(t, check(0, "rank 1 has left"))
	assert.NoError(t, check(grace-1, "rank 1 has left"))
	assert.NoError(t, check(grace, ""), "a message came")
	assert.NoError(t, check(grace+1, "rank 1 has left"))
	err := check(2*grace+1, "rank 1 has left")
	assert.ErrorContains(t, err, "rank 1 has left: recv() waits in vain")
	assert.True(t, IsInVain(err))
}

// waiter says what a test wants.
type waiter struct{ closed, inVain error }

func (w waiter) Closed() error { return w.closed }
func (w waiter) InVain() error { return w.inVain }

// due has a wait's next check look, as if it had waited for so long.
func due(w *Wait, waited time.Duration) {
	w.started, w.checked = time.Now().Add(-waited), time.Time{}
}

func TestChecks(t *testing.T) {
	closed, inVain := errors.New("closed"), errors.New("in vain")
	channel := &said{places: []string{"in f() at app.py:41", ""}, claims: true}
	g := NewGroup(0, 2, false, channel)
	var reports []string
	Program.Report = func(text string) { reports = append(reports, text) }
	SetLimits(time.Second, time.Minute)
	defer func() {
		SetLimits(0, 0)
		Program.Report, Program.Interrupted = nil, nil
	}()
	g.Join()
	w := g.Begin("f()")
	assert.NoError(t, w.Check(waiter{closed: closed}), "it is not due")
	due(&w, 0)
	assert.Equal(t, closed, w.Check(waiter{closed, inVain}))
	due(&w, 0)
	assert.Equal(t, inVain, w.Check(waiter{inVain: inVain}))
	assert.Equal(t, []string{"f()"}, channel.tells)
	w.Say("g()")
	due(&w, 1500*time.Millisecond)
	assert.NoError(t, w.Check(waiter{}))
	due(&w, 1500*time.Millisecond)
	assert.NoError(t, w.Check(waiter{}))
	assert.Equal(t, []string{"dtl: rank 0 of 2 waits for 1.5s: rank 0 in f() at app.py:41; rank 1 does not answer"}, reports,
		"the next report is due after twice the time")
	channel.claims = false
	due(&w, 9*time.Second)
	assert.NoError(t, w.Check(waiter{}))
	assert.Len(t, reports, 1, "another rank reports")
	due(&w, time.Hour)
	assert.ErrorContains(t, w.Check(waiter{}), "no end after 1m0s: rank 0 in f() at app.py:41; rank 1 does not answer")
	due(&w, 0)
	Program.Interrupted = func() bool { return true }
	assert.ErrorContains(t, w.Check(waiter{}), "interrupted")
	w.End()
	g.Leave("has closed the context")
	assert.Equal(t, []string{"f()", "g()", ""}, channel.tells)
	assert.Empty(t, joined())
}

// TestWhoHasLeftWaitsNoMore has a rank that has left wait in another communicator's call: the others still read that it left.
func TestWhoHasLeftWaitsNoMore(t *testing.T) {
	b, err := board.Alone()
	assert.NoError(t, err)
	s := NewShared(b, 1)
	s.Tell("f()")
	place, inCall := b.Where(0)
	assert.Equal(t, "f()", place)
	assert.True(t, inCall)
	s.Leave("has ended its program")
	s.Tell("g()")
	s.Tell("")
	assert.Equal(t, "has ended its program", s.Left(0))
	s.Close()
	assert.Empty(t, s.Left(0), "the board is closed")
	assert.NoError(t, b.Close())
	b.Recycle()
}

func TestCallsInsideTheBackendSayWhatTheyWaitFor(t *testing.T) {
	g := NewGroup(0, 2, false, &said{places: []string{"in barrier()", "does this"}})
	for _, row := range []struct {
		name, text, advice string
		call               BackendCall
	}{
		{"a collective", "barrier", "all ranks have come to it; rank 0 in barrier(); rank 1 does this", BackendCall{Group: g, Op: "barrier"}},
		{"one rank's part", "flush of rank 1's part", "until rank 1 makes a call", BackendCall{g, "flush", "part", 1, 0, 0, 0}},
		{"all parts", "close of all parts", "until the other ranks make a call", BackendCall{g, "close", "part", backend.Every, 0, 0, 0}},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.text, row.call.String())
			assert.Contains(t, row.call.advice(), row.advice)
		})
	}
}

func TestCallsInsideTheBackendAreReported(t *testing.T) {
	texts := make(chan string, 9)
	Program.Report = func(text string) { texts <- text }
	SetLimits(time.Nanosecond, 0)
	c := BackendCall{Group: NewGroup(1, 2, false, &said{}), Op: "flush", Of: "part", Target: 0}
	assert.NoError(t, c.Run(func() error {
		assert.Regexp(t, `^dtl: rank 1 of 2 waits for [0-9.]+m?s: in flush of rank 0's part; the ranks share no memory`, <-texts)
		return nil
	}))
	SetLimits(0, 0)
	until(func() bool { // the goroutine that looks has ended
		backendCalls.mu.Lock()
		defer backendCalls.mu.Unlock()
		return !backendCalls.watched
	})
	Program.Report = nil
	assert.Empty(t, backendCalls.now)
}
