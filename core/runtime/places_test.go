package runtime_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/comm"
	"dtl/core/runtime"
	"dtl/core/status"
	"dtl/core/topology"
)

// TestGatherOnMadeUpHosts has ranks say that they are on different machines, in lines of different lengths.
func TestGatherOnMadeUpHosts(t *testing.T) {
	for n := 1; n <= 5; n++ {
		backendtest.OnRanks(t, cpu.Group(n), func(main backend.ReducingCommunicator, mem backend.MemorySpace) {
			c, err := comm.New(main, mem)
			if !assert.NoError(t, err) {
				return
			}
			made := func(rank int) topology.Place {
				return topology.Place{Host: fmt.Sprint("host-", 10*(rank%2)), CPUs: []int{rank}, Allowed: []int{0, 1, 2, 3, 4, 9 + rank},
					Domains: []topology.Domain{{ID: rank, CPUs: []int{0, 1}}}, GPUs: rank, Device: rank - 1}
			}
			places, err := runtime.Gather(c, made(c.Rank()))
			assert.NoError(t, err)
			assert.Len(t, places, n)
			for rank, p := range places {
				assert.Equal(t, made(rank), p)
			}
			for rank, node := range topology.Nodes(places) {
				assert.Equal(t, rank%2, node)
			}
			assert.NoError(t, c.Close())
		})
	}
}

func TestPlaces(t *testing.T) {
	onRanks(t, 3, func(c *runtime.Context) {
		places, err := c.FindPlaces()
		assert.NoError(t, err)
		assert.Equal(t, []int{0, 0, 0}, topology.Nodes(places), "goroutines of one process")
		assert.NotEmpty(t, places[0].Domains)
		assert.NoError(t, c.Close())
		_, err = c.FindPlaces()
		assert.ErrorIs(t, err, status.InvalidHandle)
	})
	assert.Len(t, runtime.WorldPlaces(), 1, "no world was opened")
}

func TestPlacesWhereARankCallsSomethingElse(t *testing.T) {
	onRanks(t, 2, func(c *runtime.Context) {
		var err error
		if c.Rank() == 0 {
			_, err = c.FindPlaces()
		} else {
			on, _ := c.Comm()
			err = on.Barrier()
		}
		assert.ErrorIs(t, err, status.Mismatch)
		assert.ErrorContains(t, err, "topology")
		assert.NoError(t, c.Close())
	})
}
