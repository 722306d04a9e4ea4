package agreement

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// rank is one rank of a test.
type rank struct {
	Meeter
	*Starts
	t       *testing.T
	n, size int
	leave   func(why string) // tells the others that this rank has left
}

// poll is the Watch of a test.
func poll(d time.Duration, ask func() (backend.Status, bool, error)) (backend.Status, bool, error) {
	for until := time.Now().Add(d); ; runtime.Gosched() {
		if st, done, err := ask(); done || time.Now().After(until) {
			return st, done, err
		}
	}
}

// shared returns ranks that share memory.
func shared(t *testing.T, size int) []*rank {
	t.Helper()
	made, err := board.Create(size)
	require.NoError(t, err)
	defer made.Close()
	all := make([]*rank, size)
	for n := range all {
		b, err := board.Open(made.Name(), n, size)
		require.NoError(t, err)
		t.Cleanup(func() {
			assert.NoError(t, b.Close())
			b.Recycle()
		})
		channel := watchdog.NewShared(b, size)
		starts := NewStarts(size, poll)
		starts.CompareShared(b)
		group := watchdog.NewGroup(n, size, true, channel)
		all[n] = &rank{Starts: starts, t: t, n: n, size: size, leave: channel.Leave,
			Meeter: NewShared(b, group, starts, 1, func(int) { runtime.Gosched() })}
	}
	return all
}

// departures lets ranks that share no memory say that they leave.
type departures struct {
	mu   sync.Mutex
	left []watchdog.Departure
}

func (d *departures) of(n int) watchdog.Departure {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.left[n]
}

func (d *departures) leave(n int, how watchdog.Departure) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left[n] = how
}

// linked returns ranks that are connected by messages, each at the place that place returns.
func linked(t *testing.T, size int, place func(n int) Place) []*rank {
	t.Helper()
	left := &departures{left: make([]watchdog.Departure, size)}
	meets, compares := cpu.Group(size), cpu.Group(size)
	all := make([]*rank, size)
	for n := range all {
		host := cpu.NewHost()
		link := Link{On: meets[n], Tag: 3, ExplainTag: 4, Number: 1 << 40, Memory: host, Departure: left.of,
			Patience: func() time.Duration { return 0 }}
		m, err := NewNodes(link, place(n), 1, func(int) { runtime.Gosched() })
		require.NoError(t, err)
		starts := NewStarts(size, poll)
		starts.CompareByMessages(compares[n].(backend.AsyncCommunicator), host, left.of, m.Fast().Started())
		all[n] = &rank{Meeter: m, Starts: starts, t: t, n: n, size: size, leave: func(why string) {
			left.leave(n, watchdog.Departure{Why: why, Meetings: m.Number(), Started: starts.Count()})
		}}
		t.Cleanup(func() {
			m.Close()
			m.Recycle()
			assert.NoError(t, starts.Free())
			assert.NoError(t, meets[n].Close())
		})
	}
	return all
}

// byMessages returns ranks that share none.
func byMessages(t *testing.T, size int) []*rank {
	t.Helper()
	return linked(t, size, func(int) Place { return Apart(size) })
}

// onNodes returns ranks of which two of a node share memory, where it has two: the first half of the ranks are the first of
// their nodes.
func onNodes(t *testing.T, size int) []*rank {
	t.Helper()
	nodes := (size + 1) / 2
	made := make([]*board.Segment, nodes)
	place := Place{Slots: make([]int, size)}
	for n := range nodes {
		var err error
		made[n], err = board.CreateBeside(2, BesideBytes(2, false))
		require.NoError(t, err)
		defer made[n].Close()
		place.Leaders = append(place.Leaders, n)
		place.Slots[n] = 2 * n
		if n+nodes < size {
			place.Slots[n+nodes] = 2*n + 1
		}
	}
	return linked(t, size, func(n int) Place {
		at := place
		if n%nodes+nodes < size {
			b, err := board.OpenBeside(made[n%nodes].Name(), n/nodes, 2, BesideBytes(2, false))
			require.NoError(t, err)
			at.Board = b
			t.Cleanup(func() {
				assert.NoError(t, b.Close())
				b.Recycle()
			})
		}
		return at
	})
}

