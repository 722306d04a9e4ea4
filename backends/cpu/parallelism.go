package cpu

import (
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// localSize are the variables in which launchers say how many ranks there are on this machine.
var localSize = []string{"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE", "PMIX_LOCAL_SIZE", "DTL_LOCAL_SIZE"}

// SuggestedParallelism returns how many processors are this process's own: those that it is bound to, or, where it is
// bound to none, the machine's divided among the ranks on it. The time that a control group grants is divided, too.
func (p *Pool) SuggestedParallelism() int {
	most := p.MaxParallelism()
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return most
	}
	all, quota := online(readFile("/sys/devices/system/cpu/online")), quota(readFile("/proc/self/cgroup"), readFile)
	return max(1, min(most, own(set.Count(), all, quota, ranksHere(os.Getenv))))
}

// own returns how many processors are this process's own, of those that it may run on, of all, and of those for whose
// time all ranks on this machine have a quota.
func own(allowed, all, quota, ranks int) int {
	if allowed < all { // somebody bound it
		return min(allowed, quota/ranks)
	}
	return min(allowed, quota) / ranks
}

// ranksHere returns how many ranks there are on this machine, 1 if nobody says so.
func ranksHere(variable func(string) string) int {
	for _, name := range localSize {
		if text := variable(name); text != "" {
			if ranks, err := strconv.Atoi(text); err == nil && ranks > 0 {
				return ranks
			}
			return 1
		}
	}
	return 1
}

// quota returns for how many processors' time the control group of this process has a quota, or those above it: the
// least of them, rounded up, or MaxInt if there is none.
func quota(groups string, read func(string) string) int {
	least := math.MaxInt
	for folder, version := range controlGroups(groups, "cpu") {
		text := read(path.Join(folder, "cpu.cfs_quota_us")) + " " + read(path.Join(folder, "cpu.cfs_period_us"))
		if version == 2 {
			text = read(path.Join(folder, "cpu.max"))
		}
		f := strings.Fields(text)
		if len(f) != 2 {
			continue
		}
		granted, none := strconv.Atoi(f[0]) // "max" or -1 if there is no limit
		period, err := strconv.Atoi(f[1])
		if none == nil && err == nil && granted > 0 && period > 0 {
			least = min(least, (granted-1)/period+1)
		}
	}
	return least
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
