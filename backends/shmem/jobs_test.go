package shmem

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
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

// result is what became of a job.
type result struct {
	output string
	code   int    // exit status of the launcher
	marks  string // the folder where ranks left word
}

// count returns how many ranks came so far in a test.
func (r result) count(t *testing.T, test, word string) int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(r.marks, test+"."+word+".*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

// run runs tests of this binary on each of n ranks.
func run(t *testing.T, n int, tests ...string) result {
	t.Helper()
	launcher := launch(t)
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, launcher, "--mca", "btl", "^openib", "--oversubscribe", "--bind-to", "none",
		"-n", strconv.Itoa(n), os.Args[0], "-test.run", "^("+strings.Join(tests, "|")+")$", "-test.v", "-test.timeout", "220s")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // a launcher that is killed leaves its ranks
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = append(os.Environ(), asRank+"=1", marks+"="+dir, sizeVariable+"=128M",
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("no end within four minutes:\n%s", out)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{string(out), cmd.ProcessState.ExitCode(), dir}
}

// passed runs tests that pass on every rank.
func passed(t *testing.T, n int, tests ...string) {
	t.Helper()
	r := run(t, n, tests...)
	if r.code != 0 {
		t.Errorf("exit status %d", r.code)
	}
	for _, test := range tests {
		if ranks := r.count(t, test, "passed"); ranks != n {
			t.Errorf("%s passed on %d ranks of %d", test, ranks, n)
		}
	}
	if t.Failed() {
		t.Log(r.output)
	}
}

func TestJobs(t *testing.T) {
	for n := 1; n <= 4; n++ {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			passed(t, n, "TestRankConformance", "TestRankWindow", "TestRankWindowInSymmetricMemory", "TestRankMemorySpace", "TestRankVersion", "TestRankAfterFinalize")
		})
	}
}

// TestJobsEnd: a rank that leaves through C's exit ends OpenSHMEM, or the whole job if it failed.
func TestJobsEnd(t *testing.T) {
	for _, row := range []struct {
		test    string
		leaving int // ranks that get so far
		code    int
	}{
		{"TestRankExitsWithSuccess", 2, 0},
		{"TestRankExitsWithFailure", 1, 3},
		{"TestRankAborts", 1, 5},
	} {
		t.Run(row.test, func(t *testing.T) {
			r := run(t, 2, row.test)
			if n := r.count(t, row.test, "leaving"); n != row.leaving || r.code != row.code {
				t.Errorf("%d ranks left, exit status %d; want %d, %d:\n%s", n, r.code, row.leaving, row.code, r.output)
			}
		})
	}
}
