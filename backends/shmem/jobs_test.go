package shmem

import (
	"os/exec"
	"strconv"
	"testing"
	"time"

	"dtl/backends/internal/jobtest"
	"dtl/backends/shmem/library"
)

// launch returns the launcher of OpenSHMEM programs, and skips the test where there is no library or no launcher.
func launch(t *testing.T) string {
	t.Helper()
	launcher, err := exec.LookPath("oshrun")
	if err == nil {
		err = shmem.Probe()
	}
	if err != nil {
		t.Skipf("%v: make test-shmem runs this test where OpenSHMEM is, and says how to install it", err)
	}
	return launcher
}

// job returns this binary as n ranks.
func job(t *testing.T, n int) jobtest.Job {
	t.Helper()
	return jobtest.Job{Launcher: launch(t), Flags: []string{"--mca", "btl", "^openib", "--oversubscribe", "--bind-to", "none"},
		Kind: "shmem", Env: []string{library.SizeVariable + "=128M"}, Ranks: n, Limit: 4 * time.Minute}
}

func TestJobs(t *testing.T) {
	for n := 1; n <= 4; n++ {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			job(t, n).Passes(t, "TestRankConformance", "TestRankWindow", "TestRankWindowInSymmetricMemory", "TestRankMemorySpace",
				"TestRankVersion", "TestRankAfterFinalize")
		})
	}
}

// TestJobsEnd: a rank that leaves through C's exit ends OpenSHMEM, or the whole job if it failed.
func TestJobsEnd(t *testing.T) {
	for _, end := range jobtest.Endings {
		t.Run(end.Test, func(t *testing.T) { job(t, 2).Ends(t, end.Test, end.Leaving, end.Code) })
	}
	t.Run("ACallUnderWay", func(t *testing.T) { job(t, 2).Ends(t, "TestRankExitsWithACallUnderWay", 2, 0) })
}
