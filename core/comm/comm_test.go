package comm_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// onRanks runs body as each of n ranks, which meet in shared memory, then on nodes of so many ranks as there are ways, and then
// by messages, and checks that no memory is left in use.
func onRanks(t *testing.T, n int, body func(c *comm.Comm)) {
	t.Helper()
	meetingRanks(t, n, body)
	for perNode := 1; perNode < n; perNode++ {
		comm.PretendNodes(int64(perNode))
		meetingRanks(t, n, body)
	}
	comm.PretendNodes(0)
	comm.SetSharing(false)
	defer comm.SetSharing(true)
	meetingRanks(t, n, body)
}

func meetingRanks(t *testing.T, n int, body func(c *comm.Comm)) {
	t.Helper()
	backendtest.OnRanks(t, cpu.Group(n), func(main backend.ReducingCommunicator, mem backend.MemorySpace) {
		c, err := comm.New(main, mem)
		if assert.NoError(t, err) {
			body(c)
			assert.NoError(t, c.Close())
		}
	})
}

// everyGroup runs a test on 1 to 7 ranks; with -short, on some of them.
func everyGroup(t *testing.T, body func(t *testing.T, n int)) {
	for _, n := range backendtest.Sizes(t, 7) {
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) { body(t, n) })
	}
}

// sameElements asserts that two runs of elements are equal. Of many, assert.Equal alone would take most of a test's time.
func sameElements[T comparable](t *testing.T, want, got []T, about ...any) {
	t.Helper()
	if !slices.Equal(want, got) {
		assert.Equal(t, want, got, about...)
	}
}

// ramp is count float64 elements start, start+1, ….
func ramp(start, count int) []float64 {
	r := make([]float64, count)
	for i := range r {
		r[i] = float64(start + i)
	}
	return r
}

func array(elements []float64, shape ...int64) comm.Array {
	if shape == nil {
		shape = []int64{int64(len(elements))}
	}
	return comm.Array{Span: memory.Of(dtype.Float64, elements), Shape: shape}
}

// elements returns a result's elements, copied, and releases it.
func elements(r comm.Result) []float64 {
	if r.Storage == nil {
		return nil
	}
	defer r.Storage.Release()
	return append([]float64{}, memory.As[float64](r.Span)...)
}

func TestBroadcastBringsShapeTypeAndElements(t *testing.T) {
	for _, count := range []int{0, 1, 14, 15, 16, 1000} { // 14 fit beside the header of one dimension
		everyGroup(t, func(t *testing.T, n int) {
			onRanks(t, n, func(c *comm.Comm) {
				for root := range n {
					var value *comm.Array
					if c.Rank() == root {
						a := array(ramp(root, count), int64(count), 1)
						value = &a
					}
					r, err := c.Broadcast(value, nil, int64(root))
					if !assert.NoError(t, err) || c.Rank() == root {
						continue
					}
					assert.Equal(t, []int64{int64(count), 1}, r.Shape)
					sameElements(t, ramp(root, count), elements(r))
				}
			})
		})
	}
}

func TestBroadcastOfManyDimensions(t *testing.T) {
	shape := make([]int64, 64)
	for i := range shape {
		shape[i] = 1
	}
	onRanks(t, 3, func(c *comm.Comm) {
		var value *comm.Array
		if c.Rank() == 1 {
			a := array([]float64{7}, shape...)
			value = &a
		}
		r, err := c.Broadcast(value, nil, 1)
		assert.NoError(t, err)
		if c.Rank() != 1 {
			assert.Equal(t, shape, r.Shape)
			assert.Equal(t, []float64{7}, elements(r))
		}
	})
}

func TestRootWithoutValueFailsOnEveryRank(t *testing.T) {
	everyGroup(t, func(t *testing.T, n int) {
		onRanks(t, n, func(c *comm.Comm) {
			_, err := c.Broadcast(nil, nil, 0)
			assert.ErrorIs(t, err, status.InvalidArgument)
			_, err = c.Scatter(nil, nil, 0)
			assert.ErrorIs(t, err, status.InvalidArgument)
			short := array(ramp(0, n+1))
			_, err = c.Scatter(&short, nil, 0)
			assert.ErrorIs(t, err, status.InvalidArgument)
			assert.ErrorContains(t, err, fmt.Sprintf("%d entries", n+1))
			assert.NoError(t, c.Barrier(), "the communicator goes on")
		})
	})
}

