package comm

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"dtl/backends/cpu"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// pair returns the communicators of two ranks in this process.
func pair(t *testing.T) (pair [2]*Comm) {
	t.Helper()
	type made struct {
		comm *Comm
		err  error
	}
	answers := make(chan made)
	for _, main := range cpu.Group(len(pair)) {
		go func() {
			c, err := New(main, cpu.NewHost())
			answers <- made{c, err}
		}()
	}
	for range pair {
		m := <-answers
		if !assert.NoError(t, m.err) {
			t.FailNow()
		}
		pair[m.comm.Rank()] = m.comm
	}
	return pair
}

// finish closes both.
func finish(t *testing.T, pair [2]*Comm) {
	t.Helper()
	closed := make(chan error)
	for _, c := range pair {
		go func() { closed <- c.Close() }()
	}
	for range pair {
		assert.NoError(t, <-closed)
	}
}

// soon returns what comes, or fails.
func soon(t *testing.T, answer <-chan error) error {
	t.Helper()
	select {
	case err := <-answer:
		return err
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for ever")
		return nil
	}
}

func TestWhoHoldsTheTurnMakesFurtherCalls(t *testing.T) {
	ranks := pair(t)
	ended := make(chan error, 2)
	go func() { ended <- ranks[1].Barrier() }()
	first, err := ranks[0].TakeTurn("two barriers")
	assert.NoError(t, err)
	assert.True(t, first)
	again, err := ranks[0].TakeTurn("a part")
	assert.NoError(t, err)
	assert.False(t, again)
	behind := make(chan error, 1)
	go func() { behind <- ranks[0].Barrier() }()
	assert.NoError(t, ranks[0].Barrier())
	assert.NoError(t, soon(t, ended))
	select {
	case <-behind:
		t.Error("another goroutine's call came between")
	default:
	}
	ranks[0].EndTurn()
	go func() { ended <- ranks[1].Barrier() }()
	assert.NoError(t, soon(t, behind))
	assert.NoError(t, soon(t, ended))
	finish(t, ranks)
}

func TestHandlersMakeNoCallWithinOne(t *testing.T) {
	ranks := pair(t)
	_, err := ranks[0].TakeTurn("a call")
	assert.NoError(t, err)
	answers := make(chan error)
	watchdog.Program.Interrupted = func() bool { // has handlers run, in rank 0's receive
		watchdog.Program.Interrupted = nil
		err = ranks[0].Barrier()
		go func() {
			answers <- ranks[1].Send(Array{Span: memory.Of(dtype.Float64, make([]float64, 1)), Shape: []int64{1}}, 0, 0)
		}()
		return false
	}
	r, received := ranks[0].Recv(nil, Expected{}, 1, 0)
	assert.NoError(t, received)
	r.release()
	assert.NoError(t, soon(t, answers))
	assert.ErrorIs(t, err, status.Communication)
	assert.Contains(t, err.Error(), "signal handler")
	ranks[0].EndTurn()
	finish(t, ranks)
}

func TestCallsThatWaitFailWhenTheCommunicatorIsToBeClosed(t *testing.T) {
	ranks := pair(t)
	answers := make(chan error, 3)
	go func() {
		_, err := ranks[0].Recv(nil, Expected{}, 1, 0)
		answers <- err
	}()
	for range 2 { // one in a meeting, one behind it
		go func() { answers <- ranks[0].Barrier() }()
	}
	time.Sleep(20 * time.Millisecond)
	assert.NoError(t, ranks[0].BeginClose())
	for range 3 {
		assert.ErrorIs(t, soon(t, answers), status.InvalidHandle)
	}
	_, err := ranks[0].Irecv(nil, Expected{}, 1, 0)
	assert.ErrorIs(t, err, status.InvalidHandle)
	finish(t, ranks)
}

func TestHeldCallIsNamed(t *testing.T) {
	for _, row := range []struct{ op, want string }{
		{"sort", "rank 0 called sort: barrier"},
		{"barrier", "rank 0 called barrier"},
		{"bar", "rank 0 called bar: barrier"},
	} {
		pair := pair(t)
		said := make(chan error)
		go func() {
			_, err := pair[0].TakeTurn(row.op)
			assert.NoError(t, err)
			err = pair[0].Agree(Call{Op: "barrier"}, nil)
			pair[0].EndTurn()
			said <- err
		}()
		go func() {
			said <- pair[1].Agree(Call{Op: "gather", Text: func() string { return "root 0" }}, nil)
		}()
		for range pair {
			assert.ErrorContains(t, soon(t, said), row.want)
		}
		finish(t, pair)
	}
}
