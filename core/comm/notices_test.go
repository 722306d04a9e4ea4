package comm_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"dtl/core/comm"
	"dtl/core/watchdog"
)

// TestOneReportByMessages has two ranks of three that share no memory wait: one of them tells where all are.
func TestOneReportByMessages(t *testing.T) {
	reported, told := make(chan string, 9), sync.Once{}
	watchdog.Program.Report = func(text string) { reported <- text }
	watchdog.Program.Where = func() string { return "app.py:41" }
	watchdog.SetLimits(300*time.Millisecond, 0)
	comm.SetSharing(false)
	defer func() {
		comm.SetSharing(true)
		watchdog.SetLimits(0, 0)
		watchdog.Program.Report, watchdog.Program.Where = nil, nil
	}()
	asked := make(chan struct{})
	go func() { // the watch of the process that is in no call
		for !watchdog.Asked() {
			time.Sleep(10 * time.Millisecond)
		}
		watchdog.Answer("at app.py:7, in no call that waits")
		close(asked)
	}()
	meetingRanks(t, 3, func(c *comm.Comm) {
		if c.Rank() == 2 {
			<-asked
			text := <-reported
			told.Do(func() {
				assert.Regexp(t, `^dtl: rank [01] of 3 waits for [0-9.]+m?s: ranks 0-1 in barrier\(\) at app\.py:41; rank 2 at app\.py:7`, text)
			})
		}
		assert.NoError(t, c.Barrier())
	})
	assert.Empty(t, reported, "one rank reports")
}
