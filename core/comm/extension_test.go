package comm_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/board"
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

const inExtension = 1 << 13 // elements: 64 KiB

// TestFirstLongCallGetsTheExtension has ranks make one call that would fit into the extension, of each kind: all have it then. If one of
// them has no memory for it, none has, and calls go on without.
func TestFirstLongCallGetsTheExtension(t *testing.T) {
	for _, n := range []int{2, 3, 9} {
		for _, refuses := range []int{-1, n - 1} {
			for kind := 1; kind < 7; kind++ {
				backendtest.OnRanks(t, cpu.Group(n), func(main backend.ReducingCommunicator, mem backend.MemorySpace) {
					c, err := comm.New(main, mem)
					if !assert.NoError(t, err) {
						return
					}
					b, _ := c.BoardWith(0)
					if c.Rank() == refuses {
						b.DropExtension()
					}
					count := inExtension
					if kind == 5 { // what root scatters has as many for each rank
						count /= n
					}
					assert.Equal(t, board.MaxPayload, b.MostPayload())
					for salt := range 3 {
						got, want, err := drawnCalls{c: c}.call(kind, int64(n-1), count, salt)
						assert.NoError(t, err)
						assert.True(t, slices.Equal(got, want), "call %d of the %dth kind on %d ranks", salt, kind, n)
						assert.NoError(t, c.Barrier())
						assert.Equal(t, refuses < 0, b.MostPayload() == board.MostPayload, "the %dth kind", kind)
					}
					assert.NoError(t, c.Close())
				})
			}
		}
	}
}

// TestPiecesOfTheExtension has ranks combine and gather what does not fit the extension, from memory that the result shares, and go on after
// a call that one of them cannot make.
func TestPiecesOfTheExtension(t *testing.T) {
	const count = 2*inExtension + 3
	for _, n := range []int{2, 4, 9} {
		backendtest.OnRanks(t, cpu.Group(n), func(main backend.ReducingCommunicator, mem backend.MemorySpace) {
			c, err := comm.New(main, mem)
			if !assert.NoError(t, err) {
				return
			}
			d := drawnCalls{c: c}
			for salt := range 3 { // the first call goes through the backend
				same := mine(c.Rank(), count, salt)
				assert.NoError(t, c.Allreduce(floats(same), floats(same), kernel.Sum))
				assert.True(t, slices.Equal(d.total(count, salt), same), "%d ranks, in place", n)
				room := append(mine(c.Rank(), count, salt), 0, 0)
				assert.NoError(t, c.Allreduce(floats(room[:count]), floats(room[2:]), kernel.Sum))
				assert.True(t, slices.Equal(d.total(count, salt), room[2:]), "%d ranks, two elements on", n)
				whole := make([]float64, n*count)
				own := whole[(n-1)*count:]
				copy(own, mine(c.Rank(), count, salt))
				assert.NoError(t, c.Allgather(floats(own), floats(whole)))
				assert.True(t, slices.Equal(d.every(count, salt), whole), "%d ranks, gathered from the last part", n)
				short := count
				if c.Rank() == n-1 {
					short = 1
				}
				assert.Error(t, c.Allreduce(floats(whole[:count]), floats(own[:short]), kernel.Sum))
			}
			assert.NoError(t, c.Close())
		})
	}
}

// TestOthersGoOnWhileARankCopiesSlices follows each sum in slices with so many calls that a root does not wait in that entries
// are overwritten where other ranks are late.
func TestOthersGoOnWhileARankCopiesSlices(t *testing.T) {
	const n, count = 8, 1500
	backendtest.OnRanks(t, cpu.Group(n), func(main backend.ReducingCommunicator, mem backend.MemorySpace) {
		c, err := comm.New(main, mem)
		if !assert.NoError(t, err) {
			return
		}
		mine, sum, out := make([]int64, count), make([]int64, count), make([]int64, count)
		for i := range mine {
			mine[i], sum[i] = int64(i+c.Rank()), int64(n*i+n*(n-1)/2)
		}
		of := func(e []int64) memory.Span { return memory.Of(dtype.Int64, e) }
		for round := range 400 {
			clear(out)
			assert.NoError(t, c.Allreduce(of(mine), of(out), kernel.Sum))
			if !assert.True(t, slices.Equal(sum, out), "round %d", round) {
				break
			}
			one := comm.Array{Span: of(mine[:1]), Shape: []int64{1}}
			into := comm.Array{Span: of(out[:1]), Shape: []int64{1}}
			for range 2 * board.EntriesKept {
				if c.Rank() == 0 {
					_, err = c.Broadcast(&one, nil, 0)
				} else {
					_, err = c.Broadcast(nil, &into, 0)
				}
				assert.NoError(t, err)
			}
		}
		assert.NoError(t, c.Close())
	})
}

// TestSlicesAreCombinedInTheOrderOfGroups compares sums of floats, whose bits tell the order of additions, with those of
// short calls.
func TestSlicesAreCombinedInTheOrderOfGroups(t *testing.T) {
	for _, n := range []int{4, 8, 9, 17, 66} {
		backendtest.OnRanks(t, cpu.Group(n), func(main backend.ReducingCommunicator, mem backend.MemorySpace) {
			c, err := comm.New(main, mem)
			if !assert.NoError(t, err) {
				return
			}
			mine, long, short := make([]float64, inExtension), make([]float64, inExtension), make([]float64, 1000)
			own := rand.New(rand.NewPCG(1, uint64(c.Rank())))
			for i := range mine {
				mine[i] = own.NormFloat64()
			}
			for range 2 { // the first one goes through the backend
				assert.NoError(t, c.Allreduce(floats(mine), floats(long), kernel.Sum))
			}
			for at := 0; at < inExtension; at += 3500 {
				assert.NoError(t, c.Allreduce(floats(mine[at:at+1000]), floats(short), kernel.Sum))
				assert.Equal(t, short, long[at:at+1000], "%d ranks, from %d on", n, at)
			}
			assert.NoError(t, c.Close())
		})
	}
}