// onRanks runs a test with ranks that share memory, with ranks that do not, and with ranks of several nodes.
func onRanks(t *testing.T, size int, body func(r *rank)) {
	t.Helper()
	for name, make := range map[string]func(t *testing.T, size int) []*rank{"shared": shared, "messages": byMessages, "nodes": onNodes} {
		t.Run(fmt.Sprint(name, "/", size), func(t *testing.T) {
			var done sync.WaitGroup
			for _, r := range make(t, size) {
				done.Go(func() { body(r) })
			}
			done.Wait()
		})
	}
}

// onSizes is onRanks with several numbers of ranks.
func onSizes(t *testing.T, sizes []int, body func(r *rank)) {
	t.Helper()
	for _, size := range sizes {
		onRanks(t, size, body)
	}
}

// all waits until all ranks are in the meeting that Come or Explain has begun.
func (r *rank) all(there bool, err error) {
	for !there && assert.NoError(r.t, err) {
		there, err = r.Wait(time.Millisecond)
	}
	assert.NoError(r.t, err)
}

// meet comes to a meeting with a statement and this rank's number.
func (r *rank) meet(s wire.Statement) {
	payload := []int64{int64(r.n), 7}
	r.all(r.Come(s, Elements{Span: memory.Of(dtype.Int64, payload)}))
}

func TestRanksMeet(t *testing.T) {
	for _, size := range []int{2, 3, 4, 5, 6, 7, 9, 17, 66} {
		onRanks(t, size, func(r *rank) {
			first := r.Number()
			for i := range 5 {
				r.meet(wire.Statement{Fingerprint: uint64(i)})
				assert.True(r.t, r.Agreed())
				assert.EqualValues(r.t, i+1, r.Number()-first)
				for other := range size {
					at, n := r.Payload(other)
					assert.GreaterOrEqual(r.t, n, 16)
					assert.Equal(r.t, [2]int64{int64(other), 7}, *(*[2]int64)(at))
				}
			}
		})
	}
}

// TestElementsFromRoot has root alone bring elements, which all get.
func TestElementsFromRoot(t *testing.T) {
	for size := 2; size <= 9; size++ {
		onRanks(t, size, func(r *rank) {
			for root := range size {
				brought := Elements{Way: FromRoot, Root: root}
				if r.n == root {
					brought.Span = memory.Of(dtype.Int64, []int64{int64(root), 9, 3})
				}
				r.all(r.Come(wire.Statement{Fingerprint: 5}, brought))
				assert.True(r.t, r.Agreed())
				at, n := r.Payload(root)
				assert.Equal(r.t, 24, n)
				assert.Equal(r.t, [3]int64{int64(root), 9, 3}, *(*[3]int64)(at))
			}
		})
	}
}

// TestElementsCombined adds numbers of which each order of additions gives other bits.
func TestElementsCombined(t *testing.T) {
	for size := 2; size <= 9; size++ {
		var mu sync.Mutex
		bits := map[string]float64{}
		onRanks(t, size, func(r *rank) {
			mine := memory.Of(dtype.Float64, []float64{math.Pow(1.1, float64(5*r.n)), 1})
			r.all(r.Come(wire.Statement{Fingerprint: 5}, Elements{Span: mine, Way: Combined, Op: kernel.Sum}))
			assert.True(r.t, r.Agreed())
			at := r.Combination()
			if at == nil {
				return // each rank's are there
			}
			sum := *(*[2]float64)(at)
			assert.EqualValues(r.t, size, sum[1])
			mu.Lock()
			defer mu.Unlock()
			if first, there := bits[r.t.Name()]; there {
				assert.Equal(r.t, first, sum[0], "all ranks have the same bits")
			}
			bits[r.t.Name()] = sum[0]
		})
		assert.Len(t, bits, 2+size/9, "more than 8 ranks that share memory combine their elements there, too")
	}
}

