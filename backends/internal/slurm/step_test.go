package slurm

import "testing"

func TestStepOf(t *testing.T) {
	task := map[string]string{
		"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "3", "SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "4", "SLURM_STEP_NUM_NODES": "2",
	}
	for _, row := range []struct {
		name, variable, value string
		want                  Step
	}{
		{"a task", "OTHER", "", Step{"7", 3, 1, 4, 2}},
		{"no number of nodes", "SLURM_STEP_NUM_NODES", "", Step{"7", 3, 1, 4, 0}},
		{"no step", "SLURM_STEP_ID", "", Step{}},
		{"a batch script", "SLURM_STEP_ID", "4294967291", Step{}},
		{"no task", "SLURM_PROCID", "", Step{}},
		{"no number of tasks", "SLURM_STEP_NUM_TASKS", "many", Step{}},
	} {
		got := StepOf(func(name string) string {
			if name == row.variable {
				return row.value
			}
			return task[name]
		})
		if got != row.want {
			t.Errorf("%s: %+v, want %+v", row.name, got, row.want)
		}
	}
}
