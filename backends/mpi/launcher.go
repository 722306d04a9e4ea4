package mpi

import (
	"strconv"
	"strings"

	"dtl/backends/internal/slurm"
)

// Launcher is what the environment says started this process.
type Launcher struct {
	Name string // empty: nothing did
	Size int    // how many processes it started together; 0 if it does not say
	Srun string // what --mpi= of Slurm's srun is, where that started several; empty elsewhere
}

// launchers are the variables that say so, the most specific first: mpirun within a Slurm job sets its own
// beside Slurm's. The first one that is set decides; size may be another variable.
var launchers = []struct{ name, shows, size string }{
	{"Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE"},
	{"mpiexec of MPICH or Intel MPI", "PMI_SIZE", "PMI_SIZE"},
	{"MVAPICH's mpirun", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE"},
	{"Cray's PALS", "PALS_RANKID", "PALS_SIZE"},
	{"Flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE"},
}

// launcher says what started this process, from an environment. It reads nothing else.
func launcher(getenv func(string) string) Launcher {
	if l := srun(getenv); l.Size > 1 {
		return l
	}
	for _, l := range launchers {
		if getenv(l.shows) != "" {
			return Launcher{Name: l.name, Size: count(getenv(l.size))}
		}
	}
	if getenv("PMIX_RANK") != "" && getenv("PMIX_NAMESPACE") != "" {
		return Launcher{Name: "a PMIx launcher"}
	}
	return Launcher{}
}

// srun says what --mpi= it had, if Slurm's srun started this process as one of several; its size is 0 if it did not.
// Launchers that srun starts on each node, and the processes of those, are in a step, too, but have variables of their own.
func srun(getenv func(string) string) Launcher {
	n := slurm.StepOf(getenv).Tasks
	if getenv("OMPI_COMM_WORLD_SIZE") != "" || getenv("MPI_LOCALNRANKS") != "" || getenv("MV2_COMM_WORLD_SIZE") != "" {
		return Launcher{}
	}
	pmi := getenv("PMI_SIZE") != ""
	if pmi && count(getenv("PMI_SIZE")) != n {
		return Launcher{}
	}
	kind := getenv("SLURM_MPI_TYPE")
	if strings.HasPrefix(kind, "pmix_v") {
		kind = "pmix"
	}
	switch {
	case pmi:
		kind = "pmi2"
	case getenv("PMIX_NAMESPACE") != "":
		kind = "pmix"
	case kind == "":
		kind = "none"
	}
	return Launcher{Name: "Slurm's srun --mpi=" + kind, Size: n, Srun: kind}
}

// together lists where a launcher says how many processes it started, on all machines and on this one.
var together = []struct{ size, here string }{
	{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
	{"PMI_SIZE", "MPI_LOCALNRANKS"},
}

// onOneMachine reports whether the environment says that all processes of the job run on this machine.
func onOneMachine(getenv func(string) string) bool {
	for _, t := range together {
		if n := count(getenv(t.size)); n > 0 {
			return count(getenv(t.here)) == n
		}
	}
	return false
}

// count reads a number of processes; what is none is 0.
func count(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
