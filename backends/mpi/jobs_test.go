package mpi

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

// installation is a Python environment with the wheel of an MPI in it.
type installation struct{ prefix string }

// installationWith returns, of the prefixes that DTL_TEST_MPI lists, else those that make setup creates, the one in which
// the given file is.
func installationWith(t *testing.T, file string) installation {
	t.Helper()
	prefixes := []string{"../../.venv", "../../.venv-mpich"}
	if list := os.Getenv("DTL_TEST_MPI"); list != "" {
		prefixes = filepath.SplitList(list)
	}
	for _, prefix := range prefixes {
		if absolute, err := filepath.Abs(prefix); err == nil && exists(filepath.Join(absolute, file)) {
			return installation{absolute}
		}
	}
	t.Skipf("no %s in %s: make setup creates these environments, and make test runs this test; "+
		"DTL_TEST_MPI lists others", file, strings.Join(prefixes, " or "))
	return installation{}
}

func (i installation) path(file string) string { return filepath.Join(i.prefix, file) }

// kinds are the libraries that jobs run on. MPICH's wheel spins where there are more ranks than cores.
var kinds = []struct {
	abi     ABI
	library string
	flags   []string
	ranks   []int
}{
	{OpenMPI, "lib/libmpi.so.40", []string{"--oversubscribe", "--bind-to", "none"}, []int{1, 2, 3, 4}},
	{MPICH, "lib/libmpi.so.12", nil, []int{1, 2}},
	{Standard, "lib/libmpi_abi.so.1", nil, []int{1, 2}},
}

// job is this binary as n ranks.
type job struct {
	launcher string
	flags    []string
	library  string
	abi      ABI
	ranks    int
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

// run runs the tests on each rank.
func (j job) run(t *testing.T, tests ...string) result {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	args := append([]string{"-n", strconv.Itoa(j.ranks)}, j.flags...)
	args = append(args, os.Args[0], "-test.run", "^("+strings.Join(tests, "|")+")$", "-test.v", "-test.timeout", "100s")
	cmd := exec.CommandContext(ctx, j.launcher, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // a launcher that is killed leaves its ranks
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = append(os.Environ(), asRank+"="+string(j.abi), marks+"="+dir, "DTL_MPI_LIB="+j.library,
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("no end within two minutes:\n%s", out)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{string(out), cmd.ProcessState.ExitCode(), dir}
}

// passed runs tests that pass on every rank.
func (j job) passed(t *testing.T, tests ...string) {
	t.Helper()
	r := j.run(t, tests...)
	if r.code != 0 {
		t.Errorf("exit status %d", r.code)
	}
	for _, test := range tests {
		if n := r.count(t, test, "passed"); n != j.ranks {
			t.Errorf("%s passed on %d ranks of %d", test, n, j.ranks)
		}
	}
	if t.Failed() {
		t.Log(r.output)
	}
}

// eachKind runs a test on every library, with every number of ranks of at least the given one.
func eachKind(t *testing.T, least int, test func(t *testing.T, j job)) {
	for _, k := range kinds {
		t.Run(string(k.abi), func(t *testing.T) {
			in := installationWith(t, k.library)
			for _, ranks := range k.ranks {
				if ranks < least {
					continue
				}
				t.Run(strconv.Itoa(ranks), func(t *testing.T) {
					test(t, job{in.path("bin/mpiexec"), k.flags, in.path(k.library), k.abi, ranks})
				})
			}
		})
	}
}

func TestJobs(t *testing.T) {
	eachKind(t, 1, func(t *testing.T, j job) {
		j.passed(t, "TestRankConformance", "TestRankConformanceOfLargeCounts", "TestRankSumOfPartsBeyondLimit",
			"TestRankErrorsAreReturned", "TestRankAdopt", "TestRankNative",
			"TestRankDescribe")
	})
}

func TestJobsWindow(t *testing.T) {
	eachKind(t, 1, func(t *testing.T, j job) { j.passed(t, "TestRankWindow", "TestRankWindowOfLargeCounts") })
}

func TestJobsAfterFinalize(t *testing.T) {
	eachKind(t, 2, func(t *testing.T, j job) {
		if j.ranks == 2 {
			j.passed(t, "TestRankAfterFinalize")
		}
	})
}

// TestJobsEnd: a rank that leaves through C's exit ends MPI, or the whole job if it failed.
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
			eachKind(t, 2, func(t *testing.T, j job) {
				if j.ranks > 2 {
					return
				}
				r := j.run(t, row.test)
				if n := r.count(t, row.test, "leaving"); n != row.leaving || r.code != row.code {
					t.Errorf("%d ranks left, exit status %d; want %d, %d:\n%s", n, r.code, row.leaving, row.code, r.output)
				}
			})
		})
	}
}

// TestJobLauncherDisagrees starts two ranks with a launcher that their library does not know.
func TestJobLauncherDisagrees(t *testing.T) {
	openmpi := installationWith(t, "lib/libmpi.so.40")
	mpich := installationWith(t, "lib/libmpi.so.12")
	t.Run("Open MPI's launcher, MPICH", func(t *testing.T) {
		job{launcher: openmpi.path("bin/mpiexec"), flags: kinds[0].flags, library: mpich.path("lib/libmpi.so.12"),
			abi: MPICH, ranks: 2}.passed(t, "TestRankLauncherDisagrees")
	})
	t.Run("MPICH's launcher, Open MPI", func(t *testing.T) {
		job{launcher: mpich.path("bin/mpiexec"), library: openmpi.path("lib/libmpi.so.40"),
			abi: OpenMPI, ranks: 2}.passed(t, "TestRankLauncherDisagrees")
	})
}
