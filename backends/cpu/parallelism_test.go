package cpu

import (
	"math"
	"testing"
)

func TestOwnProcessors(t *testing.T) {
	for _, row := range []struct {
		name                             string
		allowed, all, quota, ranks, want int
	}{
		{"alone", 8, 8, math.MaxInt, 1, 8},
		{"bound", 3, 8, math.MaxInt, 4, 3},
		{"divided", 8, 8, math.MaxInt, 4, 2},
		{"more ranks than processors", 8, 8, math.MaxInt, 20, 0},
		{"nobody knows how many there are", 8, 0, math.MaxInt, 1, 8},
		{"alone with a quota", 64, 64, 3, 1, 3},
		{"a quota of more than there are", 8, 8, 100, 2, 4},
		{"a quota divided", 64, 64, 8, 3, 2},
		{"a quota of less than one each", 64, 64, 2, 4, 0},
		{"bound, with a quota for all", 16, 64, 8, 4, 2},
		{"bound to less than the quota", 1, 64, 8, 4, 1},
	} {
		if got := own(row.allowed, row.all, row.quota, row.ranks); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}

func TestRanksHere(t *testing.T) {
	for _, row := range []struct {
		name, text string
		want       int
	}{
		{"OMPI_COMM_WORLD_LOCAL_SIZE", "4", 4},
		{"MPI_LOCALNRANKS", "1000", 1000},
		{"PMIX_LOCAL_SIZE", "many", 1},
		{"DTL_LOCAL_SIZE", "0", 1},
		{"SOMETHING", "7", 1},
	} {
		variable := func(name string) string { return map[string]string{row.name: row.text}[name] }
		if got := ranksHere(variable); got != row.want {
			t.Errorf("%s=%s: %d, want %d", row.name, row.text, got, row.want)
		}
	}
}

func TestQuota(t *testing.T) {
	files := map[string]string{
		"/sys/fs/cgroup/pod/cpu.max":                 "max 100000\n",
		"/sys/fs/cgroup/pod/one/cpu.max":             "150000 100000\n",
		"/sys/fs/cgroup/pod/many/cpu.max":            "800000 100000\n",
		"/sys/fs/cgroup/slice/cpu.max":               "400000 100000\n",
		"/sys/fs/cgroup/slice/more/cpu.max":          "900000 100000\n",
		"/sys/fs/cgroup/slice/more/less/cpu.max":     "25000 50000\n",
		"/sys/fs/cgroup/odd/cpu.max":                 "0 100000\n",
		"/sys/fs/cgroup/odder/cpu.max":               "100000 0\n",
		"/sys/fs/cgroup/oddest/cpu.max":              "100000\n",
		"/sys/fs/cgroup/cpu/docker/cpu.cfs_quota_us": "-1\n", "/sys/fs/cgroup/cpu/docker/cpu.cfs_period_us": "100000\n",
		"/sys/fs/cgroup/cpu/docker/7/cpu.cfs_quota_us": "250000\n", "/sys/fs/cgroup/cpu/docker/7/cpu.cfs_period_us": "100000\n",
		"/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "700000\n", "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
	}
	read := func(name string) string { return files[name] }
	for _, row := range []struct {
		name, groups string
		want         int
	}{
		{"no control groups", "", math.MaxInt},
		{"version 2, no limit", "0::/pod\n", math.MaxInt},
		{"version 2, rounded up", "0::/pod/one\n", 2},
		{"version 2, exact", "0::/pod/many\n", 8},
		{"version 2, the limit is above", "0::/slice/more\n", 4},
		{"version 2, less than one", "0::/slice/more/less\n", 1},
		{"version 2, nothing", "0::/odd\n", math.MaxInt},
		{"version 2, no period", "0::/odder\n", math.MaxInt},
		{"version 2, half of it", "0::/oddest\n", math.MaxInt},
		{"version 1", "4:cpu,cpuacct:/docker/7\n3:memory:/pod/one\n", 3},
		{"version 1, the limit is above", "4:cpuacct,cpu:/docker\n", 7},
		{"version 1, the path is another outside of the container", "4:cpu:/docker/elsewhere\n", 7},
		{"version 1, another controller", "4:cpuset:/docker/7\n", math.MaxInt},
		{"both", "4:cpu:/docker/7\n0::/pod/one\n", 2},
		{"garbage", "what\n", math.MaxInt},
	} {
		if got := quota(row.groups, read); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}

func TestOnline(t *testing.T) {
	for list, want := range map[string]int{"0-3\n": 4, "0": 1, "0-3,8,10-11\n": 7, "": 0, "all": 0} {
		if got := online(list); got != want {
			t.Errorf("%q: %d, want %d", list, got, want)
		}
	}
}
