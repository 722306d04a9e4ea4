// Package slurm reads what Slurm's srun tells the tasks that it starts: see srun(1), "OUTPUT ENVIRONMENT VARIABLES".
package slurm

import "strconv"

// Step is a job step as one of its tasks sees it. A process that is no task has the zero Step.
type Step struct {
	Job    string
	Number uint64
	Task   int // this process, from 0
	Tasks  int
	Nodes  int // 0 where Slurm does not say
}

// firstSpecial is the least of the numbers that Slurm gives to steps that srun did not start: batch scripts, interactive
// shells, external processes.
const firstSpecial = 0xfffffff0

// StepOf returns the step that a process with such an environment is a task of. The shell of salloc or sbatch knows
// SLURM_NTASKS, but it is one process.
func StepOf(getenv func(string) string) Step {
	number, err := strconv.ParseUint(getenv("SLURM_STEP_ID"), 10, 32)
	task, tasks := count(getenv("SLURM_PROCID")), count(getenv("SLURM_STEP_NUM_TASKS"))
	if err != nil || number >= firstSpecial || task < 0 || tasks < 0 {
		return Step{}
	}
	return Step{getenv("SLURM_JOB_ID"), number, task, tasks, max(count(getenv("SLURM_STEP_NUM_NODES")), 0)}
}

// count reads a number that is not negative; -1 where the text is none.
func count(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return -1
	}
	return n
}
