package rma_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/rma"
	"dtl/core/status"
)

// The race detector does not see memory outside the Go heap, which windows are made of, nor what atomic operations
// there put in order. So what these tests share between ranks lies there, too, and they compare what comes out.

// onRanks runs body as each of n ranks.
func onRanks(t *testing.T, n int, body func(c *comm.Comm, mem backend.MemorySpace)) {
	t.Helper()
	backendtest.OnRanks(t, cpu.Group(n), func(main backend.ReducingCommunicator, mem backend.MemorySpace) {
		c, err := comm.New(main, mem)
		if !assert.NoError(t, err) {
			return
		}
		body(c, mem)
		assert.NoError(t, c.Close())
	})
}

// withWindow runs body on windows of each kind, of some words, one more for each rank; again where the ranks share no
// memory; and again where those of each two do.
func withWindow(t *testing.T, words int, body func(c *comm.Comm, w *rma.Window)) {
	t.Helper()
	defer comm.SetSharing(true)
	for n := 1; n <= 5; n++ {
		comm.SetSharing(true)
		withWindows(t, n, words, body)
		if n > 2 {
			comm.PretendNodes(2)
			withWindows(t, n, words, body)
			comm.PretendNodes(0)
		}
		comm.SetSharing(false)
		withWindows(t, n, words, body)
	}
}

func withWindows(t *testing.T, n, words int, body func(c *comm.Comm, w *rma.Window)) {
	t.Helper()
	onRanks(t, n, func(c *comm.Comm, mem backend.MemorySpace) {
		bytes := 8 * (words + c.Rank())
		w, err := rma.New(c, mem, rma.Part{Bytes: int64(bytes), Allocate: true})
		if assert.NoError(t, err) {
			body(c, w)
			assert.NoError(t, w.Shut())
		}
		own, err := memory.NewStorage(mem, bytes, 64)
		if !assert.NoError(t, err) {
			return
		}
		w, err = rma.New(c, mem, rma.Part{Base: memory.Span{Addr: own.Addr(), Count: bytes, Type: dtype.Uint8}})
		if assert.NoError(t, err) {
			body(c, w)
			assert.NoError(t, w.Shut())
		}
		own.Release()
	})
}

func one(v int64) memory.Span { return memory.Of(dtype.Int64, []int64{v}) }

func TestPutAndGetBetweenFences(t *testing.T) {
	withWindow(t, 8, func(c *comm.Comm, w *rma.Window) {
		assert.Equal(t, int64(8*(8+c.Size()-1)), w.Sizes()[c.Size()-1])
		assert.NoError(t, w.Fence())
		next, n := int64((c.Rank()+1)%c.Size()), int64(c.Size())
		assert.NoError(t, w.Put(one(int64(c.Rank())*10), next, 16))
		assert.NoError(t, w.Fence())
		for target := range n {
			got := []int64{-1}
			assert.NoError(t, w.Get(memory.Of(dtype.Int64, got), target, 16))
			assert.NoError(t, w.Flush(target, true))
			assert.Equal(t, (target+n-1)%n*10, got[0])
		}
		assert.NoError(t, w.Fence())
	})
}

func TestLocksKeepOthersOff(t *testing.T) {
	const times = 200
	withWindow(t, 1, func(c *comm.Comm, w *rma.Window) {
		for range times {
			assert.NoError(t, w.Lock(0, true))
			got := []int64{0}
			assert.NoError(t, w.Get(memory.Of(dtype.Int64, got), 0, 0))
			assert.NoError(t, w.Flush(0, false))
			assert.NoError(t, w.Put(one(got[0]+1), 0, 0))
			assert.NoError(t, w.Unlock(0))
		}
		assert.NoError(t, c.Barrier())
		got := []int64{0}
		assert.NoError(t, w.Lock(0, false))
		assert.NoError(t, w.Get(memory.Of(dtype.Int64, got), 0, 0))
		assert.NoError(t, w.Unlock(0))
		assert.Equal(t, int64(times*c.Size()), got[0])
		assert.NoError(t, c.Barrier())
	})
}

func TestAtomicsAmongAll(t *testing.T) {
	const times = 300
	withWindow(t, 3, func(c *comm.Comm, w *rma.Window) {
		assert.NoError(t, w.Lock(backend.Every, false))
		last := int64(c.Size() - 1)
		for range times {
			assert.NoError(t, w.Accumulate(memory.Of(dtype.Int64, []int64{1, 2}), last, 0, kernel.Sum))
			old := []int64{0}
			assert.NoError(t, w.FetchAndOp(one(1), memory.Of(dtype.Int64, old), last, 0, kernel.Sum))
			for seen := old[0]; ; seen = old[0] {
				assert.NoError(t, w.CompareAndSwap(one(seen), one(seen+1), memory.Of(dtype.Int64, old), last, 16))
				if old[0] == seen {
					break
				}
			}
		}
		assert.NoError(t, w.Unlock(backend.Every))
		assert.NoError(t, c.Barrier())
		assert.NoError(t, w.Fence())
		got := make([]int64, 3)
		assert.NoError(t, w.Get(memory.Of(dtype.Int64, got), last, 0))
		assert.NoError(t, w.Fence())
		all := int64(times * c.Size())
		assert.Equal(t, []int64{2 * all, 2 * all, all}, got)
	})
}

