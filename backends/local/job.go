package local

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"dtl/core/status"
)

// What the launcher tells each process, in its environment.
const (
	rankVariable    = "DTL_LOCAL_RANK"
	sizeVariable    = "DTL_LOCAL_SIZE"
	memoryVariable  = "DTL_LOCAL_MEMORY"  // process/descriptor/token: where the launcher has the file open, and its name's end
	programVariable = "DTL_LOCAL_PROGRAM" // which of the programs of its command this one is, from 0
)

// fileName is how the file is called, but for its token. It is a name in /proc only.
const fileName = "dtl-local-"

// inner are variables that launchers of MPI set. The launcher takes them out of its ranks' environment, so a process that
// has one was started by such a launcher within a rank.
var inner = []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MV2_COMM_WORLD_SIZE"}

// launched reports whether the environment is that of a process of a job.
func launched(getenv func(string) string) bool {
	for _, name := range inner {
		if getenv(name) != "" {
			return false
		}
	}
	return getenv(memoryVariable) != ""
}

// job is what the launcher says.
type job struct {
	rank, size int
	launcher   int // process
	descriptor int // of the file, there
	token      string
}

// alone reports whether no launcher started this process, or only this one.
func (j job) alone() bool { return j.size == 1 }

// jobOf reads what the launcher says; the job of a process that it did not start has one rank.
func jobOf(getenv func(string) string) (job, error) {
	if !launched(getenv) {
		return job{size: 1}, nil
	}
	j := job{rank: -1}
	j.rank, _ = strconv.Atoi(getenv(rankVariable)) // what is no number is no rank of a size of 0
	j.size, _ = strconv.Atoi(getenv(sizeVariable))
	where := strings.SplitN(getenv(memoryVariable), "/", 3)
	if len(where) == 3 {
		j.launcher, _ = strconv.Atoi(where[0])
		j.descriptor, _ = strconv.Atoi(where[1])
		j.token = where[2]
	}
	if j.rank < 0 || j.rank >= j.size || j.size > mostRanks || j.launcher == 0 || j.token == "" {
		return job{}, status.New(status.BackendUnavailable, "%s=%q, %s=%q and %s=%q describe no job of dtl run",
			rankVariable, getenv(rankVariable), sizeVariable, getenv(sizeVariable), memoryVariable, getenv(memoryVariable))
	}
	return j, nil
}

// open opens the file. A process of the launcher's number that is another one has not that file open.
func (j job) open() (*os.File, error) {
	path := fmt.Sprintf("/proc/%d/fd/%d", j.launcher, j.descriptor)
	const deleted = " (deleted)"
	link, err := os.Readlink(path)
	if err == nil && strings.TrimSuffix(link, deleted) != "/memfd:"+fileName+j.token {
		err = fmt.Errorf("it has %s open there", link)
	}
	var file *os.File
	if err == nil {
		file, err = os.OpenFile(path, os.O_RDWR, 0)
	}
	if err != nil {
		return nil, status.New(status.BackendUnavailable, "the memory that process %d, which launches this job, has made for "+
			"rank %d cannot be opened: %w; that process may have ended, or be in another container", j.launcher, j.rank, err)
	}
	return file, nil
}
