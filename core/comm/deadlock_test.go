package comm_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/backends/cpu"
	"dtl/core/comm"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// blocking are calls that block, and starting those that do not.
var (
	blocking = map[string]func(c *comm.Comm) error{
		"barrier": (*comm.Comm).Barrier,
		"allreduce": func(c *comm.Comm) error {
			return c.Allreduce(floats(make([]float64, 1)), floats(make([]float64, 1)), kernel.Sum)
		},
		"gather": func(c *comm.Comm) error {
			var recv memory.Span
			if c.Rank() == 0 {
				recv = floats(make([]float64, 70_000*c.Size()))
			}
			return c.Gather(floats(make([]float64, 70_000)), recv, 0)
		},
		"broadcast": func(c *comm.Comm) error {
			a := array(ramp(0, 3)) // from another rank: root would not wait
			_, err := c.Broadcast(&a, nil, int64((c.Rank()+1)%c.Size()))
			return err
		},
		"reduce": func(c *comm.Comm) error { // some go on from this one, and wait in the next
			send, recv := floats(make([]float64, 1)), floats(make([]float64, 1))
			if err := c.Reduce(send, recv, kernel.Sum, int64((c.Rank()+1)%c.Size())); err != nil {
				return err
			}
			return c.Barrier()
		},
		"vector": func(c *comm.Comm) error { return c.Agree(comm.Call{Op: "vector"}, nil) },
		"dup": func(c *comm.Comm) error {
			_, err := c.Dup()
			return err
		},
	}
	starting = map[string]func(c *comm.Comm) (*comm.Request, error){
		"ibarrier": (*comm.Comm).Ibarrier,
		"iallreduce": func(c *comm.Comm) (*comm.Request, error) {
			return c.Iallreduce(floats(make([]float64, 1)), floats(make([]float64, 1)), kernel.Sum)
		},
		"iallgather": func(c *comm.Comm) (*comm.Request, error) {
			return c.Iallgather(floats(make([]float64, 1)), floats(make([]float64, c.Size())))
		},
	}
)

// TestBlockingHereAndNotThere has some ranks make a call that blocks where the others wait for one that does not.
func TestBlockingHereAndNotThere(t *testing.T) {
	for call, block := range blocking {
		for name, start := range starting {
			for n := 2; n <= 4; n++ {
				for _, odd := range []int{0, n - 1} {
					for _, oddBlocks := range []bool{true, false} {
						if n > 2 && (call != "barrier" || name != "iallreduce") || testing.Short() && (odd == 0) != oddBlocks {
							continue
						}
						crossed(t, n, func(c *comm.Comm) {
							failed := func() (err error) {
								if (c.Rank() == odd) == oddBlocks {
									return block(c)
								}
								r, err := start(c)
								if err == nil {
									_, err = r.Wait()
								}
								return err
							}()
							assert.ErrorIs(t, failed, status.Mismatch)
							if failed != nil {
								assert.Regexp(t, `ranks? .* called `+call, failed.Error())
								assert.Regexp(t, `ranks? .* called `+name, failed.Error())
							}
							outOfStep(t, c, call, start)
							assert.NoError(t, c.Barrier(), "what blocks goes on")
							d, err := c.Dup()
							assert.NoError(t, err)
							done(t, begun(t)(d.Ibarrier()))
							assert.NoError(t, d.Close())
						})
					}
				}
			}
		}
	}
}

// outOfStep checks that a rank cannot start a collective. One that had gone on from a call may start what the others have lost.
func outOfStep(t *testing.T, c *comm.Comm, call string, start func(c *comm.Comm) (*comm.Request, error)) {
	t.Helper()
	r, err := start(c)
	if err == nil {
		_, err = r.Wait()
		assert.Equal(t, "reduce", call)
	} else {
		assert.ErrorContains(t, err, "go on with a dup", "all ranks are out of step")
	}
	assert.ErrorIs(t, err, status.Mismatch)
}

// crossed runs a test with shared memory and without. What ranks have asked each other by messages and not all have
// answered keeps its memory.
func crossed(t *testing.T, n int, body func(c *comm.Comm)) {
	t.Helper()
	meetingRanks(t, n, body)
	comm.SetSharing(false)
	defer comm.SetSharing(true)
	leavingMemory(t, n, body)
}

// leavingMemory is meetingRanks of a test that does not give all memory back.
func leavingMemory(t *testing.T, n int, body func(c *comm.Comm)) {
	t.Helper()
	var all sync.WaitGroup
	for _, main := range cpu.Group(n) {
		all.Go(func() {
			c, err := comm.New(main, cpu.NewHost())
			if assert.NoError(t, err) {
				body(c)
				assert.NoError(t, c.Close())
			}
		})
	}
	all.Wait()
}
