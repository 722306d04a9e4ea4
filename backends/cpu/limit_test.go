package cpu

import (
	"math"
	"os"
	"testing"
)

func TestMachineMemory(t *testing.T) {
	for _, row := range []struct {
		name, text string
		want       int
	}{
		{"RAM and swap", "MemTotal:  1000 kB\nMemFree: 7 kB\nSwapTotal: 24 kB\n", 1 << 20},
		{"no swap", "MemTotal:  1024 kB\n", 1 << 20},
		{"unreadable", "", math.MaxInt},
		{"not a number", "MemTotal: lots kB\n", math.MaxInt},
	} {
		if got := machineMemory(row.text); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}

func TestGroupLimit(t *testing.T) {
	files := map[string]string{
		"/sys/fs/cgroup/job/memory.max":                          "max\n",
		"/sys/fs/cgroup/memory.max":                              "5000\n",
		"/sys/fs/cgroup/memory/slurm/7/memory.limit_in_bytes":    "9223372036854771712\n",
		"/sys/fs/cgroup/memory/slurm/memory.limit_in_bytes":      "4096\n",
		"/sys/fs/cgroup/cpu/slurm/memory.limit_in_bytes":         "1\n",
		"/sys/fs/cgroup/inner/memory.max":                        "300\n",
		"/sys/fs/cgroup/memory/colon:name/memory.limit_in_bytes": "200\n",
	}
	read := func(name string) string { return files[name] }
	for _, row := range []struct {
		name, groups string
		want         int
	}{
		{"none", "", math.MaxInt},
		{"version 2, the limit is above", "0::/job\n", 5000},
		{"version 2, own limit is less", "0::/inner\n", 300},
		{"version 1, another controller has none", "3:cpu:/slurm\n4:memory:/slurm/7\n", 4096},
		{"colon in the name", "4:memory:/colon:name\n", 200},
		{"garbage", "what\n", math.MaxInt},
	} {
		if got := groupLimit(row.groups, read); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}

func TestShareOfAGroup(t *testing.T) {
	files := map[string]string{
		"/sys/fs/cgroup/memory.max":                                   "max\n",
		"/sys/fs/cgroup/pod/memory.max":                               "4000\n",
		"/sys/fs/cgroup/pod/memory.high":                              "max\n",
		"/sys/fs/cgroup/pod/slow/memory.max":                          "max\n",
		"/sys/fs/cgroup/pod/slow/memory.high":                         "1600\n",
		"/sys/fs/cgroup/memory/slurm/job7/memory.limit_in_bytes":      "8000\n",
		"/sys/fs/cgroup/memory/slurm/job7/task/memory.limit_in_bytes": "9223372036854771712\n",
		"/sys/fs/cgroup/large/memory.max":                             "100000\n",
	}
	read := func(name string) string { return files[name] }
	for _, row := range []struct {
		name, groups string
		ranks        int
		want         int64
	}{
		{"none", "", 1, 0},
		{"version 2, of the group above", "0::/pod/other\n", 1, 3000},
		{"version 2, of the group itself, which is slowed down", "0::/pod/slow\n", 1, 1200},
		{"version 2, of two ranks", "0::/pod\n", 2, 1500},
		{"version 1, of the job of four ranks, each in a group of its own", "4:memory:/slurm/job7/task\n0::/\n", 4, 1500},
		{"more than the machine has", "0::/large\n", 1, 0},
	} {
		if got := shareOf(groupLimit(row.groups, read, slows), 50000, row.ranks); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}

func TestWhatIsLeft(t *testing.T) {
	files := map[string]string{
		"/sys/fs/cgroup/job/memory.max":     "5000\n",
		"/sys/fs/cgroup/job/memory.current": "1000\n",
		"/sys/fs/cgroup/memory.max":         "max\n",
		"/sys/fs/cgroup/memory.current":     "7000\n",
		"/sys/fs/cgroup/full/memory.max":    "10\n", "/sys/fs/cgroup/full/memory.current": "20\n",
	}
	read := lessUsed(func(name string) string { return files[name] })
	for groups, want := range map[string]int{"0::/job\n": 4000, "0::/\n": math.MaxInt, "0::/full\n": 0} {
		if got := groupLimit(groups, read); got != want {
			t.Errorf("%q: %d bytes left, want %d", groups, got, want)
		}
	}
	page := os.Getpagesize()
	for _, row := range []struct {
		limit uint64
		statm string
		want  int
	}{
		{math.MaxUint64, "10 5 3", math.MaxInt},
		{uint64(25 * page), "10 5 3", 15 * page},
		{uint64(5 * page), "10 5 3", 0},
		{uint64(5 * page), "", math.MaxInt},
	} {
		if got := addressSpace(row.limit, row.statm); got != row.want {
			t.Errorf("limit %d, %q: %d bytes left, want %d", row.limit, row.statm, got, row.want)
		}
	}
}
