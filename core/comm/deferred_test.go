package comm_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/comm"
	"dtl/core/status"
)

// served makes a barrier of a stream as the deferred call of c that has a number.
func served(c, stream *comm.Comm, seq uint64) error {
	stream.Serve(c, seq)
	defer stream.Serve(c, 0)
	return stream.Barrier()
}

func TestDeferredCallsThatFit(t *testing.T) {
	for n := 1; n <= 5; n++ {
		onRanks(t, n, func(c *comm.Comm) {
			stream, err := c.DupFor("later")
			assert.NoError(t, err)
			var numbers []uint64
			for i := range 200 {
				seq, err := c.Defer(fmt.Sprint("call ", i), "here")
				assert.NoError(t, err)
				numbers = append(numbers, seq)
				if i%20 == 7 {
					assert.NoError(t, c.Barrier())
				}
			}
			for _, seq := range numbers {
				assert.NoError(t, served(c, stream, seq))
			}
			assert.NoError(t, stream.Close())
		})
	}
}

// TestDeferredCallsThatDoNot has one rank defer another call: that fails there at once, and elsewhere when it runs.
func TestDeferredCallsThatDoNot(t *testing.T) {
	for n := 2; n <= 5; n++ {
		meetingRanks(t, n, func(c *comm.Comm) {
			stream, err := c.DupFor("later")
			assert.NoError(t, err)
			odd := c.Rank() == 1
			var seq uint64
			if !odd {
				seq, err = c.Defer("sort", "a:1")
				assert.NoError(t, err)
			}
			assert.NoError(t, c.Barrier())
			if odd {
				_, err = c.Defer("scan", "b:2")
			} else {
				err = served(c, stream, seq)
			}
			assert.ErrorIs(t, err, status.Mismatch)
			assert.ErrorContains(t, err, "sort at a:1")
			assert.ErrorContains(t, err, "scan at b:2")
			_, err = c.Defer("sort", "")
			assert.ErrorContains(t, err, "go on with a dup")
			assert.NoError(t, c.Barrier(), "what blocks goes on")
			assert.NoError(t, stream.Close())
		})
	}
}

// TestBlockingAfterDeferredCallsThatDoNotFit has one rank defer two calls before the other defers one that is another: who is
// told that does not take the second for a call that it should have made before it blocks.
func TestBlockingAfterDeferredCallsThatDoNotFit(t *testing.T) {
	ahead := make(chan struct{})
	meetingRanks(t, 2, func(c *comm.Comm) {
		stream, err := c.DupFor("later")
		assert.NoError(t, err)
		if c.Rank() == 0 {
			first, err := c.Defer("sort", "a:1")
			assert.NoError(t, err)
			_, err = c.Defer("sort", "a:2")
			assert.NoError(t, err)
			close(ahead)
			assert.ErrorIs(t, served(c, stream, first), status.Mismatch)
		} else {
			<-ahead
			_, err := c.Defer("scan", "b:1")
			assert.ErrorIs(t, err, status.Mismatch)
		}
		assert.NoError(t, c.Barrier(), "what blocks goes on")
		assert.NoError(t, stream.Close())
	})
}

// TestDeferredHereAndBlockingThere has one rank make a call that blocks where the others defer theirs, and wait for it.
func TestDeferredHereAndBlockingThere(t *testing.T) {
	for n := 2; n <= 3; n++ {
		meetingRanks(t, n, func(c *comm.Comm) {
			stream, err := c.DupFor("later")
			assert.NoError(t, err)
			if c.Rank() == 1 {
				err = c.Barrier()
			} else {
				var seq uint64
				seq, err = c.Defer("sort", "a:1")
				assert.NoError(t, err)
				err = served(c, stream, seq)
			}
			assert.ErrorIs(t, err, status.Mismatch)
			assert.ErrorContains(t, err, "called sort at a:1; rank 1 called barrier()")
			assert.NoError(t, stream.Close())
		})
	}
}

func TestDeferredOnAClosedContext(t *testing.T) {
	onRanks(t, 2, func(c *comm.Comm) {
		d, err := c.Dup()
		assert.NoError(t, err)
		assert.NoError(t, d.Close())
		_, err = d.Defer("sort", "")
		assert.ErrorIs(t, err, status.InvalidHandle)
	})
}
