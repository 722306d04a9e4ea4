package comm_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/comm"
	"dtl/core/kernel"
	"dtl/core/status"
)

// broadcastOf makes a broadcast of root's three elements, on a rank that has room for so many.
func broadcastOf(c *comm.Comm, room int) error {
	a := array(ramp(0, 3))
	if c.Rank() == 0 {
		_, err := c.Broadcast(&a, nil, 0)
		return err
	}
	out := array(make([]float64, room))
	_, err := c.Broadcast(nil, &out, 0)
	return err
}

// sumOfRanks checks that calls on a communicator go on.
func sumOfRanks(t *testing.T, c *comm.Comm) {
	t.Helper()
	sum := make([]float64, 1)
	assert.NoError(t, c.Allreduce(floats([]float64{1}), floats(sum), kernel.Sum))
	assert.Equal(t, []float64{float64(c.Size())}, sum)
}

// TestWhoHasGoneOnHearsElsewhere has one rank make another call than root, which goes to another communicator then, where it
// would wait for that rank.
func TestWhoHasGoneOnHearsElsewhere(t *testing.T) {
	elsewhere := map[string]func(c *comm.Comm) error{
		"barrier": (*comm.Comm).Barrier,
		"dup": func(c *comm.Comm) error {
			_, err := c.Dup()
			return err
		},
		"closable": (*comm.Comm).Closable,
		"defer": func(c *comm.Comm) error {
			_, err := c.Defer("later", "")
			return err
		},
	}
	everyGroup(t, func(t *testing.T, n int) {
		if n == 1 {
			return
		}
		for name, call := range elsewhere {
			onRanks(t, n, func(c *comm.Comm) {
				other, err := c.Dup()
				assert.NoError(t, err)
				for range 3 {
					room := 3
					if c.Rank() == n-1 {
						room = 4
					}
					err := broadcastOf(c, room)
					if err == nil {
						err = call(other)
					}
					assert.Equal(t, status.Mismatch, status.CodeOf(err), "%s: %v", name, err)
					sumOfRanks(t, other)
					sumOfRanks(t, c)
				}
				assert.NoError(t, other.Close())
			})
		}
	})
}

// TestAnotherThreadDoesNotWaitForLong has a thread of root call something that another rank waits for before it comes to
// what root has gone on from.
func TestAnotherThreadDoesNotWaitForLong(t *testing.T) {
	meetingRanks(t, 3, func(c *comm.Comm) {
		other, err := c.Dup()
		assert.NoError(t, err)
		if c.Rank() == 0 {
			assert.NoError(t, broadcastOf(c, 3))
			over := make(chan error)
			go func() { over <- other.Barrier() }()
			assert.NoError(t, <-over)
		} else {
			assert.NoError(t, other.Barrier())
			assert.NoError(t, broadcastOf(c, 3))
		}
		sumOfRanks(t, c)
		assert.NoError(t, other.Close())
	})
}
