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
			Launcher{Name: "Open MPI's mpirun", Size: 4}},
		{"mpirun of Open MPI, one rank", env{"OMPI_COMM_WORLD_SIZE": "1"}, Launcher{Name: "Open MPI's mpirun", Size: 1}},
		{"mpiexec of MPICH", env{"PMI_SIZE": "2", "PMI_RANK": "1"}, Launcher{Name: "mpiexec of MPICH or Intel MPI", Size: 2}},
		{"PALS", env{"PALS_RANKID": "0", "PALS_SIZE": "8"}, Launcher{Name: "Cray's PALS", Size: 8}},
		{"Flux", env{"FLUX_TASK_RANK": "3", "FLUX_JOB_SIZE": "16"}, Launcher{Name: "Flux", Size: 16}},
		{"PMIx alone does not say how many", env{"PMIX_RANK": "0", "PMIX_NAMESPACE": "j"}, Launcher{Name: "a PMIx launcher", Size: 0}},
		{"srun --mpi=none", env{"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "1"},
			Launcher{"Slurm's srun --mpi=none", 8, "none"}},
		{"srun --mpi=pmix", env{"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "1", "SLURM_MPI_TYPE": "pmix_v4",
			"PMIX_RANK": "1", "PMIX_NAMESPACE": "slurm.pmix.17.0"}, Launcher{"Slurm's srun --mpi=pmix", 8, "pmix"}},
		{"srun --mpi=cray_shasta", env{"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "1",
			"SLURM_MPI_TYPE": "cray_shasta"}, Launcher{"Slurm's srun --mpi=cray_shasta", 8, "cray_shasta"}},
		{"srun of one task", env{"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0"}, Launcher{}},
		{"srun --mpi=pmi2", env{"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "1", "PMI_SIZE": "8"},
			Launcher{"Slurm's srun --mpi=pmi2", 8, "pmi2"}},
		{"srun --mpi=pmi2 of one task", env{"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0", "PMI_SIZE": "1"},
			Launcher{Name: "mpiexec of MPICH or Intel MPI", Size: 1}},
		{"mpiexec of MPICH within sbatch, one process a node", env{"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2",
			"SLURM_PROCID": "0", "PMI_SIZE": "2", "MPI_LOCALNRANKS": "1"}, Launcher{Name: "mpiexec of MPICH or Intel MPI", Size: 2}},
		{"mpiexec of MPICH within sbatch, as an old one says it", env{"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2",
			"SLURM_PROCID": "0", "PMI_SIZE": "4"}, Launcher{Name: "mpiexec of MPICH or Intel MPI", Size: 4}},
		{"salloc's shell", env{"SLURM_NTASKS": "8", "SLURM_JOB_ID": "17"}, Launcher{}},
		{"sbatch's script", env{"SLURM_NTASKS": "8", "SLURM_PROCID": "0", "SLURM_STEP_ID": "batch"}, Launcher{}},
		{"salloc's interactive step", env{"SLURM_STEP_ID": "4294967290", "SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "0"},
			Launcher{}},
		{"mpirun within sbatch", env{"SLURM_NTASKS": "8", "OMPI_COMM_WORLD_SIZE": "4", "SLURM_STEP_ID": "0",
			"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0"}, Launcher{Name: "Open MPI's mpirun", Size: 4}},
		{"a size that is no number", env{"PMI_SIZE": "many"}, Launcher{Name: "mpiexec of MPICH or Intel MPI", Size: 0}},
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
