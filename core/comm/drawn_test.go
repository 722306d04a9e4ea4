package comm_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/comm"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// TestDrawnCalls has ranks make the same drawn calls, many in a row, from all ranks as root, and check what they get: those that
// need no other go ahead, as far as they may, while others read what they have laid down.
func TestDrawnCalls(t *testing.T) {
	bursts := 20
	if testing.Short() {
		bursts = 10
	}
	for _, n := range []int{2, 3, 8, 9, 17} {
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) {
			backendtest.OnRanks(t, cpu.Group(n), func(main backend.ReducingCommunicator, mem backend.MemorySpace) {
				c, err := comm.New(main, mem)
				if !assert.NoError(t, err) {
					return
				}
				for burst := range bursts {
					r := rand.New(rand.NewPCG(uint64(n), uint64(burst)))
					d := drawnCalls{c: c, r: r, own: rand.New(rand.NewPCG(uint64(c.Rank()), uint64(burst)))}
					if !assert.NoError(t, d.burst(), "burst %d", burst) {
						break
					}
				}
				assert.NoError(t, c.Close())
			})
		})
	}
}

// drawnCalls draws calls for a rank. r draws the same numbers on each rank, own different ones.
type drawnCalls struct {
	c      *comm.Comm
	r, own *rand.Rand
}

// period is after how many elements they repeat. The race detector looks at each element that a loop touches, and at a copy once.
const period = 11

// repeated returns count elements, of which the first are given.
func repeated(first [period]float64, count int) []float64 {
	return slices.Repeat(first[:], count/period+1)[:count]
}

// mine returns the elements of a rank in one call.
func mine(rank, count, salt int) []float64 {
	var first [period]float64
	for i := range first {
		first[i] = float64((i + salt + 3*rank) % period)
	}
	return repeated(first, count)
}

// every returns those of all ranks, one behind the other.
func (d drawnCalls) every(count, salt int) []float64 {
	all := make([]float64, 0, count*d.c.Size())
	for rank := range d.c.Size() {
		all = append(all, mine(rank, count, salt)...)
	}
	return all
}

// total returns their sum.
func (d drawnCalls) total(count, salt int) []float64 {
	var first [period]float64
	for rank := range d.c.Size() {
		for i, v := range mine(rank, period, salt) {
			first[i] += v
		}
	}
	return repeated(first, count)
}

func (d drawnCalls) burst() error {
	sizes := [][]int{
		{1}, {1, 3, 4, 5}, {0, 1, 4, 5, 100, 319, 320, 321, 1000, 1280, 1281, 3000}, {5, 1281, 2112, 2113, 4224, 8192, 8448, 8449},
		{1, 8448, 8449, 17000},
	}
	chosen, call, root := sizes[d.r.IntN(len(sizes))], d.r.IntN(8), d.r.IntN(d.c.Size())
	for number := range []int{1, 5, 40, 80}[d.r.IntN(4)] {
		if d.r.IntN(3) == 0 {
			call, root = d.r.IntN(8), d.r.IntN(d.c.Size())
		}
		if d.own.IntN(20) == 0 {
			runtime.Gosched()
		}
		count, salt := chosen[d.r.IntN(len(chosen))], d.r.IntN(50)
		got, want, err := d.call(call, int64(root), count, salt)
		if err == nil && !slices.Equal(got, want) {
			err = fmt.Errorf("got %v, not %v", got, want)
		}
		if err != nil {
			return fmt.Errorf("call %d, the %dth kind, %d elements from %d: %w", number, call, count, root, err)
		}
	}
	return nil
}

// call makes a call, and returns what this rank got and what it should have.
func (d drawnCalls) call(call int, root int64, count, salt int) (got, want []float64, err error) {
	c, here := d.c, d.c.Rank() == int(root)
	my := mine(c.Rank(), count, salt)
	each, whole := make([]float64, count), []float64(nil)
	if call == 2 || call == 4 {
		whole = make([]float64, count*c.Size())
	}
	switch call {
	case 0:
		return nil, nil, c.Barrier()
	case 1:
		return each, d.total(count, salt), c.Allreduce(floats(my), floats(each), kernel.Sum)
	case 2:
		return whole, d.every(count, salt), c.Allgather(floats(my), floats(whole))
	case 3:
		if err = c.Reduce(floats(my), floats(each), kernel.Sum, root); !here {
			return nil, nil, err
		}
		return each, d.total(count, salt), err
	case 4:
		if err = c.Gather(floats(my), floats(whole), root); !here {
			return nil, nil, err
		}
		return whole, d.every(count, salt), err
	case 5:
		var all *comm.Array
		if here {
			a := array(d.every(count, salt), int64(c.Size()), int64(count))
			all = &a
		}
		out := array(each)
		_, err = c.Scatter(all, &out, root)
		return each, my, err
	}
	got, err = d.broadcast(my, root)
	return got, mine(int(root), count, salt), err
}

// broadcast returns what root has, which is my on root.
func (d drawnCalls) broadcast(my []float64, root int64) (got []float64, err error) {
	if d.c.Rank() == int(root) {
		a := array(my)
		_, err = d.c.Broadcast(&a, nil, root)
		return my, err
	}
	r, err := d.c.Broadcast(nil, nil, root)
	if err != nil {
		return nil, err
	}
	got = append(got, memory.As[float64](r.Span)...)
	r.Storage.Release()
	return got, nil
}
