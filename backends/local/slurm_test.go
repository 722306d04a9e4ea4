package local

import (
	"fmt"
	"os"
	"testing"
)

func TestWhatSrunSays(t *testing.T) {
	tasks := []string{"SLURM_JOB_ID", "7", "SLURM_STEP_ID", "3", "SLURM_PROCID", "1", "SLURM_STEP_NUM_TASKS", "4", "SLURM_STEP_NUM_NODES", "1"}
	with := func(more ...string) func(string) string { return variables(append(more, tasks...)...) }
	here := step{fmt.Sprintf("@dtl-slurm-7.3-%d", os.Getuid()), 1, 4}
	for _, row := range []struct {
		name string
		env  func(string) string
		want step
	}{
		{"nothing", variables(), step{}},
		{"a task", with(), here},
		{"--mpi=none", with("SLURM_MPI_TYPE", "none"), here},
		{"--mpi=pmix", with("SLURM_MPI_TYPE", "pmix_v4"), step{}},
		{"--mpi=pmi2", with("PMI_SIZE", "4"), step{}},
		{"a rank of dtl run", with(memoryVariable, "77/5/abc"), step{}},
		{"two nodes", with("SLURM_STEP_NUM_NODES", "2"), step{}},
		{"one task", with("SLURM_STEP_NUM_TASKS", "1"), step{}},
		{"a batch script", with("SLURM_STEP_ID", "4294967291"), step{}},
		{"a task outside", with("SLURM_PROCID", "4"), step{}},
	} {
		if got := stepOf(row.env); got != row.want {
			t.Errorf("%s: %+v, want %+v", row.name, got, row.want)
		}
	}
}

// TestTasksOfAStep has this binary start itself as srun --mpi=none would. TestJobs has the other numbers of ranks, which differ from these
// only in how they found each other.
func TestTasksOfAStep(t *testing.T) {
	const n = 3
	job := ranks(t, n)
	job.Env = []string{fmt.Sprintf("DTL_TEST_STEP=%d-%d", os.Getpid(), n)}
	job.Passes(t, "TestRankConformance")
}
