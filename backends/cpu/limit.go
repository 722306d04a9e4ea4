package cpu

import (
	"iter"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// limit returns how much memory this process can ever commit: what the machine has, or less where a control
// group says so. Asking for more must fail, because the system would grant it, and kill the process later.
var limit = sync.OnceValue(func() int {
	return min(machineMemory(readFile("/proc/meminfo")), groupLimit(readFile("/proc/self/cgroup"), readFile))
})

// readFile returns a file's text, or none if it cannot be read.
func readFile(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(text)
}

// AvailableMemory returns how much this process could still commit now: what the machine has left, or less where a
// control group or the limit of its address space says so.
func (h *Host) AvailableMemory() int64 {
	meminfo, groups := readFile("/proc/meminfo"), readFile("/proc/self/cgroup")
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) != nil {
		limit.Cur = unix.RLIM_INFINITY
	}
	left := min(sum(meminfo, "MemAvailable:", "SwapFree:"), groupLimit(groups, lessUsed(readFile)),
		addressSpace(limit.Cur, readFile("/proc/self/statm")))
	if left == math.MaxInt {
		return 0
	}
	return int64(max(left, 1)) // 0 is that nobody knows
}

// slows is the file of the limit above which the system slows a process down until it hardly runs.
const slows = "memory.high"

// share returns how many bytes of this process are to be resident at most, as its control group says: of several ranks here, a part of
// that. A quarter is left to what is counted there, too, and is not resident in the ranks: the launcher, memory that MPI shares, pages of
// files. It is 0 if there is no limit.
var share = sync.OnceValue(func() int64 {
	all := machineMemory(readFile("/proc/meminfo"))
	return shareOf(groupLimit(readFile("/proc/self/cgroup"), readFile, slows), all, ranksHere(os.Getenv))
})

func shareOf(limit, all, ranks int) int64 {
	if limit >= all {
		return 0
	}
	return int64(limit / 4 * 3 / ranks)
}

// lessUsed returns a read of what is left of the limits of control groups, in place of the limits.
func lessUsed(read func(string) string) func(string) string {
	used := strings.NewReplacer("memory.max", "memory.current", "memory.limit_in_bytes", "memory.usage_in_bytes")
	return func(name string) string {
		limit, none := strconv.Atoi(strings.TrimSpace(read(name)))
		now, err := strconv.Atoi(strings.TrimSpace(read(used.Replace(name))))
		if none != nil || err != nil {
			return ""
		}
		return strconv.Itoa(max(limit-now, 0))
	}
}

// addressSpace returns how many bytes more a process can map that has mapped as many pages as the text begins with.
func addressSpace(limit uint64, statm string) int {
	first, _, _ := strings.Cut(statm, " ")
	pages, err := strconv.Atoi(first)
	if err != nil || limit > math.MaxInt {
		return math.MaxInt
	}
	return max(int(limit)-pages*os.Getpagesize(), 0)
}

// machineMemory returns RAM and swap in bytes, or MaxInt if the text does not say.
func machineMemory(meminfo string) int { return sum(meminfo, "MemTotal:", "SwapTotal:") }

// sum adds up two lines of /proc/meminfo, in bytes. It is MaxInt if the text has neither.
func sum(meminfo, first, second string) int {
	total := 0
	for line := range strings.Lines(meminfo) {
		f := strings.Fields(line)
		if len(f) >= 2 && (f[0] == first || f[0] == second) {
			kib, err := strconv.Atoi(f[1])
			if err != nil {
				return math.MaxInt
			}
			total += kib << 10
		}
	}
	if total == 0 {
		return math.MaxInt
	}
	return total
}

// groupLimit returns the least limit of this process's control group and those above it, or MaxInt. Version 2 may have more files of limits.
func groupLimit(groups string, read func(string) string, more ...string) int {
	least := math.MaxInt
	for folder, version := range controlGroups(groups, "memory") {
		files := []string{"memory.limit_in_bytes"}
		if version == 2 {
			files = append(more, "memory.max")
		}
		for _, file := range files {
			if n, err := strconv.Atoi(strings.TrimSpace(read(path.Join(folder, file)))); err == nil {
				least = min(least, n)
			}
		}
	}
	return least
}

// controlGroups yields the folders of the control groups that a controller has this process in, from its own group up,
// each with the version of control groups that it is of. In a container, some of the folders do not exist.
func controlGroups(groups, controller string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for line := range strings.Lines(groups) {
			f := strings.SplitN(strings.TrimSpace(line), ":", 3) // id:controllers:path
			if len(f) != 3 {
				continue
			}
			root, version := path.Join("/sys/fs/cgroup", controller), 1
			if f[1] == "" {
				root, version = "/sys/fs/cgroup", 2
			} else if !slices.Contains(strings.Split(f[1], ","), controller) {
				continue
			}
			for at := path.Clean("/" + f[2]); ; at = path.Dir(at) {
				if !yield(path.Join(root, at), version) {
					return
				}
				if at == "/" {
					break
				}
			}
		}
	}
}
