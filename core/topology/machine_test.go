package topology_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dtl/core/status"
	"dtl/core/topology"
)

func TestLists(t *testing.T) {
	for _, row := range []struct {
		text string
		want []int
		same string // written again
	}{
		{"", []int{}, ""},
		{"\n", []int{}, ""},
		{"0", []int{0}, "0"},
		{"0-3,8\n", []int{0, 1, 2, 3, 8}, "0-3,8"},
		{"8,0-1,1", []int{0, 1, 8}, "0-1,8"},
		{"5-5", []int{5}, "5"},
	} {
		got, err := topology.ParseList(row.text)
		assert.NoError(t, err, row.text)
		assert.Equal(t, row.want, got, row.text)
		assert.Equal(t, row.same, topology.FormatList(got), row.text)
	}
	for _, bad := range []string{"x", "1-", "-1", "3-1", ",", "1,,2", "0-9999999999", "0x1", "1 2"} {
		_, err := topology.ParseList(bad)
		assert.ErrorIs(t, err, status.InvalidArgument, bad)
	}
}

// machine writes a tree of files, and returns it.
func machine(t *testing.T, files map[string]string) topology.Machine {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return topology.Machine{FS: os.DirFS(root)}
}

// twoSockets has two domains of two cores of two threads each, and one of memory alone.
func twoSockets(t *testing.T) topology.Machine {
	files := map[string]string{
		"sys/devices/system/cpu/online":          "0-7\n",
		"sys/devices/system/node/node0/cpulist":  "0-1,4-5\n",
		"sys/devices/system/node/node1/cpulist":  "2-3,6-7\n",
		"sys/devices/system/node/node10/cpulist": "\n",
		"sys/devices/system/node/online":         "0-1,10\n",
		"proc/sys/kernel/random/boot_id":         "b00t\n",
	}
	for cpu, list := range []string{"0,4", "1,5", "2,6", "3,7", "0,4", "1,5", "2,6", "3,7"} {
		files["sys/devices/system/cpu/cpu"+string(rune('0'+cpu))+"/topology/thread_siblings_list"] = list + "\n"
	}
	return machine(t, files)
}

func TestMachine(t *testing.T) {
	m := twoSockets(t)
	all := []int{0, 1, 2, 3, 4, 5, 6, 7}
	assert.Equal(t, all, m.Online())
	assert.Equal(t, "b00t", m.Boot())
	assert.Equal(t, []topology.Domain{{ID: 0, CPUs: []int{0, 1, 4, 5}}, {ID: 1, CPUs: []int{2, 3, 6, 7}}}, m.Domains(all))
	assert.Equal(t, [][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}, m.Cores(all))
	some := []int{1, 3, 6} // as a control group leaves
	assert.Equal(t, []topology.Domain{{ID: 0, CPUs: []int{1}}, {ID: 1, CPUs: []int{3, 6}}}, m.Domains(some))
	assert.Equal(t, [][]int{{1}, {3}, {6}}, m.Cores(some))
}

func TestMachineThatSaysNothing(t *testing.T) {
	m := machine(t, nil)
	assert.NotEmpty(t, m.Online())
	assert.Empty(t, m.Boot())
	assert.Equal(t, []topology.Domain{{CPUs: []int{4, 9}}}, m.Domains([]int{4, 9}))
	assert.Equal(t, [][]int{{4}, {9}}, m.Cores([]int{4, 9}))
	odd := machine(t, map[string]string{
		"sys/devices/system/cpu/online":                             "none",
		"sys/devices/system/node/node0/cpulist":                     "all of them",
		"sys/devices/system/node/nodes/cpulist":                     "0",
		"sys/devices/system/cpu/cpu4/topology/thread_siblings_list": "9",
	})
	assert.NotEmpty(t, odd.Online())
	assert.Equal(t, []topology.Domain{{CPUs: []int{4, 9}}}, odd.Domains([]int{4, 9}))
	assert.Equal(t, [][]int{{4}, {9}}, odd.Cores([]int{4, 9}), "a list of siblings without the CPU itself")
}

func TestGPUsThatAMachineLists(t *testing.T) {
	files := map[string]string{
		"proc/driver/nvidia/gpus/0000:01:00.0/information": "",
		"proc/driver/nvidia/gpus/0000:02:00.0/information": "",
		"proc/driver/nvidia/gpus/0000:03:00.0/information": "",
		"sys/class/kfd/kfd/topology/nodes/0/gpu_id":        "0\n", // a CPU
		"sys/class/kfd/kfd/topology/nodes/1/gpu_id":        "4711\n",
	}
	m := machine(t, files)
	for _, row := range []struct {
		name        string
		environment map[string]string
		want        int
	}{
		{"all", nil, 4},
		{"two of three", map[string]string{"CUDA_VISIBLE_DEVICES": "2,0"}, 3},
		{"by name", map[string]string{"CUDA_VISIBLE_DEVICES": "GPU-1234"}, 2},
		{"what follows one that is not there", map[string]string{"CUDA_VISIBLE_DEVICES": "1,7,0"}, 2},
		{"none", map[string]string{"CUDA_VISIBLE_DEVICES": "-1", "HIP_VISIBLE_DEVICES": "-1"}, 0},
	} {
		assert.Equal(t, row.want, m.GPUs(func(name string) string { return row.environment[name] }), row.name)
	}
	assert.Zero(t, machine(t, nil).GPUs(os.Getenv))
}

func TestChoose(t *testing.T) {
	m := twoSockets(t)
	all := []int{0, 1, 2, 3, 4, 5, 6, 7}
	for _, row := range []struct {
		policy  string
		count   int
		allowed []int
		want    [][]int // by local rank
	}{
		{"core", 2, all, [][]int{{0, 4}, {1, 5}}},
		{"core", 5, all, [][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}, {0, 4}}},
		{"numa", 1, all, [][]int{{0, 1, 4, 5}}},
		{"numa", 3, all, [][]int{{0, 1, 4, 5}, {0, 1, 4, 5}, {2, 3, 6, 7}}},
		{"numa:1", 2, all, [][]int{{2, 3, 6, 7}, {2, 3, 6, 7}}},
		{"numa:1", 1, []int{0, 6}, [][]int{{6}}},
		{"share", 1, all, [][]int{all}},
		{"share", 2, all, [][]int{{0, 1, 4, 5}, {2, 3, 6, 7}}},
		{"share", 3, all, [][]int{{0, 4}, {1, 5}, {2, 3, 6, 7}}},
		{"share", 3, []int{2, 3}, [][]int{{2}, {2}, {3}}},
		{"all", 2, []int{1, 3}, [][]int{{1, 3}, {1, 3}}},
		{"0-1,6", 2, all, [][]int{{0, 1, 6}, {0, 1, 6}}},
	} {
		for local, want := range row.want {
			got, err := m.Choose(row.policy, local, row.count, row.allowed)
			assert.NoError(t, err)
			assert.Equal(t, want, got, "%s, %d of %d", row.policy, local, row.count)
		}
	}
	_, err := m.Choose("numa:2", 0, 1, all)
	assert.ErrorIs(t, err, status.OutOfBounds)
	assert.ErrorContains(t, err, "NUMA domain 2 is none of those that this process may use, 0, 1")
	_, err = m.Choose("socket", 0, 1, all)
	assert.ErrorIs(t, err, status.InvalidArgument)
	_, err = m.Choose("core", 2, 2, all)
	assert.ErrorIs(t, err, status.OutOfBounds)
}
