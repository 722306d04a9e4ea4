package topology

import (
	"slices"
	"strconv"
	"strings"

	"dtl/core/status"
)

// Choose returns the CPUs of a policy for the local-th of count ranks on a machine, out of those that it may use:
//
//	core    one core, in turn
//	numa    one NUMA domain; the ranks fill them evenly, neighbours together
//	numa:1  the domain of this number
//	share   an equal part of all cores, of neighbouring ones; at least one
//	all     all
//	0-3,8   these
func (m Machine) Choose(policy string, local, count int, allowed []int) ([]int, error) {
	if count < 1 || local < 0 || local >= count {
		return nil, status.New(status.OutOfBounds, "rank %d outside [0, %d) on this node", local, count)
	}
	domains := m.Domains(allowed)
	switch policy {
	case "all":
		return slices.Clone(allowed), nil
	case "core":
		cores := m.Cores(allowed)
		return slices.Clone(cores[local%len(cores)]), nil
	case "share":
		return share(m.Cores(allowed), local, count), nil
	case "numa":
		return domains[local*len(domains)/count].CPUs, nil
	}
	if number, isDomain := strings.CutPrefix(policy, "numa:"); isDomain {
		return domainOf(domains, number)
	}
	cpus, err := ParseList(policy)
	if err != nil {
		return nil, status.New(status.InvalidArgument, `%q is none of "core", "numa", "share", "all", and no list of CPUs`, policy)
	}
	return cpus, nil
}

// share returns a rank's equal part of cores; of fewer cores than ranks, one that several have.
func share(cores [][]int, local, count int) []int {
	n := len(cores)
	from, to := local*n/count, (local+1)*n/count
	cpus := slices.Concat(cores[from:max(to, from+1)]...)
	slices.Sort(cpus)
	return cpus
}

func domainOf(domains []Domain, number string) ([]int, error) {
	var known []string
	for _, d := range domains {
		if strconv.Itoa(d.ID) == number {
			return d.CPUs, nil
		}
		known = append(known, strconv.Itoa(d.ID))
	}
	return nil, status.New(status.OutOfBounds, "NUMA domain %s is none of those that this process may use, %s", number,
		strings.Join(known, ", "))
}
