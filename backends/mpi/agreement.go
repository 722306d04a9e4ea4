package mpi

import (
	"fmt"
	"strings"

	"dtl/backends/internal/environ"
	"dtl/core/status"
)

// agree refuses a world of one where the launcher started several: each would work alone, and be wrong.
func (p *provider) agree(l Launcher, size int) error {
	if l.Size <= 1 || size > 1 {
		return nil
	}
	return p.mismatch(l, "MPI connects 1")
}

// understood refuses what an MPI library would abort the process for: a launcher that speaks what it does not.
func (p *provider) understood() error {
	l := launcher(environ.Get)
	version := firstLine(p.calls.version())
	pmix := environ.Get("PMIX_RANK") != ""
	switch {
	case strings.HasPrefix(version, "MPICH") && pmix && environ.Get("PMI_RANK") == "" && !p.found.library.Has("PMIx_Init"):
		return p.mismatch(l, "MPI was built without PMIx, by which that launcher connects them")
	case l.Srun != "" && !pmix && onlyPMIx(version):
		return p.mismatch(l, "MPI learns of others by PMIx, which that does not speak")
	}
	return nil
}

// onlyPMIx reports whether a library is Open MPI from version 5 on: one before may have been built with Slurm's PMI.
func onlyPMIx(version string) bool {
	number, open := strings.CutPrefix(version, "Open MPI v")
	major, _, _ := strings.Cut(number, ".")
	return open && count(major) >= 5
}

func (p *provider) mismatch(l Launcher, but string) error {
	processes := "processes"
	if l.Size > 0 {
		processes = fmt.Sprint(l.Size, " processes")
	}
	version := firstLine(p.calls.version())
	return status.New(status.Communication, "%s started %s, but %s: the launcher does not belong to the MPI library, "+
		"which is %s (%s; chosen because %s); %s", l.Name, processes, but, p.path(), version, p.found.source, advice(l, version))
}

// advice returns what to do where a launcher and a library do not fit.
func advice(l Launcher, version string) string {
	const library = "or set DTL_MPI_LIB to the launcher's library"
	if l.Srun == "" {
		return "start the program with that library's own launcher, which python -m dtl run finds, " + library
	}
	fits := "pmi2"
	if strings.HasPrefix(version, "Open MPI") {
		fits = "pmix"
	}
	own := "start it within the job with python -m dtl run, which takes its tasks and hosts, " + library
	if fits == l.Srun {
		return "its " + fits + " is not Slurm's; " + own
	}
	return "this library needs srun --mpi=" + fits + ", if srun --mpi=list has it; or " + own
}

// path returns the file of the library that is open.
func (p *provider) path() string { return p.found.library.Path() }

// firstLine returns the first line of a library's description: "MPICH Version:      5.0.2" has its spaces.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.Join(strings.Fields(strings.TrimRight(line, "\x00")), " ")
}
