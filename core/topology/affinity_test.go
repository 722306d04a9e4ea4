package topology_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"dtl/core/status"
	"dtl/core/topology"
)

func TestBindMovesEveryThread(t *testing.T) {
	allowed := topology.Allowed()
	require.NotEmpty(t, allowed)
	defer func() {
		got, err := topology.Bind(allowed)
		assert.NoError(t, err)
		assert.Equal(t, allowed, got)
	}()
	one := allowed[len(allowed)-1:]
	got, err := topology.Bind(one)
	require.NoError(t, err)
	assert.Equal(t, one, got)
	threads, err := os.ReadDir("/proc/self/task")
	require.NoError(t, err)
	for _, thread := range threads {
		number, err := strconv.Atoi(thread.Name())
		require.NoError(t, err)
		var set unix.CPUSet
		if unix.SchedGetaffinity(number, &set) == nil { // else it has ended
			assert.Equal(t, 1, set.Count())
			assert.True(t, set.IsSet(one[0]))
		}
	}
	assert.Equal(t, allowed, topology.Allowed(), "whatever the process is bound to")
}

func TestBindRefusals(t *testing.T) {
	allowed := topology.Allowed()
	for _, row := range []struct {
		name string
		cpus []int
		code status.Code
		text string
	}{
		{"none", nil, status.InvalidArgument, "no CPU"},
		{"behind the last", []int{allowed[0], 1_000_000}, status.OutOfBounds, "CPU 1000000 is none of those that this process may use, " + topology.FormatList(allowed)},
		{"negative", []int{-1}, status.OutOfBounds, "CPU -1"},
	} {
		_, err := topology.Bind(row.cpus)
		assert.ErrorIs(t, err, row.code, row.name)
		assert.ErrorContains(t, err, row.text, row.name)
	}
}
