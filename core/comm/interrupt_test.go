package comm_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/comm"
	"dtl/core/watchdog"
)

// TestInterruptAsTheLastRankComes has the user interrupt a rank at the moment when the other comes to the meeting: the call
// is made on both, and the program raises the interrupt after it.
func TestInterruptAsTheLastRankComes(t *testing.T) {
	for _, sharing := range []bool{true, false} {
		come, there, over := make(chan struct{}), make(chan struct{}), false
		watchdog.Program.Interrupted = func() bool { // of rank 0: the other does not wait
			if over {
				return false
			}
			over = true
			close(come)
			<-there
			return true
		}
		comm.SetSharing(sharing)
		meetingRanks(t, 2, func(c *comm.Comm) {
			if c.Rank() == 0 {
				assert.NoError(t, c.Barrier())
			} else {
				<-come
				assert.NoError(t, c.Barrier())
				close(there)
			}
			assert.NoError(t, c.Barrier())
		})
	}
	comm.SetSharing(true)
	watchdog.Program.Interrupted = nil
}
