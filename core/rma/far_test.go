package rma

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// counted counts what a window asks of the backend, by target.
type counted struct {
	backend.Window
	copies, combinations, flushes []int
}

func (c *counted) Put(from memory.Span, target int, offset int64) error {
	c.copies[target]++
	return c.Window.Put(from, target, offset)
}

func (c *counted) Get(into memory.Span, target int, offset int64) error {
	c.copies[target]++
	return c.Window.Get(into, target, offset)
}

func (c *counted) Accumulate(from memory.Span, target int, offset int64, op kernel.Op) error {
	c.combinations[target]++
	return c.Window.Accumulate(from, target, offset, op)
}

func (c *counted) Flush(target int) error {
	if target != backend.Every {
		c.flushes[target]++
	}
	return c.Window.Flush(target)
}

// onNodes runs body as each of n ranks that pretend to be on nodes of so many, with a window over several nodes of a word for
// each rank, and what counts its calls of the backend.
func onNodes(t *testing.T, n, perNode int, allocate bool, body func(c *comm.Comm, w *Window, asked *counted)) {
	t.Helper()
	comm.PretendNodes(int64(perNode))
	defer comm.PretendNodes(0)
	backendtest.OnRanks(t, cpu.Group(n), func(main backend.ReducingCommunicator, mem backend.MemorySpace) {
		c, err := comm.New(main, mem)
		assert.NoError(t, err)
		own, err := memory.NewStorage(mem, 8*n, 64)
		assert.NoError(t, err)
		part := Part{Base: memory.Span{Addr: own.Addr(), Count: 8 * n, Type: dtype.Uint8}}
		if allocate {
			part = Part{Bytes: int64(8 * n), Allocate: true}
		}
		w, err := New(c, mem, part)
		assert.NoError(t, err)
		f, ok := w.reach.(*far)
		if assert.True(t, ok, "the window spans nodes") {
			asked := &counted{f.Window, make([]int, n), make([]int, n), make([]int, n)}
			f.Window = asked
			body(c, w, asked)
		}
		assert.NoError(t, w.Shut())
		assert.NoError(t, w.Close())
		own.Release()
		assert.NoError(t, c.Close())
	})
}

// layouts runs body on 2 to 5 ranks, on nodes of each number of ranks, of which there is more than one.
func layouts(t *testing.T, body func(t *testing.T, n, perNode int)) {
	for n := 2; n <= 5; n++ {
		for perNode := 1; perNode < n; perNode++ {
			t.Run(fmt.Sprintf("%d ranks, %d a node", n, perNode), func(t *testing.T) { body(t, n, perNode) })
		}
	}
}

// together reports whether two ranks are on one node, which has a board: a rank that is alone there has none.
func together(n, perNode, a, b int) bool {
	first := a / perNode * perNode
	return b/perNode == a/perNode && min(first+perNode, n)-first > 1
}

// TestRanksOfANodeCopyWithoutTheBackend: in a window over several nodes the parts on a rank's own node are copied to and from
// directly, and those on others by the backend.
func TestRanksOfANodeCopyWithoutTheBackend(t *testing.T) {
	layouts(t, func(t *testing.T, n, perNode int) {
		for _, allocate := range []bool{true, false} {
			onNodes(t, n, perNode, allocate, func(c *comm.Comm, w *Window, asked *counted) {
				me, got := c.Rank(), make([]int64, n)
				assert.NoError(t, w.Fence())
				for target := range n {
					word := memory.Of(dtype.Int64, []int64{int64(100*me + target)})
					assert.NoError(t, w.Put(word, int64(target), int64(8*me)))
				}
				assert.NoError(t, w.Fence())
				for target := range n {
					assert.NoError(t, w.Get(memory.Of(dtype.Int64, got), int64(target), 0))
					assert.NoError(t, w.Flush(int64(target), true))
					for rank := range n {
						assert.Equal(t, int64(100*rank+target), got[rank], "rank %d's word of rank %d", rank, target)
					}
					want := 2
					if together(n, perNode, me, target) {
						want = 0
					}
					assert.Equal(t, want, asked.copies[target], "rank %d's calls of the backend for rank %d", me, target)
				}
				assert.NoError(t, w.Fence())
			})
		}
	})
}

// TestWhatIsOverIsNotFlushed: the backend flushes once what it has begun, and nothing that was copied without it, but for the
// own part, after whose flush this processor has done all.
func TestWhatIsOverIsNotFlushed(t *testing.T) {
	layouts(t, func(t *testing.T, n, perNode int) {
		onNodes(t, n, perNode, true, func(c *comm.Comm, w *Window, asked *counted) {
			me, word := c.Rank(), memory.Of(dtype.Int64, []int64{1})
			assert.NoError(t, w.Lock(backend.Every, false))
			for target := range n {
				assert.NoError(t, w.Put(word, int64(target), int64(8*me)))
				want := []int{1, 1, 2, 2} // after a put, nothing, what is combined, nothing
				if together(n, perNode, me, target) {
					want = []int{0, 0, 1, 1}
				}
				if target == me {
					want = []int{1, 2, 3, 4}
				}
				for i, flushes := range want {
					if i == 2 {
						assert.NoError(t, w.Accumulate(word, int64(target), int64(8*me), kernel.Sum))
					}
					assert.NoError(t, w.Flush(int64(target), false))
					assert.Equal(t, flushes, asked.flushes[target], "flush %d of rank %d by rank %d", i, target, me)
				}
				assert.Equal(t, 1, asked.combinations[target])
				got := []int64{0}
				assert.NoError(t, w.Get(memory.Of(dtype.Int64, got), int64(target), int64(8*me)))
				assert.NoError(t, w.Flush(int64(target), true))
				assert.Equal(t, int64(2), got[0])
			}
			assert.NoError(t, w.Unlock(backend.Every))
		})
	})
}

