package cpu

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// localSize are the variables in which launchers say how many ranks there are on this machine.
var localSize = []string{"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE", "PMIX_LOCAL_SIZE", "DTL_LOCAL_SIZE"}

// SuggestedParallelism returns how many processors are this process's own: those that it is bound to, or, where it is
// bound to none, the machine's divided among the ranks on it.
func (p *Pool) SuggestedParallelism() int {
	most := p.MaxParallelism()
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return most
	}
	return max(1, min(most, own(set.Count(), online(readFile("/sys/devices/system/cpu/online")), os.Getenv)))
}

// own returns how many processors are this process's own, of those that it may run on, and of all.
func own(allowed, all int, variable func(string) string) int {
	if allowed < all {
		return allowed // somebody bound it
	}
	for _, name := range localSize {
		if text := variable(name); text != "" {
			if ranks, err := strconv.Atoi(text); err == nil && ranks > 0 {
				return allowed / ranks
			}
			return allowed
		}
	}
	return allowed
}

// online returns how many processors a list such as "0-3,8" names; 0 if it is none.
func online(list string) (n int) {
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		first, last, isRange := strings.Cut(part, "-")
		lo, err := strconv.Atoi(first)
		hi := lo
		if isRange && err == nil {
			hi, err = strconv.Atoi(last)
		}
		if err != nil {
			return 0
		}
		n += hi - lo + 1
	}
	return n
}
