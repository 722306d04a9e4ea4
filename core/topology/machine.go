package topology

import (
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Domain is a NUMA domain: memory, and the CPUs that are near to it.
type Domain struct {
	ID   int
	CPUs []int
}

// Machine is the tree of files in which the kernel describes the machine: the root folder, or one made up.
type Machine struct{ fs.FS }

// Kernel returns the machine that this process runs on.
func Kernel() Machine { return Machine{os.DirFS("/")} }

// text returns what a file holds, without the space around it; "" where it cannot be read.
func (m Machine) text(name string) string {
	text, err := fs.ReadFile(m, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// Online returns the CPUs that the kernel uses.
func (m Machine) Online() []int {
	cpus, err := ParseList(m.text("sys/devices/system/cpu/online"))
	if err != nil || len(cpus) == 0 {
		cpus = nil
		for cpu := range runtime.NumCPU() {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

// Boot returns what tells one running kernel from all others; "" where it does not say.
func (m Machine) Boot() string { return m.text("proc/sys/kernel/random/boot_id") }

// Domains returns the NUMA domains that hold some of the allowed CPUs, with these CPUs alone. Where the kernel names none,
// everything is one domain.
func (m Machine) Domains(allowed []int) (domains []Domain) {
	const folder = "sys/devices/system/node"
	entries, _ := fs.ReadDir(m, folder)
	for _, entry := range entries {
		number, isNode := strings.CutPrefix(entry.Name(), "node")
		id, err := strconv.Atoi(number)
		if !isNode || err != nil {
			continue
		}
		cpus, err := ParseList(m.text(path.Join(folder, entry.Name(), "cpulist")))
		if cpus = both(cpus, allowed); err == nil && len(cpus) > 0 {
			domains = append(domains, Domain{ID: id, CPUs: cpus})
		}
	}
	slices.SortFunc(domains, func(a, b Domain) int { return a.ID - b.ID })
	if len(domains) == 0 {
		return []Domain{{CPUs: slices.Clone(allowed)}}
	}
	return domains
}

// Cores returns the allowed CPUs core by core, the hardware threads of one together: in the order of the domains, and in
// each by the cores' first CPU.
func (m Machine) Cores(allowed []int) (cores [][]int) {
	for _, domain := range m.Domains(allowed) {
		left := domain.CPUs
		for len(left) > 0 {
			name := path.Join("sys/devices/system/cpu/cpu"+strconv.Itoa(left[0]), "topology/thread_siblings_list")
			core, err := ParseList(m.text(name))
			if core = both(core, left); err != nil || !slices.Contains(core, left[0]) {
				core = left[:1:1]
			}
			cores = append(cores, core)
			left = slices.DeleteFunc(slices.Clone(left), func(cpu int) bool { return slices.Contains(core, cpu) })
		}
	}
	return cores
}

// GPUs returns how many GPUs the machine lists that the environment lets programs see. Nothing is started for it, as
// asking a driver would.
func (m Machine) GPUs(environment func(string) string) int {
	nvidia, _ := fs.ReadDir(m, "proc/driver/nvidia/gpus")
	const folder = "sys/class/kfd/kfd/topology/nodes"
	nodes, _ := fs.ReadDir(m, folder)
	amd := 0
	for _, node := range nodes {
		if id := m.text(path.Join(folder, node.Name(), "gpu_id")); id != "" && id != "0" {
			amd++
		}
	}
	return visible(len(nvidia), environment("CUDA_VISIBLE_DEVICES")) +
		visible(amd, environment("ROCR_VISIBLE_DEVICES"), environment("HIP_VISIBLE_DEVICES"))
}

// visible returns how many of n devices lists such as "0,2" leave; an empty one leaves all.
func visible(n int, lists ...string) int {
	for _, list := range lists {
		if list == "" {
			continue
		}
		named := 0
		for name := range strings.SplitSeq(list, ",") {
			if number, err := strconv.Atoi(strings.TrimSpace(name)); err == nil && (number < 0 || number >= n) {
				break // as the drivers do: what follows a device that is not there is not seen either
			}
			named++
		}
		n = min(n, named)
	}
	return n
}

// both returns the numbers that two ascending lists share.
func both(a, b []int) (shared []int) {
	for _, n := range a {
		if _, found := slices.BinarySearch(b, n); found {
			shared = append(shared, n)
		}
	}
	return shared
}