func TestRanksThatDiffer(t *testing.T) {
	for name, change := range map[string]func(s *wire.Statement){
		"another call":       func(s *wire.Statement) { s.Fingerprint++ },
		"other elements":     func(s *wire.Statement) { s.ElementsHash++ },
		"a rank that cannot": func(s *wire.Statement) { s.Code = int32(status.OutOfMemory) },
	} {
		t.Run(name, func(t *testing.T) {
			onSizes(t, []int{3, 9}, func(r *rank) {
				for odd := range r.size {
					s, text := wire.Statement{Fingerprint: 5, ElementsHash: 3}, "sort"
					if r.n == odd {
						change(&s)
						text = "scan"
					}
					r.meet(s)
					assert.False(r.t, r.Agreed())
					r.all(r.Explain(text, status.Code(s.Code)))
					codes, texts := r.Explained()
					assert.Equal(r.t, "scan", texts[odd])
					assert.Equal(r.t, "sort", texts[(odd+1)%r.size])
					err := Verdict(codes, texts, "")
					if s.Code != 0 || codes[odd] != status.OK {
						assert.EqualError(r.t, err, status.New(status.OutOfMemory, "rank %d: scan", odd).Error())
					} else {
						assert.ErrorIs(r.t, err, status.Mismatch)
						assert.ErrorContains(r.t, err, fmt.Sprintf("rank %d called scan", odd))
					}
					r.meet(wire.Statement{Fingerprint: 5})
					assert.True(r.t, r.Agreed(), "they meet again")
				}
			})
		})
	}
}

// TestRankThatHasLeft has the last rank leave after the first meeting: the others wait for it in vain in the next.
func TestRankThatHasLeft(t *testing.T) {
	onSizes(t, []int{3, 9}, func(r *rank) {
		r.meet(wire.Statement{})
		if r.n == r.size-1 {
			r.leave("has gone")
			return
		}
		there, err := r.Come(wire.Statement{}, Elements{})
		assert.False(r.t, there)
		assert.NoError(r.t, err)
		for err = r.InVain("barrier()"); err == nil; err = r.InVain("barrier()") {
			_, waited := r.Wait(time.Millisecond)
			assert.NoError(r.t, waited)
		}
		assert.True(r.t, watchdog.IsInVain(err))
		assert.ErrorContains(r.t, err, fmt.Sprintf("rank %d has gone, and does not come to barrier()", r.size-1))
		r.Leave()
	})
}

// TestDeadlock has rank 0 wait for a start that the others, which are in a call that blocks, have not made.
func TestDeadlock(t *testing.T) {
	onRanks(t, 3, func(r *rank) {
		r.meet(wire.Statement{})
		assert.False(r.t, r.n == 0 && r.BlockedWithout(0), "no start is missing, whoever is in the next meeting")
		r.meet(wire.Statement{})
		s := wire.Statement{Fingerprint: 5}
		if r.n == 0 {
			_, err := r.Begin(wire.Signature{Op: "ibarrier"}, nil)
			assert.NoError(r.t, err)
			for !r.BlockedWithout(1) {
				runtime.Gosched()
			}
			s.ElementsHash = DeadlockHash
		}
		r.meet(s)
		yes, first := r.Deadlock()
		assert.True(r.t, yes)
		assert.EqualValues(r.t, 1, first)
		why := status.New(status.Mismatch, "out of step")
		r.Lose(first, why)
		assert.False(r.t, r.InStep())
		_, err := r.Begin(wire.Signature{Op: "ibarrier"}, nil)
		assert.ErrorContains(r.t, err, "go on with a dup of the context", "of the second, and of who has not made the first")
		r.meet(wire.Statement{})
	})
}

