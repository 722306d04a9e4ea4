package comm_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/comm"
	"dtl/core/kernel"
)

// freed is a communicator of the backend that counts how many of it and its duplicates are freed.
type freed struct {
	backend.AsyncCommunicator
	n *atomic.Int32
}

func (f freed) Dup() (backend.ReducingCommunicator, error) {
	d, err := f.AsyncCommunicator.Dup()
	if err != nil {
		return nil, err
	}
	return freed{d.(backend.AsyncCommunicator), f.n}, nil
}

func (f freed) Close() error {
	f.n.Add(1)
	return f.AsyncCommunicator.Close()
}

// TestHalfwayCollectivesKeepTheirCommunicator: messages of a collective that some ranks have started and others never will
// may still come when the communicator is closed. So what it runs on is not freed, and all else is.
func TestHalfwayCollectivesKeepTheirCommunicator(t *testing.T) {
	const n = 3
	for name, wrong := range map[string]bool{"right": false, "wrong": true} {
		t.Run(name, func(t *testing.T) {
			backendtest.OnRanks(t, cpu.Group(n), func(main backend.ReducingCommunicator, mem backend.MemorySpace) {
				count := &atomic.Int32{}
				c, err := comm.New(freed{main.(backend.AsyncCommunicator), count}, mem)
				assert.NoError(t, err)
				last := c.Rank() == n-1
				if last {
					assert.NoError(t, c.Barrier(), "the others have started")
				}
				out := make([]float64, 4)
				if wrong && last {
					out = out[:1]
				}
				r, err := c.Iallreduce(floats(make([]float64, 4)), floats(out), kernel.Sum)
				if !last {
					assert.NoError(t, err)
					assert.NoError(t, c.Barrier())
				}
				if err == nil {
					_, err = r.Wait()
				}
				assert.Equal(t, wrong, err != nil)
				assert.NoError(t, c.Close())
				if wrong {
					assert.EqualValues(t, 1, count.Load(), "the one of calls that block")
				} else {
					assert.EqualValues(t, 2, count.Load())
				}
			})
		})
	}
}
