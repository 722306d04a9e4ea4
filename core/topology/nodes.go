package topology

import (
	"fmt"
	"strconv"
	"strings"
)

// Nodes numbers the machines of ranks, in the order of their first ranks: the same number for those of one host name and
// one running kernel.
func Nodes(places []Place) []int {
	nodes, numbers := make([]int, len(places)), map[[2]string]int{}
	for rank, p := range places {
		machine := [2]string{p.Host, p.Boot}
		node, known := numbers[machine]
		if !known {
			node = len(numbers)
			numbers[machine] = node
		}
		nodes[rank] = node
	}
	return nodes
}

// Locals returns each rank's number among those of its node.
func Locals(nodes []int) []int {
	locals, count := make([]int, len(nodes)), map[int]int{}
	for rank, node := range nodes {
		locals[rank] = count[node]
		count[node]++
	}
	return locals
}

// GPU returns the number of a rank's GPU: its own, or else one of those that it sees, which the ranks of a node take in
// turn; NoDevice where it sees none.
func (p Place) GPU(local int) int {
	if p.Device >= 0 {
		return p.Device
	}
	if p.GPUs == 0 {
		return NoDevice
	}
	return local % p.GPUs
}

// CPU returns the first CPU that a rank is bound to; -1 where it may run on all that there are for it.
func (p Place) CPU() int {
	if len(p.CPUs) == 0 || len(p.CPUs) == len(p.Allowed) {
		return -1
	}
	return p.CPUs[0]
}

// Table describes all ranks, a line each: node, host, CPUs as a list and one by one, the CPUs that it could have, its CPU,
// the GPUs that it sees, its GPU, and the domains of its machine, each an ID and CPUs. Fields have tabulators in between, CPUs commas, an ID
// and its CPUs a colon, domains semicolons.
func Table(places []Place) string {
	nodes := Nodes(places)
	locals := Locals(nodes)
	var text strings.Builder
	for rank, p := range places {
		var domains []string
		for _, d := range p.Domains {
			domains = append(domains, fmt.Sprint(d.ID, ":", Each(d.CPUs)))
		}
		fmt.Fprintf(&text, "%d\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%s\n", nodes[rank], p.Host, FormatList(p.CPUs), Each(p.CPUs),
			Each(p.Allowed), p.CPU(), p.GPUs, p.GPU(locals[rank]), strings.Join(domains, ";"))
	}
	return text.String()
}

// Each writes every number out: "0,1,2,3".
func Each(numbers []int) string {
	parts := make([]string, len(numbers))
	for i, n := range numbers {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, ",")
}
