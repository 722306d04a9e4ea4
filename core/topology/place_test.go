package topology_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/status"
	"dtl/core/topology"
)

// place is one on a made-up host, bound to some of eight CPUs.
func place(host string, gpus, device int, cpus ...int) topology.Place {
	return topology.Place{Host: host, Boot: "of " + host, CPUs: cpus, Allowed: []int{0, 1, 2, 3, 4, 5, 6, 7}, GPUs: gpus, Device: device,
		Domains: []topology.Domain{{ID: 0, CPUs: []int{0, 1, 2, 3}}, {ID: 2, CPUs: []int{4, 5, 6, 7}}}}
}

func TestPlacesTravelAsLines(t *testing.T) {
	for _, p := range []topology.Place{
		place("a", 2, 1, 0, 1, 7),
		place("b", 0, topology.NoDevice),
		{Host: "", Boot: "", CPUs: []int{}, Allowed: []int{}},
		topology.Here(topology.NoDevice),
	} {
		if p.CPUs == nil {
			p.CPUs = []int{}
		}
		got, err := topology.Parse(p.String())
		assert.NoError(t, err)
		assert.Equal(t, p, got)
	}
	odd := place("a\tb\nc"+strings.Repeat("x", 1000), 0, 0)
	got, err := topology.Parse(odd.String())
	assert.NoError(t, err)
	assert.Equal(t, "a?b?c"+strings.Repeat("x", 250), got.Host)
	for _, line := range []string{"", "a\tb", "a\tb\tx\t0\t\t0\t0", "a\tb\t0\t0\t0;1\t0\tx", "a\tb\t0\t0\tx:0\t0\t0", "a\tb\t0\t0\t0:x\t0\t0"} {
		_, err := topology.Parse(line)
		assert.ErrorIs(t, err, status.Internal, "%q", line)
	}
}

func TestNodes(t *testing.T) {
	twin := place("a", 0, topology.NoDevice)
	twin.Boot = "another kernel"
	places := []topology.Place{place("b", 0, -1), place("a", 0, -1), place("b", 0, -1), twin, place("a", 0, -1)}
	nodes := topology.Nodes(places)
	assert.Equal(t, []int{0, 1, 0, 2, 1}, nodes)
	assert.Equal(t, []int{0, 0, 1, 0, 1}, topology.Locals(nodes))
}

func TestTable(t *testing.T) {
	all := []int{0, 1, 2, 3, 4, 5, 6, 7}
	places := []topology.Place{place("b", 2, -1, 4), place("a", 0, -1, all...), place("b", 2, -1, 2, 3), place("b", 2, -1, 5), place("a", 4, 3, all...)}
	const tail = "\t0:0,1,2,3;2:4,5,6,7\n"
	const every = "0,1,2,3,4,5,6,7"
	assert.Equal(t, ""+
		"0\tb\t4\t4\t"+every+"\t4\t2\t0"+tail+
		"1\ta\t0-7\t"+every+"\t"+every+"\t-1\t0\t-1"+tail+
		"0\tb\t2-3\t2,3\t"+every+"\t2\t2\t1"+tail+
		"0\tb\t5\t5\t"+every+"\t5\t2\t0"+tail+
		"1\ta\t0-7\t"+every+"\t"+every+"\t-1\t4\t3"+tail, topology.Table(places))
}
