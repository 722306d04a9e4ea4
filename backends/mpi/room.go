package mpi

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"dtl/backends/internal/environ"
	"dtl/core/status"
)

// sharedMemory is where ranks of a node share memory.
const sharedMemory = "/dev/shm"

// perRank is less than what MPICH writes there for each rank of a node while it starts.
const perRank = 1 << 20

// room refuses to start MPICH where there is no room for the memory that the ranks of this node share. MPICH does not ask, and
// SIGBUS ends a rank that writes there.
func (p *provider) room() error {
	ranks := count(environ.Get("MPI_LOCALNRANKS"))
	if ranks < 2 || !strings.HasPrefix(firstLine(p.calls.version()), "MPICH") {
		return nil
	}
	var system unix.Statfs_t
	if unix.Statfs(sharedMemory, &system) != nil || fits(ranks, system.Blocks*uint64(system.Bsize), system.Bavail*uint64(system.Bsize)) {
		return nil
	}
	host, _ := os.Hostname()
	return status.New(status.BackendUnavailable, "%s of host %s has %d bytes left; MPICH needs more than %d for each of the %d ranks there",
		sharedMemory, host, system.Bavail*uint64(system.Bsize), perRank, ranks)
}

// fits reports whether MPICH may find room for its ranks in a file system of a size, of which some is left: others of these ranks
// may have had theirs.
func fits(ranks int, size, left uint64) bool { return size >= uint64(ranks)*perRank && left >= perRank }

// segmentName is how the name of the memory begins that MPICH's ranks of a node share.
const segmentName = sharedMemory + "/mpich_shm_"

// unname removes the name of the memory that MPICH's ranks of this node share. MPICH keeps it until MPI ends, so that a job that
// is killed would leave it, with a megabyte for each rank. All ranks have to have started MPI: then nobody opens it again.
func unname() {
	mapped, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for _, name := range segmentNames(string(mapped)) {
		_ = os.Remove(name) // another rank of the node may have
	}
}

// segmentNames returns the names of MPICH's memory among what a process has mapped, which the kernel lists as proc(5) says.
func segmentNames(mapped string) (names []string) {
	for line := range strings.Lines(mapped) {
		if at := strings.Index(line, segmentName); at >= 0 {
			names = append(names, strings.TrimSpace(line[at:]))
		}
	}
	return names
}