// TestOfALibraryThatLocks has ranks combine in a window that says that its library locks: a rank that has locked a part alone
// then swaps what it fetches, and gives its lock back by a byte that nobody waits for.
func TestOfALibraryThatLocks(t *testing.T) {
	const times = 50
	layouts(t, func(t *testing.T, n, perNode int) {
		onNodes(t, n, perNode, true, func(c *comm.Comm, w *Window, asked *counted) {
			f, locks := w.reach.(*far), w.words.(*farWords)
			words := &counted{locks.Window, make([]int, n), make([]int, n), make([]int, n)}
			f.swaps, locks.swaps, locks.puts, locks.Window = true, true, true, words
			if c.Rank() == 0 {
				assert.NoError(t, w.Lock(1, true))
				assert.NoError(t, w.Unlock(1))
				assert.Equal(t, make([]int, n), words.combinations, "the lock comes by a swap")
				assert.Equal(t, 1, words.copies[1], "and goes by a byte")
				assert.Equal(t, 0, words.flushes[1], "which nobody waits for")
			}
			assert.NoError(t, c.Barrier())
			for i := range times {
				old, alone := []float64{0}, i%2 == 0
				assert.NoError(t, w.Lock(0, alone))
				assert.NoError(t, w.FetchAndOp(memory.Of(dtype.Float64, []float64{0.5}), memory.Of(dtype.Float64, old), 0, 0, kernel.Sum))
				assert.NoError(t, w.Accumulate(memory.Of(dtype.Float64, []float64{0.5}), 0, 0, kernel.Sum))
				assert.NoError(t, w.Unlock(0))
			}
			assert.NoError(t, c.Barrier())
			all := []float64{0}
			assert.NoError(t, w.Lock(0, false))
			assert.NoError(t, w.Get(memory.Of(dtype.Float64, all), 0, 0))
			assert.NoError(t, w.Unlock(0))
			assert.Equal(t, float64(times*n), all[0])
			assert.NoError(t, c.Barrier())
			if c.Rank() == 0 {
				comesFirst(t, w, asked)
			}
		})
	})
}

// TestAnyRankGivesItsLockBack: of a library that locks, a rank swaps its lock away if its number does not fit in a byte, or no byte
// may be put beside swaps.
func TestAnyRankGivesItsLockBack(t *testing.T) {
	onNodes(t, 2, 1, true, func(c *comm.Comm, w *Window, asked *counted) {
		locks := w.words.(*farWords)
		words := &counted{locks.Window, make([]int, 2), make([]int, 2), make([]int, 2)}
		locks.swaps, locks.Window = true, words
		if c.Rank() == 0 {
			for i, number := range []uint64{1, 0xff, 0x100, 0x101, 0x1_0001, 1, 0xff} {
				claim, puts := number*writer, 0
				if locks.puts = i < 5; locks.puts && number <= 0xff {
					puts = 1
				}
				words.copies[1] = 0
				for _, others := range []uint64{0, waiting, 3 * waiting} {
					_, err := locks.swap(1, 0, claim+others)
					assert.NoError(t, err)
					assert.NoError(t, locks.unlock(1, claim))
					seen, err := locks.swap(1, others, 0)
					assert.NoError(t, err)
					assert.Equal(t, others, seen, "what rank %d leaves of %d", number-1, others)
				}
				assert.Equal(t, 3*puts, words.copies[1], "puts of rank %d", number-1)
			}
		}
		assert.NoError(t, c.Barrier())
	})
}

// comesFirst asserts that what this rank combined before comes before it fetches, and that its threads take turns.
func comesFirst(t *testing.T, w *Window, asked *counted) {
	t.Helper()
	const threads, times = 4, 100
	one, old := memory.Of(dtype.Int64, []int64{1}), []int64{0}
	assert.NoError(t, w.Lock(1, true))
	assert.NoError(t, w.FetchAndOp(memory.Of(dtype.Int64, []int64{7}), memory.Of(dtype.Int64, old), 1, 8, kernel.Replace))
	assert.NoError(t, w.Accumulate(one, 1, 8, kernel.Sum))
	flushes := asked.flushes[1]
	assert.NoError(t, w.FetchAndOp(one, memory.Of(dtype.Int64, old), 1, 8, kernel.Sum))
	assert.Equal(t, int64(8), old[0])
	if w.reach.(*far).away[1] == 0 { // on this node all of it happens at once
		flushes++
	}
	assert.Equal(t, flushes, asked.flushes[1])
	var all sync.WaitGroup
	for range threads {
		all.Go(func() {
			for range times {
				assert.NoError(t, w.FetchAndOp(one, memory.Of(dtype.Int64, []int64{0}), 1, 8, kernel.Sum))
			}
		})
	}
	all.Wait()
	assert.NoError(t, w.FetchAndOp(one, memory.Of(dtype.Int64, old), 1, 8, kernel.NoOp))
	assert.Equal(t, int64(9+threads*times), old[0])
	assert.NoError(t, w.Unlock(1))
}
