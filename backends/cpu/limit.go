package cpu

import (
	"math"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
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

// machineMemory returns RAM and swap in bytes, or MaxInt if the text does not say.
func machineMemory(meminfo string) int {
	total := 0
	for line := range strings.Lines(meminfo) {
		f := strings.Fields(line)
		if len(f) >= 2 && (f[0] == "MemTotal:" || f[0] == "SwapTotal:") {
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

// groupLimit returns the least limit of this process's control group and those above it, or MaxInt.
func groupLimit(groups string, read func(string) string) int {
	least := math.MaxInt
	for line := range strings.Lines(groups) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3) // id:controllers:path
		if len(f) != 3 {
			continue
		}
		root, file := "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		if f[1] == "" {
			root, file = "/sys/fs/cgroup", "memory.max"
		} else if f[1] != "memory" {
			continue
		}
		for at := path.Clean("/" + f[2]); ; at = path.Dir(at) {
			if n, err := strconv.Atoi(strings.TrimSpace(read(path.Join(root, at, file)))); err == nil {
				least = min(least, n)
			}
			if at == "/" {
				break
			}
		}
	}
	return least
}
