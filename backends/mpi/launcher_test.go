package mpi

import "testing"

func TestLauncher(t *testing.T) {
	type env map[string]string
	rows := []struct {
		name string
		env  env
		want Launcher
	}{
		{"nothing", env{"PATH": "/bin"}, Launcher{}},
		{"mpirun of Open MPI", env{"OMPI_COMM_WORLD_SIZE": "4", "PMIX_RANK": "0", "PMIX_NAMESPACE": "j"},
			Launcher{"Open MPI's mpirun", 4}},
		{"mpirun of Open MPI, one rank", env{"OMPI_COMM_WORLD_SIZE": "1"}, Launcher{"Open MPI's mpirun", 1}},
		{"mpiexec of MPICH", env{"PMI_SIZE": "2", "PMI_RANK": "1"}, Launcher{"mpiexec of MPICH or Intel MPI", 2}},
		{"PALS", env{"PALS_RANKID": "0", "PALS_SIZE": "8"}, Launcher{"Cray's PALS", 8}},
		{"Flux", env{"FLUX_TASK_RANK": "3", "FLUX_JOB_SIZE": "16"}, Launcher{"Flux", 16}},
		{"PMIx alone does not say how many", env{"PMIX_RANK": "0", "PMIX_NAMESPACE": "j"}, Launcher{"a PMIx launcher", 0}},
		{"srun", env{"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "1"}, Launcher{"Slurm's srun", 8}},
		{"srun of one task", env{"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0"}, Launcher{}},
		{"srun with PMI", env{"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "1", "PMI_SIZE": "8"},
			Launcher{"mpiexec of MPICH or Intel MPI", 8}},
		{"salloc's shell", env{"SLURM_NTASKS": "8", "SLURM_JOB_ID": "17"}, Launcher{}},
		{"sbatch's script", env{"SLURM_NTASKS": "8", "SLURM_PROCID": "0", "SLURM_STEP_ID": "batch"}, Launcher{}},
		{"salloc's interactive step", env{"SLURM_STEP_ID": "4294967290", "SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "0"},
			Launcher{}},
		{"mpirun within sbatch", env{"SLURM_NTASKS": "8", "OMPI_COMM_WORLD_SIZE": "4", "SLURM_STEP_ID": "0",
			"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0"}, Launcher{"Open MPI's mpirun", 4}},
		{"a size that is no number", env{"PMI_SIZE": "many"}, Launcher{"mpiexec of MPICH or Intel MPI", 0}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if got := launcher(func(name string) string { return row.env[name] }); got != row.want {
				t.Errorf("got %+v, want %+v", got, row.want)
			}
		})
	}
}

func TestOnOneMachine(t *testing.T) {
	type env map[string]string
	rows := []struct {
		name string
		env  env
		want bool
	}{
		{"nothing", env{}, false},
		{"Open MPI, one machine", env{"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "4"}, true},
		{"Open MPI, two machines", env{"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}, false},
		{"MPICH, one machine", env{"PMI_SIZE": "2", "MPI_LOCALNRANKS": "2"}, true},
		{"MPICH, two machines", env{"PMI_SIZE": "2", "MPI_LOCALNRANKS": "1"}, false},
		{"a launcher that does not say", env{"PMI_SIZE": "2"}, false},
		{"sizes that are no numbers", env{"PMI_SIZE": "many", "MPI_LOCALNRANKS": "many"}, false},
		{"mpirun within another's job", env{"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
			"PMI_SIZE": "2", "MPI_LOCALNRANKS": "2"}, false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if got := onOneMachine(func(name string) string { return row.env[name] }); got != row.want {
				t.Errorf("got %v, want %v", got, row.want)
			}
		})
	}
}
