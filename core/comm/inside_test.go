package comm_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"dtl/core/comm"
)

// TestReportFromInside has rank 0 wait in the backend until somebody tells of it.
func TestReportFromInside(t *testing.T) {
	reported, once := make(chan string), sync.Once{}
	comm.Program.Report = func(text string) { once.Do(func() { reported <- text }) }
	comm.Program.WhereIs = func(thread int) string {
		assert.NotZero(t, thread)
		return "app.py:41"
	}
	comm.SetPatience(10*time.Millisecond, 0)
	comm.SetSharing(false)
	defer func() {
		comm.SetSharing(true)
		comm.SetPatience(0, 0)
		comm.Program.Report, comm.Program.WhereIs = nil, nil
	}()
	meetingRanks(t, 2, func(c *comm.Comm) {
		if c.Rank() == 1 {
			assert.Regexp(t, `^dtl: rank 0 of 2 waits for [0-9.]+m?s: in barrier at app\.py:41; the ranks share no memory`, <-reported)
		}
		assert.NoError(t, c.Barrier())
	})
}
