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

// understood refuses what MPICH would abort the process for: a launcher that speaks PMIx only, where the
// library was built without it.
func (p *provider) understood() error {
	version := firstLine(p.calls.version())
	if environ.Get("PMIX_RANK") == "" || environ.Get("PMI_RANK") != "" ||
		!strings.HasPrefix(version, "MPICH") || p.found.library.Has("PMIx_Init") {
		return nil
	}
	return p.mismatch(launcher(environ.Get), "MPI was built without PMIx, by which that launcher connects them")
}

func (p *provider) mismatch(l Launcher, but string) error {
	processes := "processes"
	if l.Size > 0 {
		processes = fmt.Sprint(l.Size, " processes")
	}
	return status.New(status.Communication, "%s started %s, but %s: the launcher does not belong to the MPI library, "+
		"which is %s (%s; chosen because %s); start the program with that library's own launcher, which "+
		"python -m dtl run finds, or set DTL_MPI_LIB to the launcher's library",
		l.Name, processes, but, p.path(), firstLine(p.calls.version()), p.found.source)
}

// path returns the file of the library that is open.
func (p *provider) path() string { return p.found.library.Path() }

// firstLine returns the first line of a library's description: "MPICH Version:      5.0.2" has its spaces.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.Join(strings.Fields(strings.TrimRight(line, "\x00")), " ")
}
