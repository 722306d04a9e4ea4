package local

import (
	"os"
	"strconv"
	"testing"
	"time"

	"dtl/backends/internal/jobtest"
)

// ranks returns this binary as n ranks.
func ranks(t *testing.T, n int) jobtest.Job {
	t.Helper()
	return jobtest.Job{Launcher: os.Args[0], Kind: "local", Ranks: n, Limit: 4 * time.Minute}
}

func TestJobs(t *testing.T) {
	for n := 1; n <= 4; n++ {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			ranks(t, n).Passes(t, "TestRankConformance", "TestRankWindow")
		})
	}
}

// TestJobsEnd: a rank that fails ends the job.
func TestJobsEnd(t *testing.T) {
	for _, end := range jobtest.Endings {
		t.Run(end.Test, func(t *testing.T) { ranks(t, 2).Ends(t, end.Test, end.Leaving, end.Code) })
	}
}