func TestWhatIsRefused(t *testing.T) {
	withWindow(t, 2, func(c *comm.Comm, w *rma.Window) {
		n := int64(c.Size())
		refused := func(err error, code status.Code, text string) {
			t.Helper()
			assert.ErrorIs(t, err, code)
			assert.ErrorContains(t, err, text)
		}
		refused(w.Put(one(1), 0, 0), status.InvalidArgument, "no epoch is open for rank 0's part")
		refused(w.Flush(0, false), status.InvalidArgument, "no epoch is open")
		refused(w.Flush(backend.Every, true), status.InvalidArgument, "no epoch is open")
		refused(w.Unlock(0), status.InvalidArgument, "rank 0's part is not locked")
		refused(w.Unlock(backend.Every), status.InvalidArgument, "lock_all has not")
		refused(w.Lock(n, true), status.OutOfBounds, "target")
		refused(w.Lock(-2, true), status.OutOfBounds, "target -2")
		me := int64(c.Rank())
		assert.NoError(t, w.Lock(me, true))
		refused(w.Lock(me, false), status.InvalidArgument, "locked already")
		refused(w.Lock(backend.Every, false), status.InvalidArgument, "unlock it before lock_all")
		refused(w.Put(one(1), me, 8*(me+2)), status.OutOfBounds, "8 bytes at offset")
		refused(w.Put(one(1), me, -8), status.OutOfBounds, "8 bytes at offset -8 outside [0,")
		refused(w.Put(one(1), n, 0), status.OutOfBounds, "target")
		refused(w.Accumulate(one(1), me, 4, kernel.Sum), status.InvalidArgument, "no multiple of 8")
		refused(w.Accumulate(one(1), me, 0, kernel.MinLoc), status.Unsupported, "MINLOC")
		refused(w.Fence(), status.InvalidArgument, "unlock it before fence")
		refused(w.Shut(), status.ViewsOut, "the lock of rank")
		assert.NoError(t, w.Unlock(me))
		assert.NoError(t, w.Fence())
		assert.NoError(t, w.Put(one(1), me, 0))
		refused(w.Lock(me, true), status.InvalidArgument, "since the last fence")
		refused(w.Shut(), status.ViewsOut, "accesses since the last fence")
		assert.NoError(t, w.Fence())
		assert.NoError(t, c.Barrier())
	})
}

func TestClosedWindows(t *testing.T) {
	onRanks(t, 3, func(c *comm.Comm, mem backend.MemorySpace) {
		w, err := rma.New(c, mem, rma.Part{Bytes: 64, Allocate: true})
		assert.NoError(t, err)
		view, err := w.View(1, memory.Span{Type: dtype.Float64})
		assert.NoError(t, err)
		assert.NoError(t, w.Shut())
		assert.NoError(t, w.Shut(), "a second time")
		assert.ErrorIs(t, w.Fence(), status.InvalidHandle)
		assert.ErrorIs(t, w.Put(one(1), 0, 0), status.InvalidHandle)
		memory.As[float64](view.Span)[7] = 5 // the memory is there
		view.Storage.Release()
		_, err = rma.New(c, mem, rma.Part{Bytes: 64, Allocate: true}) // closed with c
		assert.NoError(t, err)
	})
}

func TestRanksThatDisagree(t *testing.T) {
	onRanks(t, 3, func(c *comm.Comm, mem backend.MemorySpace) {
		part := rma.Part{Bytes: 64, Allocate: true}
		if c.Rank() == 1 {
			part.Bytes = -1
		}
		_, err := rma.New(c, mem, part)
		assert.ErrorIs(t, err, status.InvalidArgument)
		_, err = rma.New(c, mem, rma.Part{Allocate: c.Rank() == 1})
		assert.ErrorIs(t, err, status.Mismatch)
		w, err := rma.New(c, mem, rma.Part{Bytes: 64, Allocate: true})
		assert.NoError(t, err)
		if c.Rank() == 2 {
			assert.NoError(t, w.Lock(0, true))
		}
		err = w.Shut()
		assert.ErrorIs(t, err, status.ViewsOut, "on every rank")
		if c.Rank() == 2 {
			assert.NoError(t, w.Unlock(0))
		}
		assert.NoError(t, w.Shut())
	})
}

// TestNobodyStarves has one rank lock a part alone among others that share it without a pause, and the other way round.
func TestNobodyStarves(t *testing.T) {
	for _, alone := range []bool{true, false} {
		onRanks(t, 4, func(c *comm.Comm, mem backend.MemorySpace) {
			w, err := rma.New(c, mem, rma.Part{Bytes: 8, Allocate: true})
			if !assert.NoError(t, err) {
				return
			}
			over := func() bool {
				old := []int64{0}
				assert.NoError(t, w.FetchAndOp(one(0), memory.Of(dtype.Int64, old), 0, 0, kernel.NoOp))
				return old[0] != 0
			}
			for done := false; !done; {
				if c.Rank() == 0 {
					for range 20 {
						assert.NoError(t, w.Lock(0, alone))
						assert.NoError(t, w.Unlock(0))
					}
				}
				assert.NoError(t, w.Lock(0, c.Rank() != 0 != alone))
				if c.Rank() == 0 {
					assert.NoError(t, w.Accumulate(one(1), 0, 0, kernel.Sum))
				}
				done = over()
				assert.NoError(t, w.Unlock(0))
			}
			assert.NoError(t, w.Shut())
		})
	}
}