func TestBroadcastRefusesAnOutputThatDiffers(t *testing.T) {
	onRanks(t, 2, func(c *comm.Comm) {
		value, out := array(ramp(0, 3)), array(ramp(0, 4))
		var err error
		if c.Rank() == 0 {
			_, err = c.Broadcast(&value, nil, 0)
		} else {
			_, err = c.Broadcast(nil, &out, 0)
		}
		if err == nil { // root does not wait, and may hear of it in the next call
			assert.Zero(t, c.Rank())
			err = c.Barrier()
		}
		assert.NoError(t, c.Barrier(), "the communicator goes on")
		assert.ErrorIs(t, err, status.Mismatch)
		assert.ErrorContains(t, err, "rank 0 called broadcast(3 elements of float64, root 0); "+
			"rank 1 called broadcast(4 elements of float64, root 0)")
		sameElements(t, ramp(0, 4), memory.As[float64](out.Span), "out is untouched")
	})
}

func TestScatterGivesEachRankItsEntry(t *testing.T) {
	everyGroup(t, func(t *testing.T, n int) {
		onRanks(t, n, func(c *comm.Comm) {
			for root := range n {
				var values *comm.Array
				if c.Rank() == root {
					a := array(ramp(0, n*3), int64(n), 3)
					values = &a
				}
				r, err := c.Scatter(values, nil, int64(root))
				assert.NoError(t, err)
				assert.Equal(t, []int64{3}, r.Shape)
				sameElements(t, ramp(c.Rank()*3, 3), elements(r))
			}
		})
	})
}

func TestReductionsAndGathers(t *testing.T) {
	reductionsAndGathers := func(t *testing.T, n int) {
		onRanks(t, n, func(c *comm.Comm) {
			send, recv := ramp(c.Rank(), 5), make([]float64, 5)
			s, r := memory.Of(dtype.Float64, send), memory.Of(dtype.Float64, recv)
			assert.NoError(t, c.Allreduce(s, r, kernel.Max))
			sameElements(t, ramp(n-1, 5), recv)
			assert.NoError(t, c.Reduce(s, r, kernel.Min, int64(n-1)))
			if c.Rank() == n-1 {
				sameElements(t, ramp(0, 5), recv)
			}
			all := make([]float64, n)
			one := memory.Of(dtype.Float64, send[:1])
			assert.NoError(t, c.Allgather(one, memory.Of(dtype.Float64, all)))
			sameElements(t, ramp(0, n), all)
			clear(all)
			assert.NoError(t, c.Gather(one, memory.Of(dtype.Float64, all), 0))
			if c.Rank() == 0 {
				sameElements(t, ramp(0, n), all)
			}
			assert.NoError(t, c.Allreduce(s, s, kernel.Max), "in place")
			sameElements(t, ramp(n-1, 5), send)
		})
	}
	everyGroup(t, reductionsAndGathers)
	for _, n := range []int{9, 18} { // more than 8 ranks that share memory meet in groups
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) { reductionsAndGathers(t, n) })
	}
}

func TestArgumentsOutsideTheirRange(t *testing.T) {
	onRanks(t, 1, func(c *comm.Comm) {
		a := array(ramp(0, 2))
		z := comm.Array{Span: memory.Of(dtype.Complex128, make([]complex128, 2)), Shape: []int64{2}}
		for _, row := range []struct {
			name string
			code status.Code
			text string
			err  error
		}{
			{"root", status.OutOfBounds, "root 1 outside [0, 1)", c.Reduce(a.Span, a.Span, kernel.Sum, 1)},
			{"negative root", status.OutOfBounds, "root -1 outside [0, 1)", c.Gather(a.Span, a.Span, -1)},
			{"dest", status.OutOfBounds, "dest 7 outside [0, 1)", c.Send(a, 7, 0)},
			{"wildcard dest", status.OutOfBounds, "dest -1 outside [0, 1)", c.Send(a, -1, 0)},
			{"tag", status.OutOfBounds, "tag -1 outside", c.Send(a, 0, -1)},
			{"order of complex", status.Unsupported, "MIN is not defined for complex128", c.Allreduce(z.Span, z.Span, kernel.Min)},
			{"length of out", status.InvalidArgument, "out has 1 elements where the result has 2", c.Allreduce(a.Span, a.Slice(0, 1), kernel.Sum)},
			{"type of out", status.InvalidArgument, "out has dtype complex128", c.Allreduce(a.Span, z.Span, kernel.Sum)},
			{"no type", status.InvalidType, "no element type", c.Allreduce(memory.Span{}, a.Span, kernel.Sum)},
		} {
			assert.ErrorIs(t, row.err, row.code, row.name)
			assert.ErrorContains(t, row.err, row.text, row.name)
		}
	})
}
