package pydtl

import (
	"dtl/core/runtime"
	"dtl/core/topology"
)

// ContextTopology describes where the ranks of a context were when it was made, or last found it out, as topology.Table
// does. Local.
func ContextTopology(ctx int64) (table string, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (string, error) { return topology.Table(c.Places()), nil })
}

// ContextFindTopology describes where the ranks of a context are now, as topology.Table does. Collective.
func ContextFindTopology(ctx int64) (table string, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (string, error) {
		places, err := c.FindPlaces()
		if err != nil {
			return "", err
		}
		return topology.Table(places), nil
	})
}

// TopologyOfWorld describes where the ranks of the world are, as they told each other when they first opened it; of a
// process alone, or without a world, this process.
func TopologyOfWorld() (table string, err error) {
	defer guard(&err)
	return topology.Table(runtime.WorldPlaces()), nil
}

// TopologyProcessors returns how many CPUs of its machine this process may use, whatever it is bound to now.
func TopologyProcessors() (n int64, err error) {
	defer guard(&err)
	return int64(len(topology.Allowed())), nil
}

// TopologyDevices returns how many GPUs this process sees. The first call starts their drivers.
func TopologyDevices() (n int64, err error) {
	defer guard(&err)
	return int64(runtime.DeviceCount()), nil
}

// TopologyBind has every thread of this process, the local-th of count ranks on its machine, run on the CPUs that a
// policy of topology.Choose names, and returns them with commas in between.
func TopologyBind(policy string, local, count int64) (cpus string, err error) {
	defer guard(&err)
	chosen, err := topology.Kernel().Choose(policy, int(local), int(count), topology.Allowed())
	if err != nil {
		return "", err
	}
	bound, err := topology.Bind(chosen)
	return topology.Each(bound), err
}