// begin starts what f describes, and returns what becomes of it: whether the operation began, and why it must not.
func (r *rank) begin(f wire.Signature, mine error) (began bool, err error) {
	start, err := r.Begin(f, mine)
	if err != nil {
		return false, err
	}
	if start.Pending == nil {
		return true, nil
	}
	start.Pending.BeginWith(func() (backend.Request, error) {
		began = true
		return nil, nil
	})
	_, waited := start.Pending.Wait()
	assert.NoError(r.t, waited)
	_, err = start.Pending.Begun()
	return began, err
}

func TestStartsThatAgree(t *testing.T) {
	for size := 2; size <= 5; size++ {
		onRanks(t, size, func(r *rank) {
			for i := range 3 * board.PostsKept {
				began, err := r.begin(wire.Signature{Op: "iallreduce", Count: i}, nil)
				assert.NoError(r.t, err)
				assert.True(r.t, began)
			}
			assert.EqualValues(r.t, 3*board.PostsKept, r.Count())
			assert.True(r.t, r.InStep())
			empty, begun := r.Drain()
			assert.True(r.t, empty)
			assert.False(r.t, begun)
		})
	}
}

// TestStartsThatDiffer has the last rank start something else, or be unable to. It looks at what the others have stated
// where there is a meeting in between; by messages all of them see it anyway.
func TestStartsThatDiffer(t *testing.T) {
	for name, mine := range map[string]error{"another call": nil, "a rank that cannot": status.New(status.OutOfMemory, "no room")} {
		t.Run(name, func(t *testing.T) {
			onRanks(t, 3, func(r *rank) {
				odd := r.n == r.size-1
				f := wire.Signature{Op: "iallreduce", Type: dtype.Float64, Count: 4}
				if odd {
					r.meet(wire.Statement{}) // the others have stated theirs
					f.Count = 2
				}
				start, err := r.Begin(f, map[bool]error{true: mine}[odd])
				if !odd {
					assert.NoError(r.t, err)
					r.meet(wire.Statement{})
				}
				if err == nil && start.Pending != nil {
					start.Pending.BeginWith(func() (backend.Request, error) { return nil, nil })
					_, waited := start.Pending.Wait()
					assert.NoError(r.t, waited)
					_, err = start.Pending.Begun()
				}
				r.meet(wire.Statement{}) // all have started, or know why not
				if err == nil {
					err = start.Check()
					assert.True(r.t, watchdog.IsInVain(err))
				}
				want := "rank 2 called iallreduce(2 elements of float64)"
				if mine != nil {
					want = "no room"
				}
				assert.ErrorContains(r.t, err, want)
			})
		})
	}
}

func TestDeferredCalls(t *testing.T) {
	onRanks(t, 2, func(r *rank) {
		seq, err := r.Defer("sort", " at a:1")
		assert.NoError(r.t, err)
		if _, onBoard := r.Meeter.(*Shared); !onBoard {
			assert.Zero(r.t, seq, "they are not compared")
			return
		}
		assert.EqualValues(r.t, 1, seq)
		assert.NoError(r.t, r.Deferred(seq).InVain())
		r.meet(wire.Statement{})
		_, err = r.Defer(fmt.Sprint("scan by ", r.n), "")
		r.meet(wire.Statement{})
		if err == nil {
			err = r.Deferred(2).InVain()
			assert.True(r.t, watchdog.IsInVain(err))
		}
		assert.ErrorContains(r.t, err, "rank 0 called scan by 0; rank 1 called scan by 1")
	})
}

// TestMemoryBesideABoard holds what the documentation says (docs/guide/waiting.md) of a context that spans machines.
func TestMemoryBesideABoard(t *testing.T) {
	for ranks := 2; ranks <= 4096; ranks++ {
		assert.LessOrEqual(t, BesideBytes(ranks, false), 33<<10+ranks*41<<8, "%d ranks", ranks)
		if ranks <= 4 {
			assert.LessOrEqual(t, BesideBytes(ranks, true), (1+ranks)*265<<8, "%d ranks", ranks)
		} else {
			assert.Equal(t, BesideBytes(ranks, false), BesideBytes(ranks, true), "%d ranks", ranks)
		}
	}
}
