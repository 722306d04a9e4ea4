package mpi

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"dtl/backends/internal/jobtest"
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

// job returns this binary as so many ranks on a library, by a launcher with its flags.
func job(launcher string, flags []string, abi ABI, library string, ranks int) jobtest.Job {
	return jobtest.Job{Launcher: launcher, Flags: flags, Kind: string(abi), Env: []string{"DTL_MPI_LIB=" + library},
		Ranks: ranks, Limit: 5 * time.Minute}
}

// eachKind runs a test on every library, with every number of ranks of at least the given one.
func eachKind(t *testing.T, least int, test func(t *testing.T, j jobtest.Job)) {
	for _, k := range kinds {
		t.Run(string(k.abi), func(t *testing.T) {
			in := installationWith(t, k.library)
			for _, ranks := range k.ranks {
				if ranks < least || testing.Short() && ranks != 2 {
					continue
				}
				t.Run(strconv.Itoa(ranks), func(t *testing.T) {
					test(t, job(in.path("bin/mpiexec"), k.flags, k.abi, in.path(k.library), ranks))
				})
			}
		})
	}
}

// TestJobs starts one job for all that ranks can test one after the other: starting and ending MPI takes longest.
func TestJobs(t *testing.T) {
	eachKind(t, 1, func(t *testing.T, j jobtest.Job) {
		j.Passes(t, "TestRankConformance", "TestRankConformanceOfLargeCounts",
			"TestRankConformanceOfProbes", "TestRankSumOfPartsBeyondLimit", "TestRankErrorsAreReturned", "TestRankAdopt", "TestRankNative",
			"TestRankDescribe", "TestRankWindow", "TestRankWindowOfLargeCounts", "TestRankAfterFinalize")
	})
}

// TestJobsEnd: a rank that leaves through C's exit ends MPI, or the whole job if it failed.
func TestJobsEnd(t *testing.T) {
	for _, end := range jobtest.Endings {
		t.Run(end.Test, func(t *testing.T) {
			eachKind(t, 2, func(t *testing.T, j jobtest.Job) {
				if j.Ranks == 2 {
					j.Ends(t, end.Test, end.Leaving, end.Code)
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
		job(openmpi.path("bin/mpiexec"), kinds[0].flags, MPICH, mpich.path("lib/libmpi.so.12"), 2).
			Passes(t, "TestRankLauncherDisagrees")
	})
	t.Run("MPICH's launcher, Open MPI", func(t *testing.T) {
		job(mpich.path("bin/mpiexec"), nil, OpenMPI, openmpi.path("lib/libmpi.so.40"), 2).
			Passes(t, "TestRankLauncherDisagrees")
	})
}
